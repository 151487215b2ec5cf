//! What a picture shows, in words above it.

use super::{Palette, fonts::SEMIBOLD};
use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, FontFamily, FontId, Painter, Rect, vec2};

/// Rows that a line of the caption may take before it is cut.
const MAX_ROWS: usize = 2;

/// A title, and lines below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caption {
    /// What the picture is of: the file's name.
    pub title: String,
    /// Device, moment, figures, settings.
    pub lines: Vec<String>,
}

impl Caption {
    /// Paint it at the top of a rectangle; returns what is left below.
    pub fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette) -> Rect {
        let title = FontId::new(18.0, FontFamily::Name(SEMIBOLD.into()));
        let mut top =
            rect.top() + paint_text(painter, rect, &self.title, title, palette.text.into(), 1) + 4.0;
        for line in &self.lines {
            let place = rect.with_min_y(top);
            let font = FontId::proportional(12.5);
            top += paint_text(painter, place, line, font, palette.muted.into(), MAX_ROWS) + 2.0;
        }
        rect.with_min_y(top + 10.0)
    }
}

/// Text at the left top of a rectangle, cut with … where it is too long. Returns its height.
fn paint_text(painter: &Painter, rect: Rect, text: &str, font: FontId, color: Color32, rows: usize) -> f32 {
    let mut job = LayoutJob::simple(text.to_owned(), font, color, rect.width());
    job.wrap = TextWrapping { max_width: rect.width(), max_rows: rows, ..TextWrapping::default() };
    let galley = painter.layout_job(job);
    let height = galley.size().y;
    painter.galley(rect.min + vec2(0.0, 0.0), galley, color);
    height
}
