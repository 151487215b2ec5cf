//! The rows of the segment timeline, and the place of every allocation in them.
//!
//! A row is an address range that segments share over the recording: a segment that was freed and one
//! that was reserved later at the same addresses have one row, and so have all parts of an expandable
//! segment. Segments that merely touch have rows of their own.

use oomscope_model::{AllocId, Bytes, Moment, Origin, PoolKey, ReservedRange, Timeline};
use std::cmp::Reverse;
use std::ops::Range;

/// A property of a row's segments, which may differ among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared<T> {
    /// It was not recorded.
    Unknown,
    /// One value.
    One(T),
    /// Different values at different times or addresses.
    Several,
}

impl<T: Copy + Eq> Shared<T> {
    fn of(values: impl IntoIterator<Item = Option<T>>) -> Self {
        let known = values.into_iter().flatten();
        known.fold(Self::Unknown, |so_far, value| match so_far {
            Self::Unknown => Self::One(value),
            Self::One(other) if other == value => so_far,
            Self::One(_) | Self::Several => Self::Several,
        })
    }
}

/// A row: an address range that was reserved at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// Lowest address.
    pub addr: u64,
    /// Bytes from the lowest to the highest address.
    pub size_bytes: u64,
    /// Most bytes that were reserved at a time.
    pub reserved_bytes: Bytes,
    /// Most requested bytes that were active at a time.
    pub active_bytes: Bytes,
    /// The stream that it serves.
    pub stream: Shared<i64>,
    /// The pool that owns it.
    pub pool: Shared<PoolKey>,
    /// True if any part belongs to an expandable segment.
    pub is_expandable: bool,
    /// Number of allocations that were ever made in it.
    pub allocations: usize,
    ranges: Range<usize>,
}

/// The order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// Most reserved bytes first.
    #[default]
    Reserved,
    /// Lowest address first.
    Address,
    /// Most active bytes first.
    Active,
}

/// The place of an allocation: the start of its memory in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowOffset {
    /// Its row.
    pub row: u32,
    /// Bytes from the row's lowest address.
    pub offset: u64,
}

impl RowOffset {
    /// Stands for an address in no row.
    const OUTSIDE: Self = Self { row: u32::MAX, offset: 0 };

    fn known(self) -> Option<Self> {
        (self != Self::OUTSIDE).then_some(self)
    }
}

/// The rows of a timeline, by address, and the places of its allocations.
#[derive(Debug, Default)]
pub struct SegmentRows {
    rows: Vec<SegmentRow>,
    /// Indices of the timeline's reserved ranges, row by row, each row's by start.
    ranges: Vec<u32>,
    /// The place of every address, by its id. Addresses are reused, so there are fewer than allocations.
    places: Vec<RowOffset>,
    /// The places of the allocations from before the first event, by id.
    initial: Vec<RowOffset>,
    /// Number of allocations in no row.
    outside: usize,
}

impl SegmentRows {
    /// Find the rows, and the place of every address.
    pub fn build(timeline: &Timeline) -> Self {
        let (events, lifetimes) = (&timeline.events, &timeline.lifetimes);
        let (rows, ranges) = group(timeline.ranges.all());
        let place = |addr: u64| place_in(&rows, addr);
        let ids = 0..events.address_count() as u32;
        let places = ids.map(|id| place(events.address(oomscope_model::AddrId(id)))).collect();
        let initial = (0..lifetimes.initial_count() as u32).map(|id| place(timeline.addr(AllocId(id))));
        let initial = initial.collect();
        let mut out = Self { rows, ranges, places, initial, outside: 0 };
        out.count(timeline);
        out
    }

    /// The rows, lowest address first.
    pub fn rows(&self) -> &[SegmentRow] {
        &self.rows
    }

    /// Number of allocations that lie in none of the known segments.
    pub fn outside(&self) -> usize {
        self.outside
    }

    /// The place of an allocation; `None` if it lies in none of the known segments.
    #[inline]
    pub fn place(&self, id: AllocId, timeline: &Timeline) -> Option<RowOffset> {
        let place = match timeline.lifetimes.origin(id) {
            Origin::Before => self.initial.get(id.index()),
            Origin::Event(ix) => self.places.get(timeline.events.addr_id(ix).index()),
        };
        place.copied().and_then(RowOffset::known)
    }

