//! The segment map's own state, kept between frames.

use super::maps::Maps;
use super::picture::{Arrangement, Cache};
use crate::device::Selection;
use oomscope_draw::segment_map::{MapLook, MapPart, MapZoom};

/// The arrangement and the zoom of the map, and its latest picture.
#[derive(Default)]
pub(crate) struct State {
    pub(super) maps: Option<Maps>,
    pub(crate) arrangement: Arrangement,
    pub(super) zoom: MapZoom,
    pub(super) cache: Cache,
    /// Height of the tools above the map with the figures of all segments, in points.
    pub(super) tools_px: f32,
    /// The selection that the map follows already: another one was made elsewhere.
    pub(super) seen: Selection,
}

impl State {
    /// True if lines are longer than the panel is wide.
    pub(crate) fn is_zoomed(&self) -> bool {
        1.0 < self.zoom.factor
    }

    /// Show whole lines again.
    pub(crate) fn reset_zoom(&mut self) {
        self.zoom = MapZoom { y_px: self.zoom.y_px, ..MapZoom::default() };
    }

    /// The map as it is arranged, for a picture.
    pub(crate) fn exported(&self) -> MapLook {
        let Arrangement { grouping, order } = self.arrangement;
        let shown = self.cache.shown();
        MapLook {
            grouping,
            order,
            part: shown.and_then(|(layout, height_px)| MapPart::of(self.zoom, &layout, height_px)),
        }
    }

    /// The places of rows in the last frame.
    #[cfg(test)]
    pub(crate) fn layout(&self) -> Option<std::sync::Arc<oomscope_draw::segment_map::MapLayout>> {
        self.cache.shown().map(|(layout, _)| layout)
    }
}
