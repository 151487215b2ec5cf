//! The context that a pane is given besides its own state.

use super::{Derived, Standpoint};
use crate::app::notebook::Notebook;
use crate::draw::{Coloring, Palette};
use crate::model::Recording;
use std::sync::Arc;

/// The things that a pane may read, and the standpoint, which it may change.
///
/// Functions inside a pane take the parts that they need rather than all of this.
pub(in crate::app) struct PaneCtx<'a> {
    /// The device.
    pub(in crate::app) recording: &'a Recording,
    /// Everything that is known of it.
    pub(in crate::app) derived: &'a Derived,
    /// The place of the user. Panes change it at once, so that other panes follow a drag in the same frame.
    pub(in crate::app) at: &'a mut Standpoint,
    /// The notes about the file.
    pub(in crate::app) notebook: &'a Notebook,
    /// The file's name, as its tab says it.
    pub(in crate::app) title: &'a str,
    /// A message for the status bar.
    pub(in crate::app) notice: &'a mut Option<String>,
}

impl PaneCtx<'_> {
    /// Colours of allocations in a theme.
    pub(in crate::app) fn coloring(&self, palette: &Palette) -> Arc<Coloring> {
        self.derived.coloring(self.at.color_by, palette)
    }

    /// Show a message in the status bar.
    pub(in crate::app) fn notify(&mut self, notice: String) {
        *self.notice = Some(notice);
    }
}
