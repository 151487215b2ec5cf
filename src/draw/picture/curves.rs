//! A picture of the totals alone.

use super::timeline::{mark_legend, marks};
use super::{Entry, Mark, Page, Sheet};
use crate::draw::software::Pixels;
use crate::draw::{Canvas, Palette, Totals, View};
use crate::model::{Moment, Timeline};
use egui::emath::GuiRounding as _;
use egui::epaint::Mesh;
use egui::{Color32, Rect, Shape, Stroke, pos2};
use rayon::prelude::*;

/// Room for the labels of the axes.
const LEFT: f32 = 64.0;
const BOTTOM: f32 = 24.0;

/// How much of its colour the area below the active total has.
const AREA_OPACITY: f32 = 0.14;

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub struct CurvesPicture<'a> {
    /// Of which device.
    pub timeline: &'a Timeline,
    /// Which part of it.
    pub view: View,
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
            let min = pos2(rect.left() + LEFT, rect.top() + 1.0);
            let max = pos2(rect.right() - 1.0, rect.bottom() - BOTTOM);
            let rect = Rect::from_min_max(min, max).round_to_pixels(sheet.scale);
            let canvas = Canvas { painter: ui.painter(), rect, view, timeline, palette };
            let columns = (rect.width() * sheet.scale).round().max(1.0) as usize;
            let totals = Totals::of_view(timeline, view, columns);
            let active = active(timeline, view, columns);
            canvas.grid();
            area(&canvas, &active);
            let line = |color, width| Stroke::new(width, Color32::from(color));
            canvas.steps(view, &totals.reserved, line(palette.reserved, 1.5));
            canvas.steps(view, &active, line(palette.accent, 1.5));
            canvas.steps(view, &totals.allocated, line(palette.allocated, 1.0));
            marks(&canvas, self.cursor);
        })
    }
}

/// The largest active total of every column; 0 where there are no moments.
fn active(timeline: &Timeline, view: &View, columns: usize) -> Vec<i64> {
    let of_column = |column| {
        let moments = view.on(timeline).moments_of_column(column, columns);
        timeline.active.peak_in(moments).map_or(0, |(_, bytes)| bytes)
    };
    (0..columns).into_par_iter().map(of_column).collect()
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
