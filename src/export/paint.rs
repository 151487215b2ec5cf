//! A picture as a file: each kind is painted by its own module.

use super::kind::{ExportError, Format, PictureKind};
use super::spec::PictureSpec;
use super::{curves, segment_map, segment_timeline, stacks, timeline};
use crate::draw::picture::{PictureSheet, png};
use crate::draw::software::Pixels;
use crate::model::Timeline;

impl PictureSpec {
    /// Paint the picture as a file. An SVG has a size of its own.
    ///
    /// # Errors
    /// If the size is 0, or the format cannot hold the picture.
    pub fn file(&self, format: Format, size_points: [f32; 2], scale: f32) -> Result<Vec<u8>, ExportError> {
        let timeline = self.recording.timeline();
        match (format, self.kind) {
            (Format::Png, _) => {
                let sheet = PictureSheet { size: size_points.into(), scale, palette: self.palette };
                Ok(png(&paint(self, timeline, &sheet))?)
            }
            (Format::Svg, PictureKind::Stacks) => stacks::svg(self, timeline),
            (Format::Svg, _) => Err(ExportError::NotSvg),
        }
    }
}

fn paint(spec: &PictureSpec, timeline: &Timeline, sheet: &PictureSheet<'_>) -> Pixels {
    match spec.kind {
        PictureKind::Timeline => timeline::allocations(spec, timeline, sheet),
        PictureKind::Reserved => timeline::reserved(spec, timeline, sheet),
        PictureKind::Curves => curves::paint(spec, timeline, sheet),
        PictureKind::SegmentMap => segment_map::paint(spec, timeline, sheet),
        PictureKind::SegmentTimeline => segment_timeline::paint(spec, timeline, sheet),
        PictureKind::Stacks => stacks::paint(spec, timeline, sheet),
    }
}
