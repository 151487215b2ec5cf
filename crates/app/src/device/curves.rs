//! The totals over time with few enough points to draw in every frame.

use egui_plot::PlotPoint;
use oomscope_draw::{decimate, totals};
use oomscope_model::Timeline;
use std::ops::Range;

/// Points of a curve: about as many as a wide window has columns of pixels.
const MAX_CURVE_POINTS: usize = 2000;

/// Decimated totals, by event.
pub(crate) struct Curves {
    pub(crate) allocated: Vec<PlotPoint>,
    pub(crate) reserved: Vec<PlotPoint>,
}

impl Curves {
    pub(super) fn new(timeline: &Timeline) -> Self {
        let points = |points: Vec<[f64; 2]>| points.into_iter().map(PlotPoint::from).collect();
        Self {
            allocated: points(decimate(&timeline.allocated, MAX_CURVE_POINTS)),
            reserved: maxima(timeline.moments(), |range| timeline.reserved.max_in(range).as_f64()),
        }
    }
}

/// The maximum of every range of moments, with few enough ranges to draw in every frame.
pub(crate) fn maxima(moments: usize, max_in: impl Fn(Range<usize>) -> f64) -> Vec<PlotPoint> {
    let ranges = totals::ranges(moments, MAX_CURVE_POINTS);
    ranges.map(|range| PlotPoint::new(range.start as f64, max_in(range))).collect()
}
