//! The layout that all pictures share: caption, legend, and below them what is shown.

use super::{Caption, Entry, MARGIN, Sheet, legend};
use crate::draw::software::Pixels;
use egui::emath::GuiRounding as _;
use egui::{Rect, Ui};

/// Space between the legend and what is shown.
const LEGEND_GAP: f32 = 6.0;

/// The part of a small sheet that is kept for what is shown.
const MIN_SHARE: f32 = 0.5;

/// Less than this shows nothing.
const MIN_CONTENT: egui::Vec2 = egui::vec2(160.0, 60.0);

/// What is around the content of a picture.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What the picture shows, in words.
    pub caption: Caption,
    /// What colours and lines mean.
    pub legend: Vec<Entry>,
}

impl Page {
    /// Paint a page. The content gets what is left of the sheet, aligned to pixels.
    pub fn paint(&self, sheet: &Sheet<'_>, mut content: impl FnMut(&mut Ui, Rect)) -> Pixels {
        sheet.paint(|ui| {
            let room = Rect::from_min_size(egui::Pos2::ZERO, sheet.size).shrink(MARGIN);
            let painter = ui.painter().clone();
            // On a small sheet, the last lines of the caption give way.
            let words = room.with_max_y(room.bottom() - room.height() * MIN_SHARE);
            let top = self.caption.paint(&painter, words, sheet.palette);
            let height = legend(&painter, words.with_min_y(top), &self.legend, sheet.palette);
            let gap = if height == 0.0 { 0.0 } else { LEGEND_GAP };
            let rest = room.with_min_y(top + height + gap).round_to_pixels(sheet.scale);
            if MIN_CONTENT.x <= rest.width() && MIN_CONTENT.y <= rest.height() {
                content(ui, rest);
            }
        })
    }
}
