//! Comparisons of small recordings: sums that hold for all, and programs that differ in one place.

use super::*;
use crate::{Attribution, Category, MomentRange, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks;
use oomscope_fixtures::tables::{any_events, snapshot};
use oomscope_model::{Annotation, Moment, Recording};
use proptest::prelude::*;
use std::sync::Arc;

fn attribution(recording: &Recording, rules: &str) -> Attribution {
    let rules = UserRules::parse(rules).expect("rules");
    Attribution::of(recording, &rules)
}

fn side<'a>(recording: &'a Recording, attribution: &'a Attribution, moment: Moment) -> Side<'a> {
    Side { recording, attribution, moment }
}

/// Compare two files at their peaks, under the user's rules.
fn compared(a: &Recording, rules_a: &str, b: &Recording, rules_b: &str) -> Comparison {
    let (of_a, of_b) = (attribution(a, rules_a), attribution(b, rules_b));
    let peak = |recording: &Recording| recording.active.peak().0;
    compare(&side(a, &of_a, peak(a)), &side(b, &of_b, peak(b)))
}

const F_IS_A_CACHE: &str = "[[rule]]\ncategory = 'kv_cache'\nfunction = 'f'\n";

fn differences<K>(rows: &[BothSides<K>]) -> i128 {
    rows.iter().map(|row| row.change_bytes() + row.restated_bytes()).sum()
}

proptest! {
    #[test]
    fn changes_and_what_is_set_apart_are_the_whole_difference(
        events in [any_events(), any_events()], moments in [0u32..61, 0u32..61], has_rules: bool,
    ) {
        let [a, b] = [0, 1].map(|side| first(snapshot(&events[side])));
        let rules = if has_rules { F_IS_A_CACHE } else { "" };
        let (of_a, of_b) = (attribution(&a, ""), attribution(&b, rules));
        let [at_a, at_b] = [(&events[0], moments[0]), (&events[1], moments[1])]
            .map(|(events, moment)| Moment(moment.min(events.len() as u32)));
        let found = compare(&side(&a, &of_a, at_a), &side(&b, &of_b, at_b));
        let live = |recording: &Recording, moment| -> i128 {
            recording.lifetimes.live_at(moment).map(|id| i128::from(recording.size(id))).sum()
        };
        let total = found.total();
        prop_assert_eq!(total.sides.map(|side| side.amount.bytes), [live(&a, at_a), live(&b, at_b)]);
        let whole = total.difference_bytes();
        prop_assert_eq!(differences(&found.by_category()), whole);
        prop_assert_eq!(differences(&found.by_line()), whole);
        prop_assert_eq!(differences(&found.by_operator()), whole);
        prop_assert_eq!(differences(&found.by_module()), whole);
        prop_assert_eq!(differences(&found.by_pool()), whole);
        let top = found.modules_with_below();
        let top: Vec<_> = top.into_iter().filter(|row| found.modules[row.key as usize].depth == 0).collect();
        prop_assert_eq!(differences(&top), whole);
        // What is judged differently is as large on both sides, and listed in full.
        let restated: i128 = found.restated.iter().map(|found| found.amount.bytes).sum();
        prop_assert_eq!(total.sides.map(|side| side.restated.bytes), [restated; 2]);
        for row in found.by_category() {
            let [a, b] = row.comparable_bytes();
            prop_assert_eq!(b - a, row.change_bytes());
        }
    }

    #[test]
    fn a_moment_is_the_same_as_itself(events in any_events(), moment in 0u32..61) {
        let a = first(snapshot(&events));
        let of_a = attribution(&a, "");
        let side = side(&a, &of_a, Moment(moment.min(events.len() as u32)));
        let found = compare(&side, &side);
        prop_assert!(found.is_same());
        prop_assert!(found.causes().is_empty());
        // Loaded again, nothing differs either.
        let b = first(snapshot(&events));
        let of_b = attribution(&b, "");
        let again = Side { recording: &b, attribution: &of_b, ..side };
        prop_assert!(compare(&side, &again).is_same());
    }

    #[test]
    fn columns_of_two_curves_have_their_peaks(
        events in [any_events(), any_events()], columns in 1usize..40, by_time: bool,
    ) {
        let [a, b] = [0, 1].map(|side| first(snapshot(&events[side])));
        let none = Attribution::default();
        let sides = [side(&a, &none, Moment::START), side(&b, &none, Moment::START)];
        let by = if by_time { AlignBy::Time } else { AlignBy::Event };
        let Some(aligned) = Aligned::new([&sides[0], &sides[1]], &by) else {
            prop_assert!(by_time);
            return Ok(());
        };
        let found = aligned.columns(columns);
        prop_assert_eq!(found.len(), columns);
        for (at, recording) in [&a, &b].into_iter().enumerate() {
            let most = found.iter().filter_map(|column| column.peaks[at]).map(|peak| peak.1).max();
            if !by_time {
                prop_assert_eq!(most, Some(recording.active.peak().1));
                for moment in 0..=recording.events.len() as u32 {
                    let place = aligned.place(at, Moment(moment));
                    prop_assert_eq!(aligned.moment(at, place), Some(Moment(moment)));
                }
            }
        }
    }
}

/// A program of two functions, whose lines an edit moves; `sizes` are those of its allocations.
fn program(edit: i64, sizes: [i64; 3]) -> Recording {
    let mut recording = stacks::Recording::default();
    let lines = [(10, "f", "linear"), (12, "f", "softmax"), (40, "g", "linear")];
    for ((slot, (line, function, callee)), size) in (0..).zip(lines).zip(sizes) {
        let own = format!("/home/me/{edit}/train.py:{} {function}", line + edit);
        let stack = recording.stack(&[&format!("/env/torch/nn/functional.py:{} {callee}", 100 + edit), &own]);
        if 0 < size {
            recording.alloc(slot, size, stack, None);
        }
    }
    first(recording.finish())
}

#[test]
fn an_edited_program_has_the_same_lines() {
    let found = compared(&program(0, [100, 200, 300]), "", &program(7, [100, 50, 300]), "");
    let rows: Vec<_> = found
        .by_line()
        .iter()
        .map(|row| (found.lines[row.key as usize].labels.clone(), row.change()))
        .collect();
    let label = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            ([label("train.py:12 f"), label("train.py:19 f")], Change::Shrunk),
            ([label("train.py:40 g"), label("train.py:47 g")], Change::Same),
            ([label("train.py:10 f"), label("train.py:17 f")], Change::Same),
        ]
    );
}

