//! Gaps: the free stretch of reserved memory around an address.

use super::SegmentRows;
use oomscope_model::{Moment, ReservedRange, Timeline};

/// A stretch of reserved addresses without an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Its first address.
    pub addr: u64,
    /// The first address after it.
    pub past_end: u64,
    /// The reserved range that it lies in.
    pub range: ReservedRange,
}

impl Gap {
    /// Its bytes, with the rounding of the block before it.
    pub fn bytes(&self) -> u64 {
        self.past_end.saturating_sub(self.addr)
    }
}

/// The gap around an address at a moment; `None` if the address is in use or not reserved.
pub fn gap_at(timeline: &Timeline, rows: &SegmentRows, addr: u64, moment: Moment) -> Option<Gap> {
    let row = rows.row_at(addr)?;
    let range = rows.ranges(row, timeline).find(|range| range.is_live_at(moment) && range.contains(addr))?;
    let (mut low, mut high) = (range.addr, range.past_end());
    // For one address, a scan of the live allocations is fast enough and needs no index by address.
    for id in timeline.lifetimes.live_at(moment) {
        if rows.place(id, timeline).is_none_or(|place| place.row != row) {
            continue;
        }
        let start = timeline.addr(id);
        let bytes = timeline.size(id).as_u64();
        let end = start.saturating_add(bytes);
        if start <= addr && addr < end {
            return None;
        }
        if end <= addr {
            low = low.max(end);
        } else {
            high = high.min(start);
        }
    }
    Some(Gap { addr: low, past_end: high, range: *range })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step, address};

    #[test]
    fn a_gap_ends_at_its_neighbours_and_at_the_segment() {
        let mib = 1 << 20;
        let steps = [
            Step::Reserve(0, 8 * mib),
            Step::Alloc(1, mib),
            Step::Alloc(4, mib / 2),
            Step::Free(1, mib),
            Step::Release(0, 8 * mib),
        ];
        let timeline = fixture::timeline(&steps);
        let rows = SegmentRows::build(&timeline);
        let gap = |slot, moment| {
            let gap = gap_at(&timeline, &rows, address(slot), Moment(moment));
            gap.map(|gap| (gap.addr, gap.past_end))
        };
        assert_eq!(gap(0, 0), None);
        assert_eq!(gap(3, 1), Some((address(0), address(8))));
        assert_eq!(gap(1, 3), None);
        assert_eq!(gap(2, 3), Some((address(2), address(4))));
        assert_eq!(gap(2, 4), Some((address(0), address(4))));
        assert_eq!(gap(6, 4), Some((address(4) + (1 << 19), address(8))));
        assert_eq!(gap(6, 5), None);
        assert_eq!(gap(9, 4), None);
    }
}
