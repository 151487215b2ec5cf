//! The order in which memory was handed out, as far as addresses show it. Some drivers hand out segments
//! at rising addresses, most at falling ones. Within a segment the allocator always starts at its lowest
//! address.

use oomscope_model::allocator_sizes::SMALL_BUFFER;
use oomscope_model::{Bytes, Moment, Segment, Timeline};
use std::cmp::Reverse;

/// More than one in this number of active bytes must lie at the older end, before the first empty
/// segment. With Adam one byte in four is a parameter, and segments that loading left empty may lie
/// between parameters, so the bound is far below that. Where loading layer by layer left every second
/// segment empty, the ends show nothing.
const OLDER_END_SHARE: i64 = 32;

/// The order in which the driver handed out the segments of a device.
#[derive(Debug, Default)]
pub(crate) struct AddressOrder {
    /// True if addresses fall, for large and for small segments; `None` if nothing shows it.
    falls: [Option<bool>; 2],
    /// First address of each segment, ascending, and true for small ones.
    starts: Vec<(u64, bool)>,
}

/// A key of an address: older memory has a lower key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AddressKey(Reverse<u64>, u64);

impl AddressOrder {
    /// The order that the segments show which were made during the recording, or else the empty end of the
    /// address range. If nothing shows it, addresses count as rising.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut segments: Vec<&Segment> = timeline.segments.segments.iter().collect();
        segments.sort_by_key(|segment| segment.addr);
        let starts = segments.iter().map(|segment| (segment.addr, is_small(segment.size))).collect();
        let falls = [false, true].map(|small| {
            let of: Vec<&Segment> = segments.iter().copied().filter(|s| is_small(s.size) == small).collect();
            // Within a segment addresses rise, and expandable segments grow upwards within one address range.
            let rises = of.len() < 2 || of.iter().any(|segment| segment.is_expandable);
            let falls = if rises { Some(false) } else { made_falling(timeline, small) };
            falls.or_else(|| is_empty_below(timeline, &of))
        });
        Self { falls, starts }
    }

    /// True if the recording shows the order of large segments, which hold nearly all bytes.
    pub(crate) fn is_shown(&self) -> bool {
        let has_large = self.starts.iter().any(|&(_, small)| !small);
        self.falls[usize::from(!has_large)].is_some()
    }

    /// The key of an address. Keys of small segments can only be compared with each other, and so can
    /// those of large ones.
    pub(crate) fn key(&self, addr: u64) -> AddressKey {
        let after = self.starts.partition_point(|&(start, _)| start <= addr);
        let (start, small) =
            after.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or((addr, false));
        if self.falls[usize::from(small)] == Some(true) {
            AddressKey(Reverse(start), addr)
        } else {
            AddressKey(Reverse(0), addr)
        }
    }
}

/// True if a segment of this size in bytes holds small blocks. Drivers may hand out small segments in another
/// direction than larger ones.
fn is_small(size: Bytes) -> bool {
    size <= SMALL_BUFFER
}

/// True if most segments of a size class have a lower address than the one made before them; `None` if
/// neither direction prevails.
fn made_falling(timeline: &Timeline, small: bool) -> Option<bool> {
    let made = timeline.ranges.all().iter();
    let made = made.filter(|range| range.start != Moment::START && is_small(range.size) == small);
    let mut made: Vec<(Moment, u64)> = made.map(|range| (range.start, range.addr)).collect();
    made.sort_unstable();
    let falls = made.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let rises = made.len().saturating_sub(1) - falls;
    (falls != rises).then_some(rises < falls)
}

/// True if addresses fall, as far as empty segments show it; `None` if they do not. Parameters are made
/// before anything is freed, and stay. So the older end begins with segments that are in use, and the
/// younger end with an empty segment.
fn is_empty_below(timeline: &Timeline, segments: &[&Segment]) -> Option<bool> {
    fn used<'a>(timeline: &Timeline, segments: impl Iterator<Item = &'a &'a Segment>) -> Bytes {
        let active = segments.map(|segment| {
            let blocks = timeline.segments.blocks_of(segment).iter();
            blocks.filter(|block| block.is_active()).map(|block| block.size).sum::<Bytes>()
        });
        active.take_while(|&bytes| 0 < bytes).sum::<Bytes>()
    }
    let active = timeline.segments.blocks.iter().filter(|block| block.is_active());
    let enough = active.map(|block| block.size).sum::<Bytes>() / OLDER_END_SHARE;
    match (used(timeline, segments.iter()), used(timeline, segments.iter().rev())) {
        (Bytes::ZERO, high) if enough < high => Some(true),
        (low, Bytes::ZERO) if enough < low => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::programs::state;

    const MIB: i64 = 1 << 20;
    const PARAMETERS: &[i64] = &[6 * MIB, 14 * MIB];
    const STATE: &[i64] = &[-8 * MIB, 12 * MIB];
    const EMPTY: &[i64] = &[-40 * MIB];

    /// The segments of a state from the oldest on, by where they lie among rising addresses.
    fn order(segments: &[&[i64]]) -> Vec<usize> {
        let recording = state(segments);
        let order = AddressOrder::of(&recording);
        let mut by_age: Vec<usize> = (0..segments.len()).collect();
        by_age.sort_by_key(|&at| order.key(recording.segments.segments[at].addr));
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
        let recording = state(&[EMPTY, PARAMETERS, PARAMETERS]);
        let order = AddressOrder::of(&recording);
        let keys: Vec<AddressKey> =
            recording.segments.blocks.iter().map(|block| order.key(block.addr)).collect();
        let mut by_age: Vec<usize> = (0..keys.len()).collect();
        by_age.sort_by_key(|&at| keys[at]);
        assert_eq!(by_age, [3, 4, 1, 2, 0]);
    }
}
