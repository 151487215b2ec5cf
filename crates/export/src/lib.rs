//! Whole pictures of a device, as the command line writes them and the window exports them: pixels of
//! [`oomscope_draw`] with words of [`oomscope_report`] around them.
//!
//! This package knows no files, no arguments and no panels. Equal [`PictureSpec`]s give equal bytes.
//!
//! ```
//! use oomscope_export::save::{Existing, NewFile};
//! use std::io::Write as _;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("answer.txt");
//! let mut file = NewFile::create(&path)?;
//! file.write_all(b"42")?;
//! assert!(!path.exists(), "it is there once all of it is written");
//! file.finish(Existing::Replace)?;
//! assert_eq!(std::fs::read(&path)?, b"42");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cut;
pub mod interchange;
pub mod save;

mod curves;
mod future;
mod kind;
mod paint;
mod report_figure;
mod report_pictures;
mod report_timeline;
mod segment_map;
mod segment_timeline;
mod spec;
mod stacks;
mod timeline;

pub use future::{after_fix, future_of};
pub use kind::{ExportError, Format, PictureKind};
pub use report_pictures::{PageSubject, page_colors, report_parts};
pub use spec::{Filtered, Marked, PictureSpec, PictureVerdict, StacksView, mark_steps};
