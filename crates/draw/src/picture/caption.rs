//! The caption of a picture: words above it.

use super::{Palette, fonts::SEMIBOLD};
use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, FontFamily, FontId, Painter, Rect};

/// Number of rows that a line of the caption may take before it is cut, so that long paths leave room for the
/// picture.
const MAX_ROWS: usize = 2;

/// The program that made the picture.
const MAKER: &str = concat!("oomscope ", env!("CARGO_PKG_VERSION"));

/// Height of a row in points.
const ROW_PT: f32 = 16.0;

/// A title with a finding, and lines below it. Without these, the lines alone: what is around the picture says the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caption {
    /// The subject: the file's name.
    pub title: String,
    /// The main finding, as a sentence.
    pub headline: String,
    /// Device, moment, figures, settings.
    pub lines: Vec<String>,
}

impl Caption {
    /// Paint it into a rectangle, as far as there is room. Returns the y coordinate of its end.
    pub fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette) -> f32 {
        if *self == Self::default() {
            return rect.top();
        }
        self.paint_lines(painter, rect.with_min_y(self.paint_title(painter, rect, palette)), palette) + 10.0
    }

    /// Paint the title, the program and the main finding. Returns where the lines begin.
    fn paint_title(&self, painter: &Painter, rect: Rect, palette: &Palette) -> f32 {
        if self.title.is_empty() && self.headline.is_empty() {
            return rect.top();
        }
        let (text, muted) = (Color32::from(palette.text), Color32::from(palette.muted));
        let title = FontId::new(18.0, FontFamily::Name(SEMIBOLD.into()));
        let maker =
            painter.text(rect.right_top(), Align2::RIGHT_TOP, MAKER, FontId::proportional(11.0), muted);
        let beside = rect.with_max_x(maker.left() - 16.0);
        let top = rect.top() + paint_text(painter, beside, &self.title, title, text, 1) + 4.0;
        let headline = FontId::proportional(13.5);
        top + paint_text(painter, rect.with_min_y(top), &self.headline, headline, text, MAX_ROWS) + 4.0
    }

    /// Paint the lines, as far as there is room. Returns their end.
    fn paint_lines(&self, painter: &Painter, rect: Rect, palette: &Palette) -> f32 {
        let mut top = rect.top();
        for line in &self.lines {
            if rect.bottom() < top + ROW_PT {
                break;
            }
            let font = FontId::proportional(12.0);
            let muted = Color32::from(palette.muted);
            top += paint_text(painter, rect.with_min_y(top), line, font, muted, MAX_ROWS) + 2.0;
        }
        top
    }
}

/// Paint text at the top left of a rectangle, cut with … if it is too long. Returns its height.
pub(super) fn paint_text(
    painter: &Painter,
    rect: Rect,
    text: &str,
    font: FontId,
    color: Color32,
    rows: usize,
) -> f32 {
    let mut job = LayoutJob::simple(text.to_owned(), font, color, rect.width());
    // A single row is cut anywhere, so that as much as possible of a long word stays.
    let break_anywhere = rows == 1;
    job.wrap =
        TextWrapping { max_width: rect.width(), max_rows: rows, break_anywhere, ..TextWrapping::default() };
    let galley = painter.layout_job(job);
    let height = galley.size().y;
    painter.galley(rect.min, galley, color);
    height
}
