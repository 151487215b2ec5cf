//! A picture as a file: each kind is painted by its own module.

use super::kind::{ExportError, Format, PictureKind};
use super::spec::PictureSpec;
use super::{curves, segment_map, segment_timeline, stacks, timeline};
use oomscope_draw::picture::{PictureSheet, png};
use oomscope_draw::software::Pixels;
use oomscope_model::Timeline;

impl PictureSpec {
    /// Paint the picture as a file. An SVG has a size of its own.
    ///
    /// # Errors
    /// If the size is 0, or the format cannot hold the picture.
    pub fn file(&self, format: Format, size_points: [f32; 2], scale: f32) -> Result<Vec<u8>, ExportError> {
        let timeline = self.recording.timeline();
        match (format, self.kind) {
            (Format::Png, _) => Ok(png(&self.pixels(size_points, scale))?),
            (Format::Svg, PictureKind::Stacks) => stacks::svg(self, timeline),
            (Format::Svg, _) => Err(ExportError::NotSvg),
        }
    }

    /// Paint the picture.
    pub fn pixels(&self, size_points: [f32; 2], scale: f32) -> Pixels {
        let sheet = PictureSheet { size: size_points.into(), scale, palette: self.palette };
        paint(self, self.recording.timeline(), &sheet)
    }
}

fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    match spec.kind {
        PictureKind::Timeline => timeline::allocations(spec, timeline, sheet).0,
        PictureKind::Reserved => timeline::reserved(spec, timeline, sheet),
        PictureKind::Curves => curves::paint(spec, timeline, sheet),
        PictureKind::SegmentMap => segment_map::paint(spec, timeline, sheet),
        PictureKind::SegmentTimeline => segment_timeline::paint(spec, timeline, sheet),
        PictureKind::Stacks => stacks::paint(spec, timeline, sheet),
    }
}
