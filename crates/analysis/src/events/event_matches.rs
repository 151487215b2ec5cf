//! The events that match a search, for stepping from one to the next.

use oomscope_model::EventIx;

/// The events that match a search, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventMatches {
    events: Vec<EventIx>,
}

impl EventMatches {
    /// The matches, which ascend and are each there once.
    pub(crate) fn new(events: Vec<EventIx>) -> Self {
        debug_assert!(
            events.is_sorted_by(|a, b| a < b),
            "matches are found from the first event to the last"
        );
        Self { events }
    }

    /// Number of matches.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// True if no event matches.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The match with a number, from 0.
    pub fn get(&self, number: usize) -> Option<EventIx> {
        self.events.get(number).copied()
    }

    /// Number of matches before an event.
    pub fn count_before(&self, event: EventIx) -> usize {
        self.events.partition_point(|&known| known < event)
    }

    /// True if an event matches.
    pub fn contains(&self, event: EventIx) -> bool {
        self.events.binary_search(&event).is_ok()
    }

    /// The matches, ascending.
    pub fn iter(&self) -> impl Iterator<Item = EventIx> + '_ {
        self.events.iter().copied()
    }

    /// The number of the next match after an event, or of the first after the last. `None` stands
    /// for the place before the first event.
    pub fn next(&self, after: Option<EventIx>) -> Option<usize> {
        let next = after.map_or(0, |event| self.events.partition_point(|&known| known <= event));
        (!self.is_empty()).then_some(if next < self.len() { next } else { 0 })
    }

    /// The number of the match before an event, or of the last before the first.
    pub fn previous(&self, before: Option<EventIx>) -> Option<usize> {
        let next = before.map_or(0, |event| self.count_before(event));
        next.checked_sub(1).or(self.len().checked_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn next_and_previous_walk_around(rows in proptest::collection::btree_set(0u32..40, 0..12), at in 0u32..40) {
            let matches = EventMatches::new(rows.iter().copied().map(EventIx).collect());
            let numbered = || rows.iter().copied().enumerate();
            let next = numbered().find(|&(_, row)| at < row).or(numbered().next());
            let previous = numbered().rfind(|&(_, row)| row < at).or(numbered().next_back());
            prop_assert_eq!(matches.next(Some(EventIx(at))), next.map(|(i, _)| i));
            prop_assert_eq!(matches.previous(Some(EventIx(at))), previous.map(|(i, _)| i));
            prop_assert_eq!(matches.next(None), numbered().next().map(|(i, _)| i));
            prop_assert_eq!(matches.previous(None), numbered().next_back().map(|(i, _)| i));
            prop_assert_eq!(matches.contains(EventIx(at)), rows.contains(&at));
        }
    }
}
