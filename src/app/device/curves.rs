//! The totals over time with few enough points to draw in every frame.

use crate::draw::{decimate, totals};
use crate::model::Timeline;
use egui_plot::PlotPoint;

/// Points of a curve: more than most windows have columns.
const MAX_CURVE_POINTS: usize = 2000;

/// Decimated totals, by event.
pub(in crate::app) struct Curves {
    pub(in crate::app) active: Vec<PlotPoint>,
    pub(in crate::app) allocated: Vec<PlotPoint>,
    pub(in crate::app) reserved: Vec<PlotPoint>,
}

impl Curves {
    pub(super) fn new(timeline: &Timeline) -> Self {
        let points = |points: Vec<[f64; 2]>| points.into_iter().map(PlotPoint::from).collect();
        let reserved = totals::ranges(timeline.moments(), MAX_CURVE_POINTS);
        Self {
            active: points(decimate(&timeline.active, MAX_CURVE_POINTS)),
            allocated: points(decimate(&timeline.allocated, MAX_CURVE_POINTS)),
            reserved: reserved
                .map(|range| PlotPoint::new(range.start as f64, timeline.reserved.max_in(range) as f64))
                .collect(),
        }
    }
}
