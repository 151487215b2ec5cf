//! A painted view of the timeline, with its total lines.

use super::bands::Bands;
use super::stacked::{Raster, raster};
use super::totals::ColumnTotals;
use crate::{Palette, View};
use oomscope_model::Timeline;

/// A finished picture of a view of the timeline.
#[derive(Debug, Clone)]
pub struct TimelineRaster {
    /// The view that it shows.
    pub view: View,
    /// The pixels.
    pub raster: Raster,
    /// The totals of its columns.
    pub totals: ColumnTotals,
}

impl TimelineRaster {
    /// Paint a view.
    pub fn paint(
        timeline: &Timeline,
        view: &View,
        size_px: [usize; 2],
        palette: &Palette,
        bands: &impl Bands,
    ) -> Self {
        let paint = || raster(timeline, view, size_px, palette, bands);
        let total = || ColumnTotals::of_view(timeline, view, size_px[0]);
        let (raster, totals) = rayon::join(paint, total);
        Self { view: *view, raster, totals }
    }
}
