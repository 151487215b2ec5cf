//! Which memory came first, as far as addresses tell: some drivers hand out rising addresses, most
//! devices falling ones. Within a segment the allocator always starts at its lowest address.

use crate::model::{Block, Moment, Segment, Timeline};
use std::cmp::Reverse;

/// The order in which the driver handed out the segments of a device.
#[derive(Debug, Default)]
pub(in crate::analysis) struct AddressOrder {
    falls: bool,
    /// Where the segments start, rising.
    starts: Vec<u64>,
}

/// Older memory has a lower key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analysis) struct AddressKey(Reverse<u64>, u64);

impl AddressOrder {
    /// Find out by the segments that were made within the recording, else by which end is empty. Where
    /// nothing shows it, addresses count as rising.
    pub(in crate::analysis) fn of(timeline: &Timeline) -> Self {
        let mut segments: Vec<&Segment> = timeline.segments.segments.iter().collect();
        segments.sort_by_key(|segment| segment.addr);
        let starts = segments.iter().map(|segment| segment.addr).collect();
        // Expandable segments grow upwards within one range of addresses.
        let falls = !segments.iter().any(|segment| segment.is_expandable)
            && made_falling(timeline).unwrap_or_else(|| is_empty_below(timeline, &segments));
        Self { falls, starts }
    }

    /// A key by which older addresses come first.
    pub(in crate::analysis) fn key(&self, addr: u64) -> AddressKey {
        if !self.falls {
            return AddressKey(Reverse(0), addr);
        }
        let after = self.starts.partition_point(|&start| start <= addr);
        let start = after.checked_sub(1).and_then(|at| self.starts.get(at));
        AddressKey(Reverse(start.copied().unwrap_or(addr)), addr)
    }
}

/// Whether segments that follow one another in the recording mostly have lower addresses; `None` where
/// that does not show.
fn made_falling(timeline: &Timeline) -> Option<bool> {
    let made = timeline.ranges.all().iter().filter(|range| range.start != Moment::START);
    let mut made: Vec<(Moment, u64)> = made.map(|range| (range.start, range.addr)).collect();
    made.sort_unstable();
    let falls = made.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let rises = made.len().saturating_sub(1) - falls;
    (falls != rises).then_some(rises < falls)
}

/// Whether the lowest segment is empty and the highest is not. The first one that a program makes holds its
/// parameters for as long as it runs, so it is never empty.
fn is_empty_below(timeline: &Timeline, segments: &[&Segment]) -> bool {
    let is_used = |segment: &&Segment| timeline.segments.blocks_of(segment).iter().any(Block::is_active);
    match segments {
        [lowest, .., highest] => !is_used(lowest) && is_used(highest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::flow::fixture::state;

    const MIB: i64 = 1 << 20;
    const PARAMETERS: &[i64] = &[6 * MIB, 14 * MIB];
    const STATE: &[i64] = &[-8 * MIB, 12 * MIB];
    const EMPTY: &[i64] = &[-40 * MIB];

    /// The segments of a state from the oldest on, by where they lie among rising addresses.
    fn order(segments: &[&[i64]]) -> Vec<usize> {
        let timeline = &state(segments).timelines[0];
        let order = AddressOrder::of(timeline);
        let mut by_age: Vec<usize> = (0..segments.len()).collect();
        by_age.sort_by_key(|&at| order.key(timeline.segments.segments[at].addr));
        by_age
    }

    #[test]
    fn the_end_that_is_empty_is_the_younger_one() {
        assert_eq!(order(&[PARAMETERS, PARAMETERS, EMPTY, STATE, EMPTY]), [0, 1, 2, 3, 4]);
        assert_eq!(order(&[EMPTY, STATE, EMPTY, PARAMETERS, PARAMETERS]), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn where_nothing_shows_it_addresses_rise() {
        assert!(order(&[]).is_empty());
        assert_eq!(order(&[PARAMETERS, STATE]), [0, 1]);
        assert_eq!(order(&[EMPTY, PARAMETERS, EMPTY]), [0, 1, 2]);
    }

    #[test]
    fn within_a_segment_addresses_rise_in_any_case() {
        let timeline = &state(&[EMPTY, PARAMETERS, PARAMETERS]).timelines[0];
        let order = AddressOrder::of(timeline);
        let keys: Vec<AddressKey> =
            timeline.segments.blocks.iter().map(|block| order.key(block.addr)).collect();
        let mut by_age: Vec<usize> = (0..keys.len()).collect();
        by_age.sort_by_key(|&at| keys[at]);
        assert_eq!(by_age, [3, 4, 1, 2, 0]);
    }
}
