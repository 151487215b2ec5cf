//! Everything that can be exported.

use oomscope_export::{Format, PictureKind};

/// An entry of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExportChoice {
    pub(super) product: Product,
    /// Its name in the menu.
    pub(crate) name: &'static str,
    /// The part of the file's name that stands between the recording's name and the extension.
    pub(super) file_stem: &'static str,
}

/// The contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    Picture(PictureKind, Format),
    /// The diagnosis as a page, with pictures.
    Report,
}

impl Product {
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Picture(_, format) => format.extension(),
            Self::Report => "html",
        }
    }

    /// Its name in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Picture(..) => "picture",
            Self::Report => "report",
        }
    }

    /// Whether the clipboard can hold it.
    pub(super) fn is_pixels(self) -> bool {
        matches!(self, Self::Picture(_, Format::Png))
    }
}

const fn picture(
    kind: PictureKind,
    format: Format,
    name: &'static str,
    file_stem: &'static str,
) -> ExportChoice {
    ExportChoice { product: Product::Picture(kind, format), name, file_stem }
}

/// Everything that can be exported, in the order of the menu.
pub(crate) const EXPORT_CHOICES: [ExportChoice; 8] = [
    ExportChoice::TIMELINE,
    picture(PictureKind::Reserved, Format::Png, "Reserved memory over time…", "reserved"),
    picture(PictureKind::Curves, Format::Png, "Curves…", "curves"),
    picture(PictureKind::SegmentMap, Format::Png, "Segment map at the cursor…", "segments"),
    picture(PictureKind::SegmentTimeline, Format::Png, "Segment timeline…", "segment-timeline"),
    picture(PictureKind::Stacks, Format::Png, "Flame graph…", "stacks"),
    picture(PictureKind::Stacks, Format::Svg, "Flame graph for browsers (SVG)…", "stacks"),
    ExportChoice { product: Product::Report, name: "Report (HTML)…", file_stem: "report" },
];

impl ExportChoice {
    /// The timeline as a picture.
    pub(crate) const TIMELINE: Self = picture(PictureKind::Timeline, Format::Png, "Timeline…", "timeline");

    /// Its name in a title.
    pub(super) fn title(self) -> String {
        format!(
            "Export: {}",
            self.name.trim_end_matches('…').to_lowercase().replace("html", "HTML").replace("svg", "SVG")
        )
    }
}
