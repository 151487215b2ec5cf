//! Searches against their naive versions.

use super::*;
use crate::analysis::table_fixture::{TestEvent, any_events, snapshot};
use crate::model::Moment;
use proptest::prelude::*;

fn found(events: &[TestEvent], text: &str) -> Vec<u32> {
    let snapshot = snapshot(events);
    let search = EventSearch::parse(text).expect("a search");
    search.run(&snapshot, &snapshot.timelines[0], None).rows
}

fn naive(events: &[TestEvent], holds: impl Fn(u32, &TestEvent) -> bool) -> Vec<u32> {
    (0..).zip(events).filter(|&(row, event)| holds(row, event)).map(|(row, _)| row).collect()
}

fn end(event: &TestEvent) -> u128 {
    u128::from(event.addr) + u128::from(event.size.max(1).unsigned_abs())
}

proptest! {
    #[test]
    fn every_term_finds_what_a_plain_loop_finds(events in any_events(), address in 0u64..9000, size in -9i64..4096) {
        let within = |e: &TestEvent| (u128::from(e.addr)..end(e)).contains(&u128::from(address));
        prop_assert_eq!(
            found(&events, &format!("{address:#x}")),
            naive(&events, |_, e| within(e) && e.action != Action::Oom)
        );
        let frees = [Action::FreeRequested, Action::FreeCompleted];
        prop_assert_eq!(found(&events, "FREE"), naive(&events, |_, e| frees.contains(&e.action)));
        prop_assert_eq!(found(&events, "free_completed"), naive(&events, |_, e| e.action == frees[1]));
        if let Ok(size) = u32::try_from(size) {
            let size = i64::from(size);
            prop_assert_eq!(found(&events, &format!(">{size}")), naive(&events, |_, e| e.size > size));
            prop_assert_eq!(found(&events, &format!(">={size}")), naive(&events, |_, e| e.size >= size));
            prop_assert_eq!(found(&events, &format!("<{size}")), naive(&events, |_, e| e.size < size));
            prop_assert_eq!(found(&events, &format!("<={size}B")), naive(&events, |_, e| e.size <= size));
            prop_assert_eq!(found(&events, &format!("={size}")), naive(&events, |_, e| e.size == size));
        }
        prop_assert_eq!(found(&events, "stream:-1"), naive(&events, |_, e| e.stream == Some(-1)));
        prop_assert_eq!(found(&events, "#3"), naive(&events, |row, _| row == 3));
        prop_assert_eq!(found(&events, "event:3"), found(&events, "#3"));
        prop_assert_eq!(found(&events, "addr:0x400 size>1k"), found(&events, "0x400 >1024"));
        prop_assert_eq!(found(&events, "stack:alloc"), found(&events, "\"alloc\""));
        prop_assert_eq!(found(&events, "a.PY:1"), naive(&events, |_, e| [1, 3].contains(&e.stack.0)));
        prop_assert_eq!(found(&events, "\"py:9 forward\""), naive(&events, |_, e| e.stack.0 == 2));
        prop_assert_eq!(
            found(&events, "alloc a.py stream:1"),
            naive(&events, |_, e| e.action == Action::Alloc && [1, 3].contains(&e.stack.0) && e.stream == Some(1))
        );
        prop_assert_eq!(found(&events, "  ").len(), events.len());
    }

    #[test]
    fn a_search_among_some_events_finds_only_those(events in any_events()) {
        let snapshot = snapshot(&events);
        let timeline = &snapshot.timelines[0];
        let some = EventSet::of_allocations(timeline, timeline.lifetimes.live_at(Moment(7)));
        let search = EventSearch::parse("free").expect("a search");
        let all = search.run(&snapshot, timeline, None).rows;
        let expected: Vec<u32> = all.into_iter().filter(|&row| some.contains(EventIx(row))).collect();
        prop_assert_eq!(search.run(&snapshot, timeline, Some(&some)).rows, expected);
    }

    #[test]
    fn next_and_previous_walk_around(rows in proptest::collection::btree_set(0u32..40, 0..12), at in 0u32..40) {
        let matches = EventMatches { rows: rows.iter().copied().collect() };
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

#[test]
fn an_action_is_not_looked_for_in_stacks_unless_it_is_quoted() {
    let event = |action, stack| TestEvent {
        action,
        addr: 0,
        size: 1,
        stream: None,
        pool: None,
        time_us: None,
        stack: StackId(stack),
    };
    let events = [event(Action::Alloc, 0), event(Action::Snapshot, 2), event(Action::FreeCompleted, 2)];
    assert_eq!(found(&events, "alloc"), [0]);
    assert_eq!(found(&events, "\"alloc\""), [1, 2]);
    assert_eq!(found(&events, "alloc_big free"), [2]);
}

#[test]
fn what_cannot_be_searched_for_is_said() {
    let error = |text| EventSearch::parse(text).expect_err("no search");
    assert_eq!(error("alloc >big"), SearchError::Size(">big".to_owned()));
    assert_eq!(error("0xyz"), SearchError::Address("0xyz".to_owned()));
    assert_eq!(error("stream:"), SearchError::Stream("stream:".to_owned()));
    assert_eq!(error("#-1"), SearchError::Event("#-1".to_owned()));
    for empty in ["", "\"", "\"\" "] {
        assert!(EventSearch::parse(empty).is_ok_and(|search| search.is_empty()));
    }
}
