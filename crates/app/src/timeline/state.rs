//! The timeline's own state, kept between frames.

use super::minimap;
use super::pictures::TimelinePictures;
use eframe::egui::Pos2;
use oomscope_model::Moment;

/// The timeline's own state.
#[derive(Default)]
pub(crate) struct State {
    pub(super) minimap: minimap::State,
    /// Pictures; painted from the first frame on.
    pub(crate) pictures: Option<TimelinePictures>,
    /// The first corner of a box to zoom to, while it is drawn.
    pub(super) box_from: Option<Pos2>,
    /// The end of the marked range that stays where it is, while the other one is dragged.
    pub(super) range_from: Option<Moment>,
    /// A range was marked that nothing has shown yet.
    pub(crate) has_new_range: bool,
}

impl State {
    /// True while a box or a range is drawn, so that the drag does not pan.
    pub(super) fn is_drawing(&self) -> bool {
        self.box_from.is_some() || self.range_from.is_some()
    }
}
