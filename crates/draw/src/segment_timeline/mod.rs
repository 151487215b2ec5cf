//! The segment timeline: addresses over time, with a row for each segment.

mod arranged_rows;
mod canvas;
mod columns;
mod geometry;
mod layout;
mod pixels;
mod raster;

pub use arranged_rows::ArrangedRows;
pub use canvas::{SegmentTimelineCanvas, SegmentTimelineHit, SegmentTimelineRaster};
pub use layout::{Expanded, RowBand, RowHeights, RowLayout};
pub use raster::SegmentTimelineScene;
