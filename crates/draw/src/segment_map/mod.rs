//! The segment map as a picture: the segments of one moment, to scale, wrapped over lines.
//!
//! [`MapLayout`] places rows on a sheet of lines, all to one scale. [`MapZoom`] is the part of the sheet in
//! sight and its magnification. [`MapItems`] are the visible parts, folded so that no item is thinner than a
//! pixel. [`picture`] turns them into triangles, or into pixels if they are many. [`SegmentMapCanvas`] adds text and
//! outlines, and finds the part under a point.
//!
//! Distances on the sheet and on the screen, with names in `_px`, are in points. Columns and rows of a
//! picture are physical pixels; `scale` is physical pixels per point.

mod brush;
mod items;
mod layout;
mod map;
mod marks;
mod part;
mod picture;
mod request;
mod zoom;

#[cfg(test)]
mod tests;

pub use items::{Item, MapItems};
pub use layout::{Heading, Line, MapGrouping, MapLayout, MapOrder, MapSheet, Piece};
pub use map::{SegmentMapCanvas, SegmentMapHit};
pub use marks::{LabelLooks, group_text, scale_bar};
pub use part::{MapLook, MapPart};
pub use picture::{MapPicture, MapSurface, picture};
pub use request::{REQUEST_PX, fit_text, request};
pub use zoom::MapZoom;

/// Height of the bar of a line: a label fits into it.
pub const BAR_PX: f32 = 18.0;

/// Distance from one line to the next.
pub const LINE_PX: f32 = 22.0;

/// Height of a heading.
pub const HEADING_PX: f32 = 24.0;

/// The finest scale: a block of 512 bytes, the smallest there is, is 32 points wide.
pub const MIN_BYTES_PER_PX: f64 = 16.0;
