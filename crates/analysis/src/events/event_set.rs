//! Sets of events, a bit for each event of a timeline.

use oomscope_model::{AllocId, EventIx, Moment, Timeline};

/// Number of events in a word.
const WORD: usize = u64::BITS as usize;

/// A set of events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSet {
    words: Vec<u64>,
}

impl EventSet {
    /// The events that allocated some allocations, requested their free and completed it.
    pub fn of_allocations(timeline: &Timeline, allocations: impl IntoIterator<Item = AllocId>) -> Self {
        let mut words = vec![0; timeline.events.len().div_ceil(WORD)];
        let lifetimes = &timeline.lifetimes;
        for id in allocations {
            let moments = [Some(lifetimes.start(id)), lifetimes.requested(id), lifetimes.end(id)];
            for event in moments.into_iter().flatten().filter_map(Moment::event) {
                words[event.index() / WORD] |= 1 << (event.index() % WORD);
            }
        }
        Self { words }
    }

    /// True if an event is in the set.
    #[inline]
    pub fn contains(&self, event: EventIx) -> bool {
        let word = self.words.get(event.index() / WORD);
        word.is_some_and(|word| word >> (event.index() % WORD) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::tables::{any_events, snapshot};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_are_those_that_begin_or_end_an_allocation(events in any_events(), kept in 1u32..4) {
            let snapshot = snapshot(&events);
            let timeline = &snapshot.timelines[0];
            let ids = || timeline.ids().filter(|id| id.0 % kept == 0);
            let set = EventSet::of_allocations(timeline, ids());
            for event in timeline.events.indices() {
                let after = Moment::after(event);
                let is_of = ids().any(|id| {
                    let a = timeline.allocation(id);
                    a.start == after || a.requested == Some(after) || a.end == Some(after)
                });
                prop_assert_eq!(set.contains(event), is_of);
            }
            prop_assert!(!set.contains(EventIx(u32::MAX)));
        }
    }
}
