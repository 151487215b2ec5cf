//! Colours: the palette of each theme, and the colours of allocations and frames.

mod category_color;
mod color_class;
mod coloring;
mod frame_colors;
mod palette;

pub use color_class::ColorClass;
pub use coloring::{ColorBy, ColorKey, Coloring};
pub use frame_colors::FrameColors;
pub use palette::{BandColors, Palette, Rgb};
