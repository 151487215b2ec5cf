//! Holes of reserved memory and the totals over time, on the axis of the timeline.

pub(in crate::app) mod panel;
mod sampling;
