//! Exporting what is shown as a picture or a report: to a file whose name is a field in the window, or to the clipboard.
//! The work happens on a thread of its own.

mod choice;
mod exporter;
mod job;
mod outcome;
mod panel;
mod preset;

pub(super) use choice::{EXPORT_CHOICES, ExportChoice};
pub(super) use exporter::Exporter;
pub(super) use job::{ExportJob, ExportOrder, Target};
pub(super) use panel::{ExportPanel, PanelWish};
