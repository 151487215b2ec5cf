//! Categories of made-up programs, and of anything at all.

use super::{Attribution, Categories, Category, Rules};
use crate::analysis::flow::fixture::{BACKWARD, DATA, FORWARD, Held, LOAD, Program, train};
use crate::analysis::table_fixture::{any_events, snapshot};
use crate::model::{Moment, Snapshot};
use proptest::prelude::*;

/// The categories of what is live at the end, by address.
fn at_end(snapshot: &Snapshot) -> impl Fn(u64) -> Category + use<> {
    let timeline = &snapshot.timelines[0];
    let categories = Categories::of(snapshot, timeline, &Rules::default());
    let live: Vec<(u64, Category)> = timeline
        .lifetimes
        .live_at(Moment(timeline.events.len() as u32))
        .map(|id| (timeline.lifetimes.addr(id, &timeline.events), categories.get(id)))
        .collect();
    move |addr| live.iter().find(|(at, _)| *at == addr).map_or(Category::Unknown, |&(_, category)| category)
}

fn assert_held(snapshot: &Snapshot, held: &Held) {
    let category = at_end(snapshot);
    let expected = [
        (&held.parameters, Category::Parameter),
        (&held.state, Category::OptimizerState),
        (&held.gradients, Category::Gradient),
    ];
    for (addresses, expected) in expected {
        for &addr in addresses {
            assert_eq!(category(addr), expected, "{addr:#x}");
        }
    }
}

#[test]
fn stacks_tell_what_a_training_holds() {
    let mut program = Program::default();
    let held = train(&mut program, 3, None);
    let snapshot = program.finish();
    assert_held(&snapshot, &held);
    assert_eq!(at_end(&snapshot)(held.input[0]), Category::Input);
}

#[test]
fn sizes_tell_what_is_older_than_the_recording() {
    let mut program = Program::default();
    let held = train(&mut program, 4, Some(2));
    assert_held(&program.finish(), &held);
}

#[test]
fn order_and_sizes_tell_what_a_training_without_stacks_holds() {
    let mut program = Program::bare();
    let held = train(&mut program, 4, None);
    assert_held(&program.finish(), &held);
}

#[test]
fn activations_are_what_calls_keep() {
    let mut program = Program::default();
    program.alloc(1 << 20, LOAD);
    program.alloc(1 << 10, DATA);
    let kept: Vec<u64> = (0..20).map(|_| program.alloc(1 << 16, FORWARD)).collect();
    let passing = program.alloc(1 << 16, BACKWARD);
    let category = at_end(&program.finish());
    assert!(kept.iter().all(|&addr| category(addr) == Category::Activation));
    assert_eq!(category(passing), Category::Gradient);
}

proptest! {
    #[test]
    fn every_allocation_has_a_category_whatever_the_events(events in any_events()) {
        let snapshot = snapshot(&events);
        let timeline = &snapshot.timelines[0];
        let found = Attribution::of(&snapshot, timeline, &Rules::default());
        for moment in 0..=timeline.events.len() as u32 {
            let live = timeline.lifetimes.live_at(Moment(moment));
            let naive = live.fold(0i64, |sum, id| sum.saturating_add(timeline.lifetimes.size(id, &timeline.events)));
            let totals = found.categories.bytes_at(timeline, Moment(moment));
            // Sums of sizes as odd as these may have stopped at the largest number.
            if naive.unsigned_abs() < 1 << 60 {
                prop_assert_eq!(totals.iter().map(|&(_, bytes)| bytes).sum::<i64>(), naive);
            }
            found.phases.phase_at(Moment(moment));
            if let Some(number) = found.phases.iteration_at(Moment(moment)) {
                prop_assert!((number as usize) < found.phases.iterations.list.len());
            }
        }
    }
}
