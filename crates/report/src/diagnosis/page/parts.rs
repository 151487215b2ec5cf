//! The parts of a page that are made elsewhere: colours, pictures and the figure over time.

use super::figure::MemoryFigure;

/// A picture in both themes, as PNG files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The sentence that stands for the picture where it is not shown.
    pub title: String,
    /// On white.
    pub light: Vec<u8>,
    /// On black.
    pub dark: Vec<u8>,
}

/// The colours of a theme: red, green and blue by name.
pub type Theme = Vec<(&'static str, [u8; 3])>;

/// All that a page shows besides words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageParts {
    /// The colours on white.
    pub light: Theme,
    /// The colours on black.
    pub dark: Theme,
    /// Memory over time; `None` where hardly anything was recorded.
    pub figure: Option<MemoryFigure>,
    /// Further pictures.
    pub pictures: Vec<Picture>,
}
