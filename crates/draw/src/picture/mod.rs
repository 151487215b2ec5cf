//! Pictures without a window: painted by the code that paints the window, on a sheet with a caption and a
//! legend.

mod caption;
mod curves;
mod flame;
mod legend;
mod page;
mod png;
mod segment_timeline;
mod segments;
mod site_list;
mod timeline;

#[cfg(test)]
mod tests;

pub use self::png::png;
pub use caption::Caption;
pub use curves::{CurvesPicture, curves_legend};
pub use flame::{FlamePicture, flame_legend};
pub use legend::{LegendEntry, LegendMark, legend};
pub use page::Page;
pub use segment_timeline::{SegmentTimelinePicture, segment_timeline_legend};
pub use segments::{SegmentsPicture, segments_legend};
pub use site_list::SiteList;
pub use timeline::{BandsPlace, Selected, TimelinePicture, timeline_legend, view_of};

use super::software::{self, Pixels, Textures};
use super::{Palette, fonts};
use egui::{Context, Pos2, RawInput, Rect, Theme, Ui, Vec2, ViewportId, ViewportInfo};

/// Space in points around everything on a sheet.
pub const MARGIN_PT: f32 = 20.0;

/// The size, the scale and the colours of a picture.
#[derive(Debug, Clone, Copy)]
pub struct PictureSheet<'a> {
    /// Width and height in points.
    pub size: Vec2,
    /// Pixels per point: 2 gives the same picture with twice the detail.
    pub scale: f32,
    /// The colours.
    pub palette: &'a Palette,
}

impl PictureSheet<'_> {
    /// Columns and rows of the finished picture.
    pub fn size_px(&self) -> [usize; 2] {
        [self.size.x, self.size.y].map(|points| (points * self.scale).round() as usize)
    }

    /// Paint a picture.
    ///
    /// `content` is called twice, since egui lays out with the sizes that it learned the first time, and only
    /// the second result is kept. The same calls give the same bytes.
    pub fn paint(&self, mut content: impl FnMut(&mut Ui)) -> Pixels {
        let ctx = Context::default();
        ctx.set_fonts(fonts::definitions());
        ctx.set_theme(if self.palette.is_dark { Theme::Dark } else { Theme::Light });
        let mut textures = Textures::default();
        let mut first = ctx.run_ui(self.input(0.0), &mut content);
        textures.apply(&mut first.textures_delta);
        let mut output = ctx.run_ui(self.input(1.0), &mut content);
        textures.apply(&mut output.textures_delta);
        let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
        software::paint(&primitives, &textures, output.pixels_per_point, self.size_px(), self.palette.window)
    }

    /// The input of a frame. Time is given, so that no picture depends on a clock.
    fn input(&self, seconds: f64) -> RawInput {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            max_texture_side: Some(software::MAX_SIDE_PX),
            time: Some(seconds),
            ..RawInput::default()
        };
        let root = ViewportInfo { native_pixels_per_point: Some(self.scale), ..ViewportInfo::default() };
        input.viewports.insert(ViewportId::ROOT, root);
        input
    }
}
