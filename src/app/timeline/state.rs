//! What the timeline remembers between frames.

use super::minimap;
use super::rasters::Rasters;
use eframe::egui::Pos2;

/// The timeline's own state.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(super) minimap: minimap::State,
    /// Pictures; painted from the first frame on.
    pub(in crate::app) rasters: Option<Rasters>,
    /// Where a box to zoom to started.
    pub(super) box_from: Option<Pos2>,
}

impl State {
    /// Whether a box is being drawn, so that the drag does not pan.
    pub(super) fn is_drawing_box(&self) -> bool {
        self.box_from.is_some()
    }
}