    /// The row of an address; `None` if it was never reserved.
    pub fn row_at(&self, addr: u64) -> Option<u32> {
        place_in(&self.rows, addr).known().map(|place| place.row)
    }

    /// The reserved ranges of a row, by start.
    pub fn ranges<'a>(&'a self, row: u32, timeline: &'a Timeline) -> impl Iterator<Item = &'a ReservedRange> {
        let of_row = self.rows.get(row as usize).map_or(0..0, |row| row.ranges.clone());
        let all = timeline.ranges.all();
        self.ranges[of_row].iter().filter_map(|&i| all.get(i as usize))
    }

    /// The indices of the rows in an order.
    pub fn sorted(&self, order: RowOrder) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.rows.len() as u32).collect();
        let row = |i: &u32| &self.rows[*i as usize];
        match order {
            RowOrder::Address => {}
            RowOrder::Reserved => sorted.sort_by_key(|i| Reverse(row(i).reserved_bytes)),
            RowOrder::Active => sorted.sort_by_key(|i| Reverse(row(i).active_bytes)),
        }
        sorted
    }

    /// Count the allocations of each row and its most active bytes, in one pass over the moments.
    fn count(&mut self, timeline: &Timeline) {
        let lifetimes = &timeline.lifetimes;
        // An event ends at most one allocation.
        let mut ended = vec![u32::MAX; timeline.moments()];
        for id in 0..lifetimes.len() as u32 {
            if let Some(end) = lifetimes.end(AllocId(id)) {
                debug_assert!(end.index() < ended.len(), "an allocation ends with an event");
                if let Some(slot) = ended.get_mut(end.index()) {
                    *slot = id;
                }
            }
        }
        let mut active = vec![Bytes::ZERO; self.rows.len()];
        let mut next = 0;
        for (moment, &ended) in (0..).map(Moment).zip(&ended) {
            // An event may end one allocation and start another at the same address: the end comes first.
            if ended != u32::MAX
                && let Some(place) = self.place(AllocId(ended), timeline)
            {
                let held = &mut active[place.row as usize];
                *held -= timeline.size(AllocId(ended));
            }
            while next < lifetimes.len() && lifetimes.start(AllocId(next as u32)) <= moment {
                let id = AllocId(next as u32);
                next += 1;
                let Some(place) = self.place(id, timeline) else {
                    self.outside += 1;
                    continue;
                };
                let (row, held) = (&mut self.rows[place.row as usize], &mut active[place.row as usize]);
                *held += timeline.size(id);
                row.active_bytes = row.active_bytes.max(*held);
                row.allocations += 1;
            }
        }
    }
}

/// The place of an address in rows, which are ordered by address.
fn place_in(rows: &[SegmentRow], addr: u64) -> RowOffset {
    // Rows do not overlap, so only the last that starts at or before the address can hold it.
    let after = rows.partition_point(|row| row.addr <= addr);
    let found = after.checked_sub(1).map(|at| (at, addr - rows[at].addr));
    let inside = found.filter(|&(at, offset)| offset < rows[at].size_bytes);
    inside.map_or(RowOffset::OUTSIDE, |(at, offset)| RowOffset { row: at as u32, offset })
}

