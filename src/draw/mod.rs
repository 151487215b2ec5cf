//! From the model to pixels: pure functions of a timeline, a view and a palette.
//!
//! This layer knows no windows, files, threads of its own, panels or user settings. The window, the
//! tests and exported pictures share it.

mod address_canvas;
mod address_columns;
mod address_geometry;
mod address_layout;
mod address_pixels;
pub mod address_raster;
mod arranged_rows;
pub mod bands;
mod canvas;
mod category_color;
pub mod coloring;
mod flame;
mod flame_paint;
pub mod fonts;
mod frame_colors;
mod lanes;
mod marks;
mod minimap;
mod painted;
pub mod palette;
pub mod picture;
mod pooled;
mod scale;
pub mod segment_map;
mod segment_stack;
pub mod software;
pub mod stacked;
pub mod ticks;
pub mod totals;
mod view;

#[cfg(test)]
pub(crate) mod fixture;

pub use address_canvas::{AddressCanvas, AddressPicture, AddressUnder};
pub use address_layout::{Expanded, RowBand, RowHeights, RowLayout};
pub use address_raster::AddressMap;
pub use arranged_rows::ArrangedRows;
pub use bands::{Bands, Blocks, Fill, Kept, LiveWalk, Texture};
pub use canvas::Canvas;
pub use coloring::{ColorBy, Coloring, Key};
pub use flame::{FlameItem, FlameLayout, FlameOrder, FlameRect, FlameView, flame_layout};
pub use flame_paint::{FLAME_ROW_PX, FlamePaint};
pub use frame_colors::FrameColors;
pub use lanes::LANE_PX;
pub use marks::{Labels, axis_font};
pub use painted::Painted;
pub use palette::{BandColors, Palette, Rgb};
pub use pooled::{Pooled, pool_of_band};
pub use scale::Scale;
pub use segment_stack::{SegmentStack, range_of_band};
pub use stacked::{Pixel, Raster, Span, raster};
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use totals::{Totals, decimate};
pub use view::{Axis, View};
