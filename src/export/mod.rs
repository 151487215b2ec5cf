//! Whole pictures of a device, as the command line writes them and the window exports them: pixels of
//! [`crate::draw`] with words of [`crate::report`] around them.
//!
//! This layer knows no files, no arguments and no panels. Equal [`PictureSpec`]s give equal bytes.

mod curves;
mod kind;
mod paint;
mod report_figure;
mod report_pictures;
mod segment_map;
mod segment_timeline;
mod spec;
mod stacks;
mod timeline;

pub use kind::{ExportError, Format, PictureKind};
pub use report_pictures::{PageSubject, page_colors, report_parts};
pub use spec::{Filtered, PictureSpec, PictureVerdict, StacksView};