#[test]
fn memory_that_another_rule_judges_is_set_apart() {
    let (a, b) = (program(0, [100, 200, 300]), program(3, [100, 200, 900]));
    let found = compared(&a, "", &b, F_IS_A_CACHE);
    let set_apart: Vec<_> =
        found.restated.iter().map(|found| (found.amount.bytes, found.matters())).collect();
    assert_eq!(set_apart, [(300, true)]);
    let cache = found.by_category().into_iter().find(|row| row.key == Category::KvCache).expect("a cache");
    assert_eq!((cache.change_bytes(), cache.restated_bytes(), cache.difference_bytes()), (0, 300, 300));
    // The line whose size changed is a change in any case.
    assert_eq!(found.by_line()[0].change_bytes(), 600);
    let causes = found.causes();
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert!(
        matches!(causes[0].place, Some(CausePlace::Line(line)) if found.lines[line as usize].label() == "train.py:43 g")
    );
}

#[test]
fn lines_that_one_side_has_are_new_or_gone() {
    let found = compared(&program(0, [0, 200, 300]), "", &program(0, [70, 200, 0]), "");
    let changes: Vec<Change> = found.by_line().iter().map(BothSides::change).collect();
    assert_eq!(changes, [Change::Gone, Change::New, Change::Same]);
}

