//! What the segment map remembers between frames.

use super::maps::Maps;
use super::picture::{Arrangement, Cache};
use crate::app::device::Selection;
use crate::draw::segment_map::{MapLook, MapPart, MapZoom};

/// How the map is arranged and zoomed, and what was painted last.
#[derive(Default)]
pub(in crate::app) struct State {
    pub(super) maps: Option<Maps>,
    pub(in crate::app) arrangement: Arrangement,
    pub(super) zoom: MapZoom,
    pub(super) cache: Cache,
    /// The selection of the last frame, to notice one that was made elsewhere.
    pub(super) seen: Selection,
}

impl State {
    /// Whether lines are longer than the panel.
    pub(in crate::app) fn is_zoomed(&self) -> bool {
        1.0 < self.zoom.factor
    }

    /// Show whole lines again.
    pub(in crate::app) fn reset_zoom(&mut self) {
        self.zoom = MapZoom { y_px: self.zoom.y_px, ..MapZoom::default() };
    }

    /// What is shown, for a picture.
    pub(in crate::app) fn exported(&self) -> MapLook {
        let Arrangement { grouping, order } = self.arrangement;
        let shown = self.cache.shown();
        MapLook {
            grouping,
            order,
            part: shown.and_then(|(layout, height_px)| MapPart::of(self.zoom, layout, height_px)),
        }
    }

    /// Where rows are.
    #[cfg(test)]
    pub(in crate::app) fn layout(&self) -> Option<&crate::draw::segment_map::MapLayout> {
        self.cache.last_layout()
    }

    /// Take over from another version of the file what does not depend on its contents.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.arrangement = old.arrangement;
    }
}
