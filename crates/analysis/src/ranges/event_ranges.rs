//! Sets of events as ranges, for sets that hold long runs of events.

use oomscope_model::{Bytes, Moment, Timeline};

/// Events as ranges that ascend and neither touch nor overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventRanges {
    /// The first event of each range, and the one after its last.
    ranges: Vec<[u32; 2]>,
}

impl EventRanges {
    /// The events of some ranges, in any order. Each is its first event and the one after its last.
    pub(crate) fn new(mut ranges: Vec<[u32; 2]>) -> Self {
        ranges.retain(|range| range[0] < range[1]);
        ranges.sort_unstable();
        let mut merged: Vec<[u32; 2]> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut().filter(|last| range[0] <= last[1]) {
                Some(last) => last[1] = last[1].max(range[1]),
                None => merged.push(range),
            }
        }
        Self { ranges: merged }
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, ascending: the first event of each, and the one after its last.
    pub fn all(&self) -> &[[u32; 2]] {
        &self.ranges
    }

    /// Whether an event is in the set. Numbers below 0 stand for no event.
    #[inline]
    pub fn contains(&self, event: i64) -> bool {
        let after = self.ranges.partition_point(|range| i64::from(range[0]) <= event);
        after.checked_sub(1).is_some_and(|at| event < i64::from(self.ranges[at][1]))
    }

    /// The first moment after one of the events at which most bytes are active, and how many. `None` without events.
    pub fn peak(&self, timeline: &Timeline) -> Option<(Moment, Bytes)> {
        let peaks = self.ranges.iter();
        let peaks =
            peaks.filter_map(|range| timeline.active.peak_in(range[0] as usize + 1..range[1] as usize + 1));
        // Of equal ones, the first.
        peaks.reduce(|best, next| if best.1 < next.1 { next } else { best })
    }
}
