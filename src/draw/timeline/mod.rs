//! The timeline: memory over time as stacked bands, with its axes, annotations and marks.

pub mod bands;
mod canvas;
mod lanes;
mod marks;
mod minimap;
mod painted;
mod pooled;
mod segment_stack;
pub mod stacked;
pub mod totals;

pub use bands::{Bands, Blocks, Fill, Kept, LiveWalk, Texture};
pub use canvas::Canvas;
pub use lanes::LANE_PX;
pub use marks::{Labels, axis_font};
pub use painted::Painted;
pub use pooled::{Pooled, pool_of_band};
pub use segment_stack::{SegmentStack, range_of_band};
pub use stacked::{Pixel, Raster, Span, raster};
pub use totals::{Totals, decimate};
