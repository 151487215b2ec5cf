//! The events and allocations of a device that are kept.

use oomscope_analysis::filter::Matches;
use oomscope_model::{Moment, Recording};
use std::ops::Range;

/// What is kept of one device.
#[derive(Debug)]
pub struct DeviceRange {
    /// The device.
    pub recording: Recording,
    /// The events that are kept.
    pub events: Range<u32>,
    /// The allocations that are kept; `None` for all.
    pub matches: Option<Matches>,
}

impl DeviceRange {
    /// The moment after the last event of the range.
    pub(super) fn end(&self) -> Moment {
        Moment(self.events.end)
    }

    /// True if the last event is kept.
    pub(super) fn is_to_end(&self) -> bool {
        self.events.end as usize == self.recording.events.len()
    }

    /// True if all events are kept.
    pub(super) fn is_whole(&self) -> bool {
        self.events == (0..self.recording.events.len() as u32)
    }
}
