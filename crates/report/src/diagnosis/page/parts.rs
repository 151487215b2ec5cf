//! The parts of a page that are made elsewhere: colours, the timeline and further pictures.

use super::figure::MemoryFigure;

/// A picture for wide pages, and one for narrow pages with words of the same size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The sentence that stands for the picture where it is not shown.
    pub title: String,
    /// For wide pages and for paper.
    pub wide: Drawing,
    /// For narrow pages.
    pub narrow: Drawing,
}

/// A picture in both themes, as PNG files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// Width and height at which its words are as large as those of the page.
    pub size: [u32; 2],
    /// On white.
    pub light: Vec<u8>,
    /// On black.
    pub dark: Vec<u8>,
}

/// The timeline, and what can be read at its instants.
#[derive(Debug, Clone, PartialEq)]
pub struct PageTimeline {
    /// The picture.
    pub picture: Picture,
    /// The instants, where they are in the picture. `None` where hardly anything was recorded.
    pub readings: Option<Readings>,
}

/// The instants of a timeline that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// What was in memory.
    pub figure: MemoryFigure,
    /// The place of all of them in the wide drawing.
    pub wide: Plot,
    /// Their place in the narrow drawing.
    pub narrow: Plot,
}

/// The place in a drawing of what was recorded, as parts of its width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plot {
    /// Where the first moment begins and the last one ends.
    pub x: [f64; 2],
    /// The top and the bottom.
    pub y: [f64; 2],
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
    /// Memory over time; `None` for a page without pictures.
    pub timeline: Option<PageTimeline>,
    /// Further pictures.
    pub pictures: Vec<Picture>,
}