/// The rows of ranges: those that overlap, or are parts of one expandable segment, share a row. Also returns
/// the indices of the ranges, row by row.
fn group(all: &[ReservedRange]) -> (Vec<SegmentRow>, Vec<u32>) {
    let mut by_addr: Vec<u32> = (0..all.len() as u32).collect();
    by_addr.sort_by_key(|&i| all[i as usize].addr);
    let mut groups: Vec<(Range<usize>, Tail)> = Vec::new();
    for (at, &i) in by_addr.iter().enumerate() {
        let range = &all[i as usize];
        match groups.last_mut() {
            Some((members, tail)) if tail.is_joined_by(range) => {
                members.end = at + 1;
                tail.extend(range);
            }
            _ => groups
                .push((at..at + 1, Tail { past_end: range.past_end(), is_expandable: range.is_expandable })),
        }
    }
    let mut rows = Vec::with_capacity(groups.len());
    for (members, tail) in groups {
        let of_row = &mut by_addr[members.clone()];
        let addr = of_row.first().map_or(0, |&i| all[i as usize].addr);
        // Indices of ranges are in the order of their starts.
        of_row.sort_unstable();
        let ranges = || of_row.iter().map(|&i| &all[i as usize]);
        rows.push(SegmentRow {
            addr,
            size_bytes: tail.past_end - addr,
            reserved_bytes: most_reserved(ranges()),
            active_bytes: Bytes::ZERO,
            stream: Shared::of(ranges().map(|range| range.stream)),
            pool: Shared::of(ranges().map(|range| range.pool)),
            is_expandable: ranges().any(|range| range.is_expandable),
            allocations: 0,
            ranges: members,
        });
    }
    (rows, by_addr)
}

/// The high end of a row in progress.
struct Tail {
    past_end: u64,
    is_expandable: bool,
}

impl Tail {
    /// True if the next range by address belongs to the row. Only pages of an expandable segment are
    /// mapped side by side and yet one.
    fn is_joined_by(&self, next: &ReservedRange) -> bool {
        let touches = next.addr == self.past_end && next.is_expandable && self.is_expandable;
        next.addr < self.past_end || touches
    }

    fn extend(&mut self, next: &ReservedRange) {
        let past_end = next.past_end();
        if self.past_end < past_end {
            *self = Self { past_end, is_expandable: next.is_expandable };
        } else if self.past_end == past_end {
            self.is_expandable |= next.is_expandable;
        }
    }
}

