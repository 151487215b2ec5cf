//! From the model to pixels: pure functions of a timeline, a view and a palette.
//!
//! This package knows no windows, files, panels or user settings, and starts no threads of its own. The
//! window, the tests and exported pictures share it.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_draw::SparkLine;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = load(&Input::File(sample.into()), &Progress::default())?;
//! let timeline = snapshot.main_timeline().ok_or("no device")?;
//! let line = SparkLine::of(timeline);
//! println!("{line:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod color;
mod flame_graph;
pub mod fonts;
mod outline;
pub mod picture;
pub mod segment_map;
mod segment_timeline;
pub mod software;
mod spark_line;
mod timeline;

pub use axes::{Axis, Scale, Tick, View, byte_ticks, event_ticks, time_ticks};
pub use color::{BandColors, ColorBy, ColorClass, ColorKey, Coloring, NodeColors, Palette, Rgb};
pub use flame_graph::{
    FLAME_ROW_PX, FlameItem, FlameLayout, FlameOrder, FlamePaint, FlameRect, FlameView, flame_layout,
};
pub use segment_timeline::{
    ArrangedRows, Expanded, RowBand, RowHeights, RowLayout, SegmentTimelineCanvas, SegmentTimelineHit,
    SegmentTimelineRaster, SegmentTimelineScene,
};
pub use spark_line::{MAX_SPARK_COLUMNS, SparkLine};
pub use timeline::{
    AfterFix, Band, BandFill, BandLabel, BandTexture, Bands, BlockFilter, Blocks, ColumnTotals, Future,
    LANE_PX, Mark, MarkLabels, MarkStep, MarkedSpan, POOL_LEGEND, Pixel, PixelSpan, Pooled, Raster,
    SegmentStack, Share, TakenAs, TimelineCanvas, TimelineRaster, axis_font, bands, decimate, pool_of_band,
    range_of_band, raster, stacked, totals,
};
