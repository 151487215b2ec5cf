//! From the model to pixels: pure functions of a timeline, a view and a palette.
//!
//! This layer knows no windows, files, threads of its own, panels or user settings. The window, the
//! tests and exported pictures share it.

pub mod bands;
mod canvas;
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
mod pooled;
mod scale;
pub mod stacked;
pub mod ticks;
pub mod totals;
mod view;

#[cfg(test)]
mod fixture;

pub use bands::{Bands, Blocks, Fill, Kept, Texture};
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
pub use stacked::{Pixel, Raster, Span, raster};
pub use ticks::{Tick, byte_ticks, event_ticks, time_ticks};
pub use totals::{Totals, decimate};
pub use view::{Axis, View};
