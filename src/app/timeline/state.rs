//! The timeline's own state, kept between frames.

use super::minimap;
use super::pictures::TimelinePictures;
use eframe::egui::Pos2;

/// The timeline's own state.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(super) minimap: minimap::State,
    /// Pictures; painted from the first frame on.
    pub(in crate::app) pictures: Option<TimelinePictures>,
    /// The first corner of a box to zoom to, while it is drawn.
    pub(super) box_from: Option<Pos2>,
}

impl State {
    /// True while a box is drawn, so that the drag does not pan.
    pub(super) fn is_drawing_box(&self) -> bool {
        self.box_from.is_some()
    }
}
