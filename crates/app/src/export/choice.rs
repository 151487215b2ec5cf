//! Everything that can be exported.

use crate::texts::{self, marked};
use oomscope_export::{Format, PictureKind};

/// An entry of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExportChoice {
    pub(super) product: Product,
    /// Its name in the menu.
    pub(crate) name: &'static str,
    /// Its name among all commands.
    pub(crate) command: &'static str,
    /// The title of the panel that asks for the file.
    title: &'static str,
    /// The part of the file's name that stands between the recording's name and the extension.
    pub(super) file_stem: &'static str,
}

/// The contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
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

    /// Whether the clipboard can hold it.
    pub(super) fn is_pixels(self) -> bool {
        matches!(self, Self::Picture(_, Format::Png))
    }
}

const fn picture(
    kind: PictureKind,
    format: Format,
    [name, command, title]: [&'static str; 3],
    file_stem: &'static str,
) -> ExportChoice {
    ExportChoice { product: Product::Picture(kind, format), name, command, title, file_stem }
}

/// Everything that can be exported, in the order of the menu.
pub(crate) const EXPORT_CHOICES: [ExportChoice; 8] = [
    ExportChoice::TIMELINE,
    picture(
        PictureKind::Reserved,
        Format::Png,
        [
            marked!("Reserved memory over time…"),
            marked!("Export reserved memory over time…"),
            marked!("Export: reserved memory over time"),
        ],
        "reserved",
    ),
    picture(
        PictureKind::Curves,
        Format::Png,
        [marked!("Curves…"), marked!("Export curves…"), marked!("Export: curves")],
        "curves",
    ),
    picture(
        PictureKind::SegmentMap,
        Format::Png,
        [
            marked!("Segment map at the cursor…"),
            marked!("Export segment map at the cursor…"),
            marked!("Export: segment map at the cursor"),
        ],
        "segments",
    ),
    picture(
        PictureKind::SegmentTimeline,
        Format::Png,
        [
            marked!("Segment timeline…"),
            marked!("Export segment timeline…"),
            marked!("Export: segment timeline"),
        ],
        "segment-timeline",
    ),
    picture(
        PictureKind::Stacks,
        Format::Png,
        [marked!("Flame graph…"), marked!("Export flame graph…"), marked!("Export: flame graph")],
        "stacks",
    ),
    picture(
        PictureKind::Stacks,
        Format::Svg,
        [
            marked!("Flame graph for browsers (SVG)…"),
            marked!("Export flame graph for browsers (SVG)…"),
            marked!("Export: flame graph for browsers (SVG)"),
        ],
        "stacks",
    ),
    ExportChoice {
        product: Product::Report,
        name: marked!("Report (HTML)…"),
        command: marked!("Export report (HTML)…"),
        title: marked!("Export: report (HTML)"),
        file_stem: "report",
    },
];

impl ExportChoice {
    /// The timeline as a picture.
    pub(crate) const TIMELINE: Self = picture(
        PictureKind::Timeline,
        Format::Png,
        [marked!("Timeline…"), marked!("export the timeline"), marked!("Export: timeline")],
        "timeline",
    );

    /// Its name in a title.
    pub(super) fn title(self) -> String {
        texts::translated(self.title)
    }
}
