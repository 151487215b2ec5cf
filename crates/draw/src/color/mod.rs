//! Colours: the palette of each theme, and the colours of allocations and frames.

mod category_color;
mod change_color;
mod color_by;
#[cfg(test)]
mod color_difference;
mod coloring;
mod grounds;
mod keys;
mod node_colors;
mod palette;
mod stack_hash;

pub use color_by::{ColorBy, ColorKey};
pub use coloring::{ColorClass, Coloring};
pub use node_colors::NodeColors;
pub(crate) use palette::LIGHTER_SHARE;
pub use palette::{BandColors, Palette, Rgb};
