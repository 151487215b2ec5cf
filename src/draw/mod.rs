//! From the model to pixels: pure functions of a timeline, a view and a palette.
//!
//! This layer knows no windows, files, threads of its own, panels or user settings. The window, the
//! tests and exported pictures share it.

mod address_layout;
pub mod address_raster;
pub mod palette;
pub mod stacked;
pub mod ticks;
pub mod totals;
mod view;

#[cfg(test)]
pub(crate) mod fixture;

pub use address_layout::{Band, Expanded, RowHeights, RowLayout};
pub use address_raster::AddressMap;
pub use palette::{BandColors, Palette, Rgb};
pub use stacked::{Pixel, Raster, Span, raster};
pub use ticks::{Tick, byte_ticks, event_ticks};
pub use totals::{Totals, decimate};
pub use view::View;
