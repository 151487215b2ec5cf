//! Finding an event again in another recording of the same process.

use oomscope_model::{EventIx, EventTable};
use rayon::prelude::*;

/// The index of an event in a later recording, which may lack events at its start and have more at its end.
///
/// `None` if it is not there. Without a time, equal events cannot be told apart, so that only one with the
/// same index counts.
pub fn same_event(old: &EventTable, event: EventIx, new: &EventTable) -> Option<EventIx> {
    if old.len() <= event.index() {
        return None;
    }
    let is_same = |ix: EventIx| {
        new.size(ix) == old.size(event)
            && new.action(ix) == old.action(event)
            && new.addr(ix) == old.addr(event)
            && new.time_us(ix) == old.time_us(event)
            && new.stream(ix) == old.stream(event)
    };
    // The common case: the history was long enough that no event was dropped from its start.
    if event.index() < new.len() && is_same(event) {
        return Some(event);
    }
    old.time_us(event)?;
    (0..new.len() as u32).into_par_iter().map(EventIx).find_first(|&ix| is_same(ix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::tables::{TestEvent, snapshot};
    use oomscope_model::{Action, StackId};

    fn events(times: impl IntoIterator<Item = Option<i64>>) -> oomscope_model::Snapshot {
        let event = |time_us| TestEvent {
            action: Action::Alloc,
            addr: 512,
            size: 8,
            stream: Some(0),
            pool: None,
            time_us,
            stack: StackId::EMPTY,
        };
        snapshot(&times.into_iter().map(event).collect::<Vec<_>>())
    }

    #[test]
    fn an_event_is_found_again_after_older_ones_were_lost() {
        let old = events((0..10).map(Some));
        let new = events((4..20).map(Some));
        let (old, new) = (&old.timelines[0].events, &new.timelines[0].events);
        assert_eq!(same_event(old, EventIx(7), new), Some(EventIx(3)));
        assert_eq!(same_event(old, EventIx(2), new), None);
        assert_eq!(same_event(old, EventIx(7), old), Some(EventIx(7)));
        assert_eq!(same_event(old, EventIx(99), new), None);
    }

    #[test]
    fn without_times_only_the_same_place_counts() {
        let (old, new) = (events([None; 6]), events([None; 3]));
        let (old, new) = (&old.timelines[0].events, &new.timelines[0].events);
        assert_eq!(same_event(old, EventIx(2), new), Some(EventIx(2)));
        assert_eq!(same_event(old, EventIx(4), new), None);
    }
}
