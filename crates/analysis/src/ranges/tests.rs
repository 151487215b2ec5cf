//! Ranges against plain readings of them.

use super::{EventRanges, RangeQuery};
use crate::{Phase, Phases};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_fixtures::tables::{any_events, snapshot};
use oomscope_model::{Annotation, DeviceId, Moment, Snapshot};
use proptest::prelude::*;

fn parsed(text: &str) -> Result<RangeQuery, &'static str> {
    RangeQuery::parse(text)
}

#[test]
fn a_range_is_named_by_what_it_is() {
    assert_eq!(parsed("iteration:3"), Ok(RangeQuery::Iterations([3, 3])));
    assert_eq!(parsed("Iteration: 2..5"), Ok(RangeQuery::Iterations([2, 5])));
    assert_eq!(parsed("iteration:2.."), Ok(RangeQuery::Iterations([2, u32::MAX])));
    assert_eq!(parsed("phase:Backward"), Ok(RangeQuery::Phase(Phase::Backward)));
    assert_eq!(parsed("100..2,000"), Ok(RangeQuery::Events([100, 2000])));
    assert_eq!(parsed("event:7"), Ok(RangeQuery::Events([7, 7])));
    // A range of the program's own may be called anything.
    assert_eq!(parsed("range:Phase:x"), Ok(RangeQuery::Named("phase:x".to_owned())));
    assert_eq!(parsed("## Forward ##"), Ok(RangeQuery::Named("## forward ##".to_owned())));
    assert_eq!(parsed("loss: mse"), Ok(RangeQuery::Named("loss: mse".to_owned())));
    assert_eq!(parsed("range:12"), Ok(RangeQuery::Named("12".to_owned())));
    assert_eq!(parsed("a..b"), Ok(RangeQuery::Named("a..b".to_owned())));
    for wrong in [
        "",
        " ",
        "iteration:",
        "iteration:x",
        "iteration:..",
        "iteration:-1",
        "phase:back",
        "range:",
        "x:",
        "12",
        "9..3",
    ] {
        assert!(parsed(wrong).is_err(), "{wrong}");
    }
}

/// Six allocations, 10 µs apart, and three annotations.
fn annotated() -> Snapshot {
    let mut recording = Recording::default();
    let stack = recording.stack(&["train.py:1 main"]);
    for slot in 0..6 {
        recording.alloc(slot, 512 + slot as i64, stack, Some(1000 + slot as i64 * 10));
    }
    let mut snapshot = recording.finish();
    for (name, from, to) in [("Load batch", 1005, 1025), ("loss", 1025, 1035), ("load weights", 1045, 1099)] {
        let name = snapshot.strings.intern(name.as_bytes()).0;
        for (is_start, time_us) in [(true, from), (false, to)] {
            let device = Some(DeviceId(0));
            snapshot.annotations.push(Annotation { device, name, is_start, time_us: Some(time_us) });
        }
    }
    snapshot
}

#[test]
fn a_text_means_all_annotations_that_have_it() {
    let recording = first(annotated());
    let found = |text: &str| {
        let found = RangeQuery::parse(text).map(|query| query.find(&recording, &Phases::default()));
        found.map(|found| (found.all().to_vec(), found.peak(&recording).map(|peak| peak.0))).expect("a range")
    };
    assert_eq!(found("LOAD"), (vec![[1, 3], [5, 6]], Some(Moment(6))));
    assert_eq!(found("load batch"), (vec![[1, 3]], Some(Moment(3))));
    assert_eq!(found("loss"), (vec![[3, 4]], Some(Moment(4))));
    assert_eq!(found("2..3"), (vec![[2, 4]], Some(Moment(4))));
    assert_eq!(found("backward"), (vec![], None));
    assert_eq!(found("90..99"), (vec![], None));
}

proptest! {
    #[test]
    fn ranges_hold_the_events_that_a_list_holds(
        ranges in prop::collection::vec((0u32..50, 0u32..50), 0..9),
        events in any_events(),
    ) {
        let snapshot = snapshot(&events);
        let timeline = &snapshot.timelines[0];
        let end = events.len() as u32;
        let ranges: Vec<[u32; 2]> = ranges.into_iter().map(|(a, b)| [a.min(end), b.min(end)]).collect();
        let set = EventRanges::new(ranges.clone());
        let is_in = |event: u32| ranges.iter().any(|range| range[0] <= event && event < range[1]);
        let inside: Vec<u32> = (0..end).filter(|&event| is_in(event)).collect();
        prop_assert!((0..60).all(|event| set.contains(event.into()) == is_in(event)));
        prop_assert!(!set.contains(-1));
        prop_assert_eq!(set.is_empty(), inside.is_empty());
        prop_assert!(set.all().windows(2).all(|pair| pair[0][1] < pair[1][0]));
        let after = |event: u32| (Moment(event + 1), timeline.active.at(Moment(event + 1)));
        let most = inside.iter().map(|&event| after(event).1).max();
        let first = inside.iter().map(|&event| after(event)).find(|(_, bytes)| Some(*bytes) == most);
        prop_assert_eq!(set.peak(timeline), first);
    }
}
