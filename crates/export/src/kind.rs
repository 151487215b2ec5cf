//! Kinds and file formats of pictures, and the errors of making one.

use thiserror::Error;

/// The kind of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// Live allocations over time, stacked.
    Timeline,
    /// Reserved memory over time, stacked.
    Reserved,
    /// The totals over time as lines.
    Curves,
    /// The use of every reserved byte at the moment.
    SegmentMap,
    /// Addresses over time, a row per segment.
    SegmentTimeline,
    /// The stacks that allocated, as a flame graph.
    Stacks,
}

impl PictureKind {
    /// Whether a filter changes the picture. Totals and reserved memory are the same under any filter.
    pub fn is_filtered(self) -> bool {
        !matches!(self, Self::Curves | Self::Reserved)
    }
}

/// The format of a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Shapes, and a script with which browsers zoom and search. Only [`PictureKind::Stacks`] has it.
    Svg,
}

impl Format {
    /// The extension of such files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }
}

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The picture has no pixels.
    #[error("the picture cannot be encoded")]
    Encoding(#[from] ::png::EncodingError),
    /// The picture is no flame graph.
    #[error("only the flame graph can be an SVG file")]
    NotSvg,
    /// The flame graph could not be written.
    #[error("the flame graph cannot be written as SVG ({0})")]
    Svg(#[from] std::io::Error),
}
