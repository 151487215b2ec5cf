//! The memory map as a picture: segments to scale, wrapped over lines.
//!
//! [`Layout`] places rows on a sheet of lines, all to one scale. [`Zoom`] says which part of the
//! sheet is looked at, and how closely. [`items`](Items) are what is visible of it, folded so that
//! no item is thinner than a pixel. [`picture`] turns them into triangles, or into pixels where they
//! are many. [`Map`] paints all of it and answers what is under a point.
//!
//! Distances on the sheet are in points; columns and rows of a picture in physical pixels.

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

pub use items::{Item, Items};
pub use layout::{Grouping, Heading, Layout, Line, Order, Piece, Sheet};
pub use map::{Hit, Map};
pub use marks::{group_text, scale_bar};
pub use part::{Look, MapPart};
pub use picture::{Picture, Surface, picture};
pub use request::{REQUEST_PX, fit_text, request};
pub use zoom::Zoom;

/// Height of a line's bar.
pub const BAR_PX: f32 = 18.0;

/// From one line to the next.
pub const LINE_PX: f32 = 22.0;

/// Height of a heading.
pub const HEADING_PX: f32 = 24.0;

/// The finest scale: a block of 512 bytes is 32 points wide.
pub const MIN_BYTES_PER_PX: f64 = 16.0;
