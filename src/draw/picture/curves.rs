//! A picture of the totals alone.

use super::timeline::{inside_axes, mark_legend, marks};
use super::{Entry, Mark, Page, Sheet};
use crate::draw::software::Pixels;
use crate::draw::{Canvas, Palette, Totals, View};
use crate::model::{Moment, Timeline};
use egui::epaint::Mesh;
use egui::{Color32, Rect, Shape, Stroke, pos2};

/// How much of its colour the area below the active total has.
const AREA_OPACITY: f32 = 0.14;

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub struct CurvesPicture<'a> {
    /// Of which device.
    pub timeline: &'a Timeline,
    /// Which part of it.
    pub view: View,
    /// Bytes that the device can reserve at most, where that is known.
    pub capacity: Option<i64>,
    /// Where the cursor is, if one is shown.
    pub cursor: Option<Moment>,
}

/// What the lines mean.
pub fn curves_legend(timeline: &Timeline, view: &View, palette: &Palette) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new(Mark::Line, palette.reserved, "reserved"),
        Entry::new(Mark::Line, palette.accent, "active"),
        Entry::new(Mark::Line, palette.allocated, "allocated"),
    ];
    entries.extend(mark_legend(timeline, view, palette));
    entries
}

impl CurvesPicture<'_> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &Sheet<'_>, page: &Page) -> Pixels {
        let (timeline, view, palette) = (self.timeline, &self.view, sheet.palette);
        page.paint(sheet, |ui, rect| {
            let rect = inside_axes(rect, sheet);
            let canvas = Canvas { painter: ui.painter(), rect, view, timeline, palette };
            let columns = (rect.width() * sheet.scale).round().max(1.0) as usize;
            let totals = Totals::of_view(timeline, view, columns);
            canvas.grid();
            area(&canvas, &totals.active);
            let line = |color, width| Stroke::new(width, Color32::from(color));
            canvas.steps(view, &totals.reserved, line(palette.reserved, 1.5));
            // Mostly the same as the active line, which then hides it.
            canvas.steps(view, &totals.allocated, line(palette.allocated, 1.0));
            canvas.steps(view, &totals.active, line(palette.accent, 1.5));
            marks(&canvas, self.capacity, self.cursor);
        })
    }
}

fn area(canvas: &Canvas<'_>, values: &[i64]) {
    let (rect, columns) = (canvas.rect, values.len().max(1) as f32);
    let color = Color32::from(canvas.palette.accent).gamma_multiply(AREA_OPACITY);
    let x = |column: usize| rect.left() + rect.width() * column as f32 / columns;
    let mut mesh = Mesh::default();
    for (column, &value) in values.iter().enumerate() {
        let top = canvas.y(value as f64).clamp(rect.top(), rect.bottom());
        let bar = Rect::from_min_max(pos2(x(column), top), pos2(x(column + 1), rect.bottom()));
        mesh.add_colored_rect(bar, color);
    }
    canvas.inside().add(Shape::mesh(mesh));
}
