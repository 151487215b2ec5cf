//! A picture of the totals alone.

use super::timeline::{inside_axes, mark_legend, marks};
use super::{LegendEntry, LegendMark, Page, PictureSheet};
use crate::software::Pixels;
use crate::{ColumnTotals, Future, MarkLabels, Palette, TimelineCanvas, View};
use egui::epaint::Mesh;
use egui::{Color32, Rect, Shape, Stroke, pos2};
use oomscope_model::{Bytes, Moment, Timeline};

/// Opacity of the area below the active total: grid lines stay visible through it.
const AREA_OPACITY: f32 = 0.14;

/// The content of a picture of the totals.
#[derive(Debug, Clone, Copy)]
pub struct CurvesPicture<'a> {
    /// The timeline of the device.
    pub timeline: &'a Timeline,
    /// The part of it that is shown.
    pub view: View,
    /// What is projected behind it.
    pub future: &'a Future,
    /// Bytes that the device can reserve at most; `None` if that is unknown.
    pub capacity: Option<Bytes>,
    /// The moment of the cursor; `None` for a picture without one.
    pub cursor: Option<Moment>,
}

/// The legend of the lines and marks.
pub fn curves_legend(timeline: &Timeline, view: &View, palette: &Palette) -> Vec<LegendEntry> {
    let mut entries = vec![
        LegendEntry::new(LegendMark::Line, palette.reserved, "reserved"),
        LegendEntry::new(LegendMark::Line, palette.accent, "active"),
        LegendEntry::new(LegendMark::Line, palette.allocated, "allocated"),
    ];
    entries.extend(mark_legend(timeline, view, palette));
    entries
}

impl CurvesPicture<'_> {
    /// Paint it on a sheet.
    pub fn paint(&self, sheet: &PictureSheet<'_>, page: &Page) -> Pixels {
        let (timeline, view, palette) = (self.timeline, &self.view, sheet.palette);
        page.paint(sheet, |ui, rect| {
            let rect = inside_axes(rect, sheet);
            let canvas = TimelineCanvas { painter: ui.painter(), rect, view, timeline, palette };
            let columns = (rect.width() * sheet.scale).round().max(1.0) as usize;
            let totals = ColumnTotals::of_view(timeline, view, columns);
            canvas.grid();
            area(&canvas, &totals.active);
            let line = |color, width| Stroke::new(width, Color32::from(color));
            canvas.steps(view, &totals.reserved, line(palette.reserved, 1.5));
            // Below the active line, which mostly runs in the same place.
            canvas.steps(view, &totals.allocated, line(palette.allocated, 1.0));
            canvas.steps(view, &totals.active, line(palette.accent, 1.5));
            let labels = marks(&canvas, MarkLabels::default(), self.future, self.capacity, self.cursor);
            canvas.labels(&labels);
        })
    }
}

fn area(canvas: &TimelineCanvas<'_>, values: &[Bytes]) {
    let (rect, columns) = (canvas.rect, values.len().max(1) as f32);
    let color = Color32::from(canvas.palette.accent).gamma_multiply(AREA_OPACITY);
    let x = |column: usize| rect.left() + rect.width() * column as f32 / columns;
    let mut mesh = Mesh::default();
    for (column, &value) in values.iter().enumerate() {
        let top = canvas.y(value.as_f64()).clamp(rect.top(), rect.bottom());
        let bar = Rect::from_min_max(pos2(x(column), top), pos2(x(column + 1), rect.bottom()));
        mesh.add_colored_rect(bar, color);
    }
    canvas.inside().add(Shape::mesh(mesh));
}
