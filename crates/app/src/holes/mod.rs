//! Holes of reserved memory and the totals over time, on the axis of the timeline.

pub(crate) mod panel;
mod plot;
mod sampling;