/// The most bytes of ranges that are reserved at a time.
fn most_reserved<'a>(ranges: impl Iterator<Item = &'a ReservedRange>) -> Bytes {
    let mut changes: Vec<(Moment, Bytes)> = Vec::new();
    for range in ranges {
        changes.push((range.start, range.size));
        changes.extend(range.end.map(|end| (end, -range.size)));
    }
    // Within a moment, negative changes come first: what goes away makes room for what comes.
    changes.sort_unstable();
    let (mut now, mut most) = (Bytes::ZERO, Bytes::ZERO);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step, address};
    use proptest::prelude::*;

    const MIB: i64 = 1 << 20;

    fn rows(steps: &[Step]) -> (Timeline, SegmentRows) {
        let timeline = fixture::timeline(steps);
        let rows = SegmentRows::build(&timeline);
        (timeline, rows)
    }

    #[test]
    fn a_place_that_is_reserved_again_is_one_row() {
        let (timeline, rows) = rows(&[
            Step::Reserve(0, 4 * MIB),
            Step::Release(0, 4 * MIB),
            Step::Reserve(2, 3 * MIB),
            Step::Alloc(3, 1000),
        ]);
        let [row] = rows.rows() else { panic!("expected one row, found {:?}", rows.rows()) };
        assert_eq!((row.addr, row.size_bytes, row.reserved_bytes.0), (address(0), 5 << 20, 4 * MIB));
        assert_eq!((row.active_bytes.0, row.allocations), (1000, 1));
        assert_eq!(rows.ranges(0, &timeline).count(), 2);
        let place = rows.place(AllocId(0), &timeline);
        assert_eq!(place, Some(RowOffset { row: 0, offset: 3 << 20 }));
    }

    #[test]
    fn segments_that_touch_are_rows_of_their_own() {
        let (_, rows) = rows(&[Step::Reserve(0, 2 * MIB), Step::Reserve(2, 2 * MIB)]);
        assert_eq!(rows.rows().len(), 2);
        assert_eq!(rows.row_at(address(2) - 1), Some(0));
        assert_eq!(rows.row_at(address(2)), Some(1));
        assert_eq!(rows.row_at(address(4)), None);
    }

    #[test]
    fn an_expandable_segment_is_one_row() {
        let (_, rows) = rows(&[
            Step::Map(0, 2 * MIB),
            Step::Map(2, 2 * MIB),
            Step::Map(4, 6 * MIB),
            Step::Unmap(2, 4 * MIB),
        ]);
        let [row] = rows.rows() else { panic!("expected one row, found {:?}", rows.rows()) };
        assert_eq!((row.size_bytes, row.reserved_bytes.0), (10 << 20, 10 * MIB));
        assert!(row.is_expandable);
    }

    #[test]
    fn allocations_outside_of_all_segments_are_counted() {
        let (timeline, rows) = rows(&[Step::Reserve(0, MIB), Step::Alloc(0, 10), Step::Alloc(7, 10)]);
        assert_eq!(rows.outside(), 1);
        assert_eq!(rows.place(AllocId(1), &timeline), None);
    }

    #[test]
    fn rows_are_sorted_by_what_is_asked() {
        let (_, rows) = rows(&[
            Step::Reserve(0, MIB),
            Step::Reserve(4, 4 * MIB),
            Step::Reserve(9, 2 * MIB),
            Step::Alloc(9, 900_000),
            Step::Alloc(0, 100),
        ]);
        assert_eq!(rows.sorted(RowOrder::Address), [0, 1, 2]);
        assert_eq!(rows.sorted(RowOrder::Reserved), [1, 2, 0]);
        assert_eq!(rows.sorted(RowOrder::Active), [2, 0, 1]);
    }

    #[test]
    fn what_differs_within_a_row_is_not_made_up() {
        assert_eq!(Shared::of([None, Some(7), Some(7)]), Shared::One(7));
        assert_eq!(Shared::of([Some(7), None, Some(8)]), Shared::Several);
        assert_eq!(Shared::<i64>::of([None, None]), Shared::Unknown);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn rows_are_the_unions_of_what_overlaps(raw in proptest::collection::vec((0u64..10_000, 1i64..1_000_000), 1..200)) {
            let (timeline, rows) = rows(&fixture::segments_and_blocks(&raw));
            let all = timeline.ranges.all();
            // Two ranges are in one row if and only if a chain of overlaps leads from one to the other.
            let row_of = |range: &ReservedRange| rows.row_at(range.addr).expect("a range has a row");
            let mut chain: Vec<usize> = (0..all.len()).collect();
            for _ in 0..all.len() {
                for (i, a) in all.iter().enumerate() {
                    for (j, b) in all.iter().enumerate() {
                        if a.addr < b.past_end() && b.addr < a.past_end() {
                            let low = chain[i].min(chain[j]);
                            (chain[i], chain[j]) = (low, low);
                        }
                    }
                }
            }
            for (i, a) in all.iter().enumerate() {
                for (j, b) in all.iter().enumerate() {
                    prop_assert_eq!(row_of(a) == row_of(b), chain[i] == chain[j]);
                }
            }
            for (i, row) in (0..).zip(rows.rows()) {
                let naive = |m: u32| rows.ranges(i, &timeline).filter(|r| r.is_live_at(Moment(m))).map(|r| r.size).sum::<Bytes>();
                prop_assert_eq!((0..timeline.moments() as u32).map(naive).max(), Some(row.reserved_bytes));
                let inside = |id: &AllocId| rows.place(*id, &timeline).is_some_and(|place| place.row == i);
                let active = |m: u32| timeline.lifetimes.live_at(Moment(m)).filter(inside).map(|id| timeline.size(id)).sum::<Bytes>();
                prop_assert_eq!((0..timeline.moments() as u32).map(active).max(), Some(row.active_bytes));
            }
        }

        #[test]
        fn places_lead_back_to_addresses(raw in proptest::collection::vec((0u64..10_000, 1i64..1_000_000), 1..200)) {
            let (timeline, rows) = rows(&fixture::segments_and_blocks(&raw));
            prop_assert_eq!(rows.outside(), 0);
            for id in timeline.ids() {
                let place = rows.place(id, &timeline).expect("blocks lie in segments");
                let addr = timeline.addr(id);
                prop_assert_eq!(rows.rows()[place.row as usize].addr + place.offset, addr);
            }
        }
    }
}
