//! Queries about events, and what they find.

use super::fixture::sample;
use super::{EventQuery, EventSearch, Subject, Vocabulary, complete};
use crate::EventSet;
use oomscope_fixtures::first;
use oomscope_fixtures::tables::{TestEvent, any_events, snapshot};
use oomscope_model::{Action, Anchor, Event, EventIx, Moment, PoolKey, Recording, StackId};
use proptest::prelude::*;

fn parse(query: &str) -> EventQuery {
    EventQuery::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn search(recording: &Recording, query: &str, among: Option<&EventSet>) -> Vec<u32> {
    let search = EventSearch::new(&parse(query), recording);
    search.matches(recording, among).iter().map(|event| event.0).collect()
}

fn found(events: &[TestEvent], query: &str) -> Vec<u32> {
    search(&first(snapshot(events)), query, None)
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
    fn spellings_of_before_there_was_one_language_mean_the_same(events in any_events()) {
        for (spelling, now) in [
            ("stream=1", "stream:1"),
            ("#1,2", "event:12"),
            ("event:1,2", "event:12"),
            ("SIZE<=512", "size<=512B"),
            ("<=.5k", "size<=512"),
            ("=1,024.", "size=1024"),
            ("==1_024", "size=1KiB"),
            ("size>1.5kb", "size>1536"),
            (">1p", "size>1PiB"),
            ("addr:0X400", "0x400"),
            ("py:9", "\"py:9\""),
            ("stack:linear", "linear"),
            ("Free alloc_BIG", "action:free stack:alloc_big"),
        ] {
            prop_assert_eq!(found(&events, spelling), found(&events, now), "{}", spelling);
        }
    }

    #[test]
    fn a_search_among_some_events_finds_only_those(events in any_events()) {
        let recording = first(snapshot(&events));
        let some = EventSet::of_allocations(&recording, recording.lifetimes.live_at(Moment(7)));
        let all = search(&recording, "free", None);
        let expected: Vec<u32> = all.into_iter().filter(|&row| some.contains(EventIx(row))).collect();
        prop_assert_eq!(search(&recording, "free", Some(&some)), expected);
    }
}

#[test]
fn terms_find_what_they_say() {
    let recording = sample();
    for (query, expected) in [
        ("", vec![0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("alloc", vec![0, 1, 5, 8]),
        ("action:free|oom", vec![2, 3, 4, 6, 7]),
        ("-free -alloc", vec![6]),
        ("free|alloc|oom", vec![0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("action:free_completed", vec![3, 4]),
        // A word that names no action is text, also beside one that does
        ("oom|mlp", vec![1, 6]),
        ("\"alloc\"", vec![5]),
        ("alloc \"malloc\"", vec![5]),
        ("site:train.py", vec![0, 8]),
        ("size:100B..5KiB", vec![0, 2, 4, 5, 8]),
        (">=1GiB", vec![6]),
        ("alloc -size>1MiB -=100", vec![5, 8]),
        ("0x400000", vec![0, 2, 4, 8]),
        ("addr:0x500000..0x900000", vec![1, 5, 7]),
        // Frees say no pool, but the memory around their address has one
        ("pool:private", vec![1]),
        ("pool:default", vec![0, 2, 3, 4, 5, 7, 8]),
        ("stream:7", vec![1]),
        ("-stream:0", vec![1, 6]),
        ("meta:step", vec![5]),
        ("event:2..4 -#3", vec![2, 4]),
        ("#0|8", vec![0, 8]),
        ("after:oom", vec![7, 8]),
        ("before:peak", vec![0]),
        ("after:2 before:5", vec![3, 4]),
    ] {
        assert_eq!(search(&recording, query, None), expected, "{query}");
    }
}

#[test]
fn events_that_say_no_pool_are_in_that_of_their_memory() {
    let mut recording = super::fixture::Recording::default();
    let segment_free = Event::new(Action::SegmentFree, 0x10_0000, 4096);
    for event in [
        Event::new(Action::SegmentAlloc, 0x10_0000, 4096),
        Event::new(Action::Alloc, 0x10_0200, 512),
        Event::new(Action::Oom, 0x10_0200, 512),
        Event::new(Action::FreeCompleted, 0x10_0200, 512),
        Event { pool: Some(PoolKey(1, 0)), ..segment_free },
        Event::new(Action::Alloc, 0x10_0200, 512),
    ] {
        recording.push(event);
    }
    let recording = recording.finish(Anchor::EndState);
    assert_eq!(search(&recording, "pool:private", None), [0, 1, 3, 4]);
    assert_eq!(search(&recording, "-pool:1.0", None), [2, 5]);
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
fn a_query_that_cannot_be_understood_says_where_and_why() {
    let size = "size: expected a size such as 100MB, 512KiB or 1MiB..2MiB, found";
    let event = "event: expected an event's number such as 41220, or a range such as 100..200, found";
    for (query, part, message) in [
        ("alloc >big", "big", format!("{size} \"big\"")),
        ("<=x", "x", format!("{size} \"x\"")),
        (">", ">", "size needs a value: a size such as 100MB, 512KiB or 1MiB..2MiB".to_owned()),
        (
            "0xyz",
            "0xyz",
            "addr: expected an address such as 0x7f21ac000000, or a range of two, found \"0xyz\"".to_owned(),
        ),
        ("stream:", ":", "stream needs a value: a stream's number such as 7".to_owned()),
        ("#-1", "-1", format!("{event} \"-1\"")),
        (
            "free #",
            "#",
            "event needs a value: an event's number such as 41220, or a range such as 100..200".to_owned(),
        ),
        ("\"my file", "\"my file", "the quote is not closed".to_owned()),
        (
            "alloc lifetime<10ms",
            "lifetime",
            "lifetime asks about allocations; it belongs in the filter".to_owned(),
        ),
        ("category>1", "category", "category asks about allocations; it belongs in the filter".to_owned()),
        (
            "alloc -kept",
            "kept",
            "kept asks about allocations; it belongs in the filter, or in quotes to search stacks for it"
                .to_owned(),
        ),
        ("before", "before", "before needs a value: an event's number, peak or oom".to_owned()),
        ("acton:oom", "acton", "there is no key \"acton\"; did you mean action?".to_owned()),
        (
            "action:oom|aloc",
            "aloc",
            "action: expected alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, segment_unmap, \
             snapshot, oom, annotate, or another action of the file in quotes, found \"aloc\"; did you mean alloc?"
                .to_owned(),
        ),
        (
            "phase:forwrd",
            "forwrd",
            "phase: expected init, data, forward, backward, optimizer, eval or unknown, found \"forwrd\"; did you mean forward?"
                .to_owned(),
        ),
    ] {
        let error = EventQuery::parse(query).expect_err(query);
        assert_eq!((&query[error.range.clone()], error.to_string()), (part, message), "{query}");
    }
    assert!(parse("").is_empty() && parse("  ").is_empty() && !parse("\"\"").is_empty());
}

#[test]
fn what_was_not_recorded_is_said() {
    let events = [TestEvent {
        action: Action::Alloc,
        addr: 0,
        size: 1,
        stream: None,
        pool: None,
        time_us: None,
        stack: StackId(0),
    }];
    let recording = first(snapshot(&events));
    let notes = |query| EventSearch::new(&parse(query), &recording).notes().join("; ");
    assert_eq!(
        notes("stream:1 pool:private meta:a"),
        "no streams were recorded; no pools were recorded; no metadata was recorded"
    );
    assert_eq!(
        notes("action:Alloc|\"snapshots\" after:oom"),
        "no action is called \"snapshots\"; no out-of-memory event was recorded"
    );
    assert_eq!(notes("alloc attention size>1 event:7"), "");
    let bare = super::fixture::Recording::default().finish(Anchor::EndState);
    let notes = |query| EventSearch::new(&parse(query), &bare).notes().join("; ");
    assert_eq!(notes("alloc attention \"mlp\""), "no stacks were recorded");
    assert_eq!(notes("alloc"), "");
}

#[test]
fn completion_offers_what_events_can_be_asked() {
    let recording = sample();
    let vocabulary = Vocabulary::new(&recording);
    let completions = |query: &str| -> Vec<String> {
        let all = complete(query, query.len(), Subject::Events, &vocabulary);
        all.into_iter().map(|completion| completion.text).collect()
    };
    assert_eq!(completions("")[..5], ["alloc", "free_requested", "free_completed", "oom", "action:"]);
    assert_eq!(completions("al"), ["alloc", "CUDACachingAllocator.cpp", "\"c10::malloc\""]);
    assert_eq!(completions("li"), ["linear.py"]);
    assert_eq!(completions("action:free"), ["free_requested", "free_completed"]);
    assert_eq!(completions("action:oom|al"), ["alloc"]);
    assert_eq!(completions(">10"), ["10KiB", "10MiB", "10GiB"]);
    assert_eq!(completions("stream:"), ["0", "7"]);
    assert_eq!(completions("lifetime<10"), [""; 0]);
    assert_eq!(completions("#1"), [""; 0]);
    let first = complete("free", 4, Subject::Events, &vocabulary).into_iter().next().expect("an action");
    assert_eq!((first.text.as_str(), first.explanation.as_str()), ("free_requested", "2 events"));
}

#[test]
fn a_key_of_the_other_subject_is_a_plain_word_where_it_stands_alone() {
    use super::Filter;
    for word in ["lifetime", "category", "basis", "rule"] {
        assert!(EventQuery::parse(word).is_ok(), "{word}");
    }
    assert_eq!(Filter::parse("action"), Filter::parse("\"action\""));
    assert!(Filter::parse("lifetime").is_err(), "its own key needs a value");
}
