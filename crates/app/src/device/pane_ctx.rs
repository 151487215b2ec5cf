//! What a pane is, and what it is given besides its own state.

use super::filtering::FilterMode;
use super::pane_id::Wish;
use super::{Derived, Standpoint};
use crate::notebook::Notebook;
use crate::work::by_ptr::ByPtr;
use eframe::egui::Ui;
use oomscope_analysis::filter::Matches;
use oomscope_draw::{Coloring, Palette};
use oomscope_model::Recording;
use std::sync::Arc;

/// The state of a pane between frames.
pub(crate) trait Pane {
    /// Draw it.
    fn ui(&mut self, ui: &mut Ui, ctx: &mut PaneCtx<'_>);

    /// The height of its content in points, where that is known to be little. Others take what they are given.
    fn height_px(&self) -> Option<f32> {
        None
    }

    /// Take over what does not depend on the contents of the file from the state for another version of it.
    fn keep(&mut self, _old: &Self)
    where
        Self: Sized,
    {
    }
}

/// The things that a pane may read, and the standpoint, which it may change.
///
/// Functions inside a pane take the parts that they need rather than all of this.
pub(crate) struct PaneCtx<'a> {
    /// The device.
    pub(crate) recording: &'a Recording,
    /// Everything that is known of it.
    pub(crate) derived: &'a Derived,
    /// The place of the user. Panes change it at once, so that other panes follow a drag in the same frame.
    pub(crate) at: &'a mut Standpoint,
    /// The notes about the file.
    pub(crate) notebook: &'a Notebook,
    /// The file's name, as its tab says it.
    pub(crate) title: &'a str,
    /// What the pane asks of the others.
    pub(crate) wish: &'a mut Option<Wish>,
    /// A message for the status bar.
    pub(crate) notice: &'a mut Option<String>,
}

impl PaneCtx<'_> {
    /// Colours of allocations in a theme.
    pub(crate) fn coloring(&self, palette: &Palette) -> Arc<Coloring> {
        self.derived.coloring(self.at.color_by, palette)
    }

    /// What pictures fade or leave out.
    pub(crate) fn shade(&self) -> Option<(ByPtr<Matches>, FilterMode)> {
        self.at.shade(self.derived.matches())
    }

    /// Show a message in the status bar.
    pub(crate) fn notify(&mut self, notice: String) {
        *self.notice = Some(notice);
    }
}
