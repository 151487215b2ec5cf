//! Reserved memory over time: the address ranges that the driver has given out, with their first and last
//! moments.

use super::runs::Runs;
use super::{Action, Anomalies, Anomaly, Bytes, EventIx, EventTable, Moment, PoolKey, SegmentTable};
use std::collections::BTreeMap;

/// An address range that was reserved from one moment to another: a segment, or pages of an
/// expandable segment that were mapped and unmapped together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservedRange {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes.
    pub size: Bytes,
    /// First moment at which it is reserved.
    pub start: Moment,
    /// First moment at which it is gone; `None` if it survives the trace.
    pub end: Option<Moment>,
    /// The stream that it serves; `None` if it was not recorded.
    pub stream: Option<i64>,
    /// The pool that owns it; `None` if it was not recorded.
    pub pool: Option<PoolKey>,
    /// True if it is part of an expandable segment.
    pub is_expandable: bool,
}

impl ReservedRange {
    /// True if the range is reserved at a moment.
    pub fn is_live_at(&self, moment: Moment) -> bool {
        self.start <= moment && self.end.is_none_or(|end| moment < end)
    }

    /// True if an address lies in the range.
    pub fn contains(&self, addr: u64) -> bool {
        self.addr <= addr && addr < self.past_end()
    }

    /// The first address after the range.
    pub fn past_end(&self) -> u64 {
        // Addresses and sizes come from the file: the sum may exceed 64 bits.
        self.addr.saturating_add(self.size.as_u64())
    }
}

/// All ranges of a trace, ordered by start, then address.
#[derive(Debug, Default)]
pub struct ReservedRanges {
    ranges: Vec<ReservedRange>,
}

impl ReservedRanges {
    /// Undo the segment events from the final segments.
    pub(super) fn build(events: &EventTable, segments: &SegmentTable) -> (Self, Anomalies) {
        let mut undo = Undo::default();
        for s in &segments.segments {
            undo.appear(ReservedRange {
                addr: s.addr,
                size: s.size,
                start: Moment::START,
                end: None,
                stream: s.stream,
                pool: s.pool,
                is_expandable: s.is_expandable,
            });
        }
        undo.all(events)
    }

    /// Undo the segment events of a trace whose final segments are unknown, from the ranges that the events
    /// alone leave behind.
    pub(super) fn build_from_trace(events: &EventTable) -> (Self, Anomalies) {
        let mut undo = Undo::default();
        for ix in events.indices() {
            let Some((comes, range)) = change(events, ix) else { continue };
            // Contradictions are counted on the way back only, so that none counts twice.
            undo.take(&range);
            if comes && 0 < range.size {
                undo.present.insert(range.addr, ReservedRange { end: None, ..range });
            }
        }
        undo.all(events)
    }

    /// Number of allocations that do not lie in what is reserved at their time.
    pub(super) fn allocs_outside(&self, events: &EventTable) -> u64 {
        let mut reserved = Runs::default();
        self.live_at(Moment::START).for_each(|range| reserved.add(range.addr, range.past_end()));
        let mut outside = 0;
        for ix in events.indices() {
            match change(events, ix) {
                Some((true, range)) => reserved.add(range.addr, range.past_end()),
                Some((false, range)) => reserved.remove(range.addr, range.past_end()),
                None if events.action(ix) == Action::Alloc => {
                    let addr = events.addr(ix).unwrap_or_default();
                    let past_end = addr.saturating_add(events.size(ix).as_u64());
                    outside += u64::from(!reserved.holds(addr, past_end));
                }
                None => {}
            }
        }
        outside
    }

    /// What is known of them at a moment: later ones are not there yet, and none that is there has an end.
    pub(super) fn until(&self, moment: Moment) -> Self {
        let until = self.ranges.partition_point(|range| range.start <= moment);
        let known =
            |&range: &ReservedRange| ReservedRange { end: range.end.filter(|&end| end <= moment), ..range };
        Self { ranges: self.ranges[..until].iter().map(known).collect() }
    }

    /// The ranges, by start, then address.
    pub fn all(&self) -> &[ReservedRange] {
        &self.ranges
    }

