//! The layout that all pictures share: caption, legend, and below them what is shown.

use super::{Caption, Entry, MARGIN, Sheet, legend};
use crate::draw::software::Pixels;
use egui::emath::GuiRounding as _;
use egui::{Rect, Ui};

/// Space between the legend and what is shown.
const LEGEND_GAP: f32 = 6.0;

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
            let rest = self.caption.paint(&painter, room, sheet.palette);
            let height = legend(&painter, rest, &self.legend, sheet.palette);
            let gap = if height == 0.0 { 0.0 } else { LEGEND_GAP };
            let rest = rest.with_min_y(rest.top() + height + gap).round_to_pixels(sheet.scale);
            if rest.is_positive() {
                content(ui, rest);
            }
        })
    }
}
