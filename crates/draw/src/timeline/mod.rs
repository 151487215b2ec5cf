//! The timeline: memory over time as stacked bands, with its axes, annotations and marks.

mod after_fix;
mod band_labels;
pub mod bands;
mod bracket;
mod canvas;
mod columns;
mod cursor_values;
mod envelope;
mod future;
mod lanes;
mod live_bands;
mod marks;
mod minimap;
mod pooled;
mod segment_stack;
pub mod stacked;
mod timeline_raster;
pub mod totals;

pub use after_fix::{AfterFix, TakenAs};
pub use band_labels::BandLabel;
pub use bands::{Band, BandFill, BandTexture, Bands, BlockFilter, Blocks, Share};
pub use bracket::{Mark, MarkStep, MarkedSpan};
pub use canvas::TimelineCanvas;
pub use future::Future;
pub use lanes::LANE_PX;
pub use marks::{MarkLabels, axis_font};
pub use pooled::{POOL_LEGEND, Pooled, pool_of_band};
pub use segment_stack::{SegmentStack, range_of_band};
pub use stacked::{Pixel, PixelSpan, Raster, raster};
pub use timeline_raster::TimelineRaster;
pub use totals::{ColumnTotals, decimate};