    /// The ranges that are reserved at a moment, by start, then address.
    pub fn live_at(&self, moment: Moment) -> impl Iterator<Item = &ReservedRange> + '_ {
        let until = self.ranges.partition_point(|range| range.start <= moment);
        self.ranges[..until].iter().filter(move |range| range.is_live_at(moment))
    }
}

/// The range of a segment event, and true if it comes, false if it goes. `None` for other events.
fn change(events: &EventTable, ix: EventIx) -> Option<(bool, ReservedRange)> {
    let (comes, is_expandable) = match events.action(ix) {
        Action::SegmentAlloc => (true, false),
        Action::SegmentFree => (false, false),
        Action::SegmentMap => (true, true),
        Action::SegmentUnmap => (false, true),
        _ => return None,
    };
    let range = ReservedRange {
        addr: events.addr(ix).unwrap_or_default(),
        size: events.size(ix),
        start: Moment::START,
        end: Some(Moment::after(ix)),
        stream: events.stream(ix),
        pool: events.pool(ix),
        is_expandable,
    };
    Some((comes, range))
}

/// The state while events are undone.
#[derive(Default)]
struct Undo {
    /// The ranges that are reserved after the events that are left, by address. They do not overlap.
    present: BTreeMap<u64, ReservedRange>,
    /// The ranges with a known start.
    done: Vec<ReservedRange>,
    anomalies: Anomalies,
}

impl Undo {
    /// Undo all events.
    fn all(mut self, events: &EventTable) -> (ReservedRanges, Anomalies) {
        for ix in events.indices().rev() {
            match change(events, ix) {
                Some((true, range)) => self.vanish(&range, Moment::after(ix)),
                Some((false, range)) => self.appear(range),
                None => {}
            }
        }
        self.done.extend(self.present.values());
        self.done.sort_by_key(|range| (range.start, range.addr));
        (ReservedRanges { ranges: self.done }, self.anomalies)
    }

    /// True if a range in `present` overlaps this one.
    fn overlaps(&self, range: &ReservedRange) -> bool {
        // Of ranges that do not overlap, the last to start reaches furthest.
        self.present
            .range(..range.past_end())
            .next_back()
            .is_some_and(|(_, before)| range.addr < before.past_end())
    }

    /// Undo the end of a range: it was there before.
    fn appear(&mut self, range: ReservedRange) {
        if range.size <= 0 || self.overlaps(&range) {
            self.anomalies.count(Anomaly::SegmentGoesButIsPresentAfter);
        } else {
            self.present.insert(range.addr, range);
        }
    }

    /// Undo the start of a range: it was not there before. It may be the middle of a range that is
    /// there now.
    fn vanish(&mut self, range: &ReservedRange, start: Moment) {
        let cuts = self.take(range);
        let found: Bytes = cuts.iter().map(|cut| cut.size).sum();
        self.done.extend(cuts.into_iter().map(|cut| ReservedRange { start, ..cut }));
        if found != range.size {
            self.anomalies.count(Anomaly::SegmentAppearsButIsAbsentAfter);
        }
    }

    /// Remove an address range from `present`, and return the removed pieces.
    fn take(&mut self, range: &ReservedRange) -> Vec<ReservedRange> {
        let mut cuts = Vec::new();
        let (from, to) = (range.addr, range.past_end());
        while let Some((&key, &held)) =
            self.present.range(..to).next_back().filter(|(_, held)| from < held.past_end())
        {
            self.present.remove(&key);
            let (cut_from, cut_to) = (from.max(held.addr), to.min(held.past_end()));
            let piece = |addr: u64, past_end: u64| {
                debug_assert!(addr <= past_end, "pieces lie within the range that they are cut from");
                ReservedRange { addr, size: Bytes::of_size(past_end - addr), ..held }
            };
            if held.addr < cut_from {
                self.present.insert(held.addr, piece(held.addr, cut_from));
            }
            if cut_to < held.past_end() {
                self.present.insert(cut_to, piece(cut_to, held.past_end()));
            }
            cuts.push(piece(cut_from, cut_to));
        }
        cuts
    }
}
