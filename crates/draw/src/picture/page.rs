//! The layout that all pictures share: caption, legend, and the content below them.

use super::{Caption, LegendEntry, MARGIN_PT, PictureSheet, legend};
use crate::software::Pixels;
use egui::emath::GuiRounding as _;
use egui::{Rect, Ui};

/// Space in points between the legend and the content.
const LEGEND_GAP_PT: f32 = 6.0;

/// Share of a small sheet's height that is kept for the content.
const MIN_CONTENT_SHARE: f32 = 0.5;

/// Least size of the content in points; axes and labels alone need as much.
const MIN_CONTENT_PT: egui::Vec2 = egui::vec2(160.0, 60.0);

/// The words around the content of a picture.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The caption.
    pub caption: Caption,
    /// The entries of the legend.
    pub legend: Vec<LegendEntry>,
}

impl Page {
    /// Paint a page. The content gets the rest of the sheet, aligned to pixels, unless that is too small.
    pub fn paint(&self, sheet: &PictureSheet<'_>, mut content: impl FnMut(&mut Ui, Rect)) -> Pixels {
        sheet.paint(|ui| {
            let room = Rect::from_min_size(egui::Pos2::ZERO, sheet.size).shrink(MARGIN_PT);
            let painter = ui.painter().clone();
            // On a small sheet, the last lines of the caption give way.
            let words = room.with_max_y(room.bottom() - room.height() * MIN_CONTENT_SHARE);
            let top = self.caption.paint(&painter, words, sheet.palette);
            let height = legend(&painter, words.with_min_y(top), &self.legend, sheet.palette);
            let gap = if height == 0.0 { 0.0 } else { LEGEND_GAP_PT };
            let rest = room.with_min_y(top + height + gap).round_to_pixels(sheet.scale);
            if MIN_CONTENT_PT.x <= rest.width() && MIN_CONTENT_PT.y <= rest.height() {
                content(ui, rest);
            }
        })
    }
}
