//! Colours: the palette of each theme, and the colours of allocations and frames.

mod category_color;
mod change_color;
#[cfg(test)]
mod color_difference;
mod coloring;
mod grounds;
mod keys;
mod node_colors;
mod palette;
mod stack_hash;

pub use coloring::{ColorBy, ColorClass, ColorKey, Coloring};
pub use node_colors::NodeColors;
pub(crate) use palette::LIGHTER_SHARE;
pub use palette::{BandColors, Palette, Rgb};