#[test]
fn two_ranges_lie_on_one_axis() {
    let a = program(0, [100, 200, 300]);
    let none = Attribution::default();
    let side = side(&a, &none, Moment::START);
    let range = |from, to| MomentRange { from: Moment(from), to: Moment(to) };
    let one = |from, to| Arc::from([range(from, to)]);
    let by = AlignBy::Ranges([one(0, 2), one(1, 3)]);
    let aligned = Aligned::new([&side, &side], &by).expect("ranges");
    assert_eq!([0.0, 0.5, 1.0].map(|place| aligned.moment(0, place)), [0, 1, 2].map(|at| Some(Moment(at))));
    assert_eq!([0.0, 0.5, 1.0].map(|place| aligned.moment(1, place)), [1, 2, 3].map(|at| Some(Moment(at))));
    assert_eq!(aligned.moment(1, 1.5), None);
    assert!(Aligned::new([&side, &side], &AlignBy::Iteration).is_none());
    assert!(Aligned::new([&side, &side], &AlignBy::Time).is_none());
}

#[test]
fn ranges_with_the_same_number_begin_at_the_same_place() {
    let events: Vec<_> = std::iter::repeat_with(|| 100).take(12).collect();
    let mut recording = stacks::Recording::default();
    for (slot, size) in (0..).zip(events) {
        let stack = recording.stack(&["m.py:3 f"]);
        recording.alloc(slot, size, stack, None);
    }
    let a = first(recording.finish());
    let none = Attribution::default();
    let side = side(&a, &none, Moment::START);
    let range = |from, to| MomentRange { from: Moment(from), to: Moment(to) };
    let ranges = |list: &[MomentRange]| Arc::<[MomentRange]>::from(list);
    // Two and a gap between them; three, of which the first lies before the first event, and one has no events.
    let two = ranges(&[range(1, 3), range(5, 9)]);
    let three = ranges(&[range(0, 0), range(0, 4), range(4, 4), range(8, 12)]);
    let aligned = Aligned::new([&side, &side], &AlignBy::Ranges([two, three])).expect("ranges");
    assert_eq!(aligned.span, [0.0, 4.0]);
    let moments =
        |side| [0.0, 0.5, 1.0, 2.0, 3.0, 4.0].map(|place| aligned.moment(side, place).map(|at| at.0));
    assert_eq!(moments(0), [Some(1), Some(3), Some(5), Some(9), None, None]);
    assert_eq!(moments(1), [None, None, Some(0), Some(4), Some(8), Some(12)]);
    let empty = [ranges(&[]), ranges(&[range(3, 3)])];
    assert_eq!(Aligned::new([&side, &side], &AlignBy::Ranges(empty)).map(|aligned| aligned.span), None);
}

#[test]
fn ranges_of_one_name_are_common_to_both() {
    let [a, b] = [&["step", "eval", "step"][..], &["eval", "step", "other", "step", "step"]].map(|names| {
        let mut recording = stacks::Recording::default();
        let stack = recording.stack(&["m.py:3 f"]);
        for (slot, time) in (0..names.len() as u64).zip((0..).step_by(10)) {
            recording.alloc(slot, 100, stack, Some(time + 5));
        }
        let mut snapshot = recording.finish();
        for (name, start) in names.iter().zip((0..).step_by(10)) {
            let (name, _) = snapshot.strings.intern(name.as_bytes());
            let at = |is_start, time| Annotation { is_start, name, device: None, time_us: Some(time) };
            snapshot.annotations.extend([at(true, start), at(false, start + 9)]);
        }
        // The start of the last one was not recorded.
        let (name, _) = snapshot.strings.intern(b"late");
        snapshot.annotations.push(Annotation { is_start: false, name, device: None, time_us: Some(12) });
        first(snapshot)
    });
    let none = Attribution::default();
    let common = common_ranges([&side(&a, &none, Moment::START), &side(&b, &none, Moment::START)]);
    let names: Vec<_> = common.iter().map(|common| common.name.as_str()).collect();
    assert_eq!(names, ["eval", "step"]);
    let ranges = |at: usize, side: usize| -> Vec<[u32; 2]> {
        common[at].ranges[side].iter().map(|range| [range.from.0, range.to.0]).collect()
    };
    assert_eq!((ranges(0, 0), ranges(0, 1)), (vec![[1, 2]], vec![[0, 1]]));
    assert_eq!((ranges(1, 0), ranges(1, 1)), (vec![[0, 1], [2, 3]], vec![[1, 2], [3, 4], [4, 5]]));
}
