//! A part of the recording between two moments, and its allocations in figures.

use oomscope_model::{AllocId, Moment, Timeline};
use std::ops::Range;

/// The part of a recording between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MomentRange {
    /// The state before its first event.
    pub from: Moment,
    /// The state after its last event.
    pub to: Moment,
}

impl MomentRange {
    /// The range between two moments in either order; `None` if they are the same, as no event is between them.
    pub fn between(a: Moment, b: Moment) -> Option<Self> {
        (a != b).then(|| Self { from: a.min(b), to: a.max(b) })
    }

    /// Its events by number.
    pub fn events(self) -> Range<u32> {
        self.from.0..self.to.0
    }

    /// The filter that keeps what was allocated in it.
    pub fn query(self) -> String {
        format!("event:{}..{}", self.from.0, self.to.0.saturating_sub(1))
    }
}

/// Some allocations in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Requested bytes. They are exact: sums of 64 bits would end at their limits.
    pub bytes: i128,
    /// Their number.
    pub count: u64,
}

impl Amount {
    /// Add other allocations.
    pub(crate) fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
    }
}

/// The changes that the events of a range made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RangeSums {
    /// Allocated within the range, freed or not.
    pub allocated: Amount,
    /// Of these, still live at the end of the range.
    pub kept: Amount,
    /// Live at the start of the range and freed within it.
    pub gone: Amount,
}

impl RangeSums {
    /// Everything that was freed within the range, also if it was allocated there.
    pub fn freed(&self) -> Amount {
        Amount {
            bytes: self.allocated.bytes.saturating_sub(self.kept.bytes).saturating_add(self.gone.bytes),
            count: self.allocated.count.saturating_sub(self.kept.count).saturating_add(self.gone.count),
        }
    }

    /// Live bytes at the end of the range, less those at its start.
    pub fn net_bytes(&self) -> i128 {
        self.kept.bytes.saturating_sub(self.gone.bytes)
    }

    /// Add the changes of other allocations.
    pub fn add(&mut self, other: &Self) {
        self.allocated.add(other.allocated);
        self.kept.add(other.kept);
        self.gone.add(other.gone);
    }
}

/// The changes of a range by group, of which there are `groups`. Takes one pass over what was allocated in the range and
/// what was live at its start.
pub fn range_sums(
    timeline: &Timeline,
    range: MomentRange,
    groups: usize,
    group_of: impl Fn(AllocId) -> usize,
) -> Vec<RangeSums> {
    let lifetimes = &timeline.lifetimes;
    let mut sums = vec![RangeSums::default(); groups];
    let survives = |id| lifetimes.end(id).is_none_or(|end| range.to < end);
    let mut add = |id, is_new: bool| {
        let one = Amount { bytes: i128::from(timeline.size(id)), count: 1 };
        let Some(sum) = sums.get_mut(group_of(id)) else { return };
        if !is_new {
            sum.gone.add(one);
            return;
        }
        sum.allocated.add(one);
        if survives(id) {
            sum.kept.add(one);
        }
    };
    lifetimes.started_between(range.from, range.to).for_each(|id| add(id, true));
    lifetimes.live_at(range.from).filter(|&id| !survives(id)).for_each(|id| add(id, false));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::tables::{any_events, snapshot};
    use oomscope_model::{Allocation, StackId};
    use proptest::prelude::*;

    fn is_live(a: &Allocation, moment: Moment) -> bool {
        a.start <= moment && a.end.is_none_or(|end| moment < end)
    }

    fn amount<'a>(all: impl Iterator<Item = &'a Allocation>) -> Amount {
        all.fold(Amount::default(), |sum, a| Amount {
            bytes: sum.bytes + i128::from(a.size),
            count: sum.count + 1,
        })
    }

    #[test]
    fn a_range_has_a_first_event_and_a_last() {
        assert_eq!(MomentRange::between(Moment(4), Moment(4)), None);
        let range = MomentRange::between(Moment(9), Moment(4)).expect("five events");
        assert_eq!((range.events(), range.query()), (4..9, "event:4..8".to_owned()));
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_reading(events in any_events(), a in 0u32..61, b in 0u32..61) {
            let snapshot = snapshot(&events);
            let timeline = &snapshot.timelines[0];
            let last = events.len() as u32;
            let Some(range) = MomentRange::between(Moment(a.min(last)), Moment(b.min(last))) else {
                return Ok(());
            };
            let all: Vec<Allocation> = timeline.ids().map(|id| timeline.allocation(id)).collect();
            let stacks = snapshot.stacks.len();
            let sums = range_sums(timeline, range, stacks, |id| timeline.stack(id).index());
            for (stack, sums) in (0..).map(StackId).zip(&sums) {
                let of_stack = || all.iter().filter(move |a| a.stack == stack);
                let made = |a: &&Allocation| a.alloc_event().is_some_and(|e| range.events().contains(&e.0));
                let live = |moment| amount(of_stack().filter(move |a| is_live(a, moment)));
                let freed = |a: &&Allocation| {
                    a.end.and_then(Moment::event).is_some_and(|e| range.events().contains(&e.0))
                };
                prop_assert_eq!(sums.allocated, amount(of_stack().filter(made)));
                prop_assert_eq!(sums.kept, amount(of_stack().filter(made).filter(|a| is_live(a, range.to))));
                prop_assert_eq!(sums.freed(), amount(of_stack().filter(freed)));
                prop_assert_eq!(sums.net_bytes(), live(range.to).bytes - live(range.from).bytes);
            }
        }
    }
}
