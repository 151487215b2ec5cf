//! The events and allocations of a device that are kept.

use oomscope_analysis::filter::Matches;
use oomscope_model::{Moment, Timeline};
use std::ops::Range;

/// What is kept of one device.
#[derive(Debug)]
pub struct DeviceRange<'a> {
    /// The device.
    pub timeline: &'a Timeline,
    /// The events that are kept.
    pub events: Range<u32>,
    /// The allocations that are kept; `None` for all.
    pub matches: Option<Matches>,
}

impl DeviceRange<'_> {
    /// The moment after the last event of the range.
    pub(super) fn end(&self) -> Moment {
        Moment(self.events.end)
    }

    /// True if all events are kept.
    pub(super) fn is_whole(&self) -> bool {
        self.events == (0..self.timeline.events.len() as u32)
    }
}
