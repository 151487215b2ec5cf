//! The places of rows and allocations in a picture.

use super::layout::RowBand;
use oomscope_analysis::SegmentRows;
use oomscope_model::{AllocId, Bytes, Moment, Timeline};
use std::ops::Range;

/// Overlaps smaller than this share of a pixel are rounding errors.
pub(super) const TOUCH_PX: f64 = 1.0 / 64.0;

/// The place of an allocation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bar {
    /// First moment at which it is live.
    pub(super) start: Moment,
    /// First moment at which it is gone; the end of the timeline if it survives.
    pub(super) end: Moment,
    /// Its upper and lower edge, in pixels from the top of the picture.
    pub(super) y_px: [f64; 2],
}

/// The place of an allocation in a picture; `None` if its row is not shown.
pub(super) fn bar(timeline: &Timeline, rows: &SegmentRows, bands: &[RowBand], id: AllocId) -> Option<Bar> {
    let place = rows.place(id, timeline)?;
    let band = bands.iter().find(|band| band.row == place.row)?;
    let extent = Extent::new(band, rows.rows().get(place.row as usize)?.size_bytes);
    let lifetimes = &timeline.lifetimes;
    let last = Moment(timeline.moments() as u32);
    Some(Bar {
        start: lifetimes.start(id),
        end: lifetimes.end(id).unwrap_or(last),
        y_px: extent.y(place.offset, timeline.size(id)),
    })
}

/// The place of a row and the scale of its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    top: f64,
    bottom: f64,
    px_per_byte: f64,
}

impl Extent {
    /// The place of a row of `size_bytes`.
    pub(super) fn new(band: &RowBand, size_bytes: u64) -> Self {
        Self {
            top: band.top_px as f64,
            bottom: band.bottom_px() as f64,
            px_per_byte: f64::from(band.height_px) / size_bytes.max(1) as f64,
        }
    }

    /// The upper and the lower edge of `bytes` bytes at an offset in the row. The lowest address is at
    /// the bottom.
    #[inline]
    pub(super) fn y(&self, offset: u64, bytes: Bytes) -> [f64; 2] {
        let low = self.bottom - offset as f64 * self.px_per_byte;
        let high = low - bytes.or_zero().as_f64() * self.px_per_byte;
        [high.max(self.top), low.max(self.top)]
    }
}

/// The rows of pixels between two edges: all that the range touches, or the one that a thin range lies in.
#[inline]
pub(super) fn pixels(top: f64, bottom: f64, rows: usize) -> Range<usize> {
    let inside = |y: f64| y.clamp(0.0, rows as f64) as usize;
    let touched = inside((top + TOUCH_PX).floor())..inside((bottom - TOUCH_PX).ceil());
    let middle = f64::midpoint(top, bottom).floor();
    if touched.is_empty() && 0.0 <= middle && middle < rows as f64 {
        return inside(middle)..inside(middle) + 1;
    }
    touched
}
