//! Totals by stack against plain sums.

use super::*;
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_model::Bytes;
use proptest::prelude::*;

fn live(at: u32) -> Measure {
    Measure::Live { at: Moment(at) }
}

fn by_time(from: u32, to: u32) -> Measure {
    Measure::ByteTime { from: Moment(from), to: Moment(to) }
}

/// Two stacks; the first allocates 100 bytes for 30 µs and 8 that stay, the second 50 for 10 µs.
fn recording() -> (oomscope_model::Recording, [StackId; 2]) {
    let mut recording = Recording::default();
    let a = recording.stack(&["a.py:1 f"]);
    let b = recording.stack(&["b.py:1 f"]);
    recording.alloc(0, 100, a, Some(1_000));
    recording.alloc(1, 50, b, Some(1_010));
    recording.free(1, 50, Some(1_020));
    recording.free(0, 100, Some(1_030));
    recording.alloc(0, 8, a, Some(1_032));
    recording.mark(Some(1_040));
    (first(recording.finish()), [a, b])
}

fn totals(recording: &oomscope_model::Recording, measure: Measure) -> StackTotals {
    stack_totals(recording, Clock::of(recording), measure, |_| true)
}

#[test]
fn live_bytes_and_lifetimes_are_by_stack() {
    let (recording, [a, b]) = recording();
    let at_two = totals(&recording, live(2));
    assert_eq!((at_two.of(a).weight, at_two.of(b).weight, at_two.all.weight), (100, 50, 150));
    assert_eq!((at_two.of(a).mean_lifetime(), at_two.of(b).mean_lifetime()), (30, 10));
    assert_eq!(at_two.all.open_ended, 0);
    let at_end = totals(&recording, live(6));
    let expected =
        Totals { weight: 8, bytes: Bytes(8), count: 1, largest: Bytes(8), lifetime: 8, open_ended: 1 };
    assert_eq!(at_end.of(a), expected);
    assert_eq!(at_end.of(b), Totals::default());
}

#[test]
fn what_was_allocated_counts_although_it_was_freed() {
    let (recording, [a, b]) = recording();
    let all = totals(&recording, Measure::Allocated { after: Moment(0), until: Moment(6) });
    let a_total = all.of(a);
    assert_eq!((a_total.weight, a_total.count, a_total.largest), (108, 2, Bytes(100)));
    assert_eq!(all.of(b).weight, 50);
    let later = totals(&recording, Measure::Allocated { after: Moment(1), until: Moment(2) });
    assert_eq!((later.of(a).count, later.of(b).weight), (0, 50));
    let backwards = totals(&recording, Measure::Allocated { after: Moment(2), until: Moment(1) });
    assert_eq!(backwards.all, later.all);
}

#[test]
fn bytes_are_multiplied_by_the_time_within_the_range() {
    let (recording, [a, b]) = recording();
    let whole = totals(&recording, by_time(0, 6));
    assert_eq!(whole.unit, WeightUnit::ByteMicros);
    assert_eq!((whole.of(a).weight, whole.of(b).weight), (100 * 30 + 8 * 8, 50 * 10));
    let part = totals(&recording, by_time(2, 3));
    assert_eq!((part.of(a).weight, part.of(b).weight), (100 * 10, 50 * 10));
}

#[test]
fn without_times_events_are_counted() {
    let mut recording = Recording::default();
    let a = recording.stack(&["a.py:1 f"]);
    recording.alloc(0, 100, a, Some(7));
    recording.mark(None);
    recording.free(0, 100, Some(9));
    let recording = first(recording.finish());
    let whole = totals(&recording, by_time(0, 3));
    assert_eq!((whole.unit, whole.of(a).weight), (WeightUnit::ByteEvents, 200));
    assert_eq!(whole.of(a).mean_lifetime(), 2);
}

#[test]
fn time_does_not_run_backwards() {
    let mut recording = Recording::default();
    let a = recording.stack(&["a.py:1 f"]);
    recording.alloc(0, 100, a, Some(i64::MAX));
    recording.free(0, 100, Some(i64::MIN));
    let whole = totals(&first(recording.finish()), by_time(0, 2));
    assert_eq!((whole.all.weight, whole.all.lifetime), (0, 0));
}

#[test]
fn sizes_and_times_of_any_magnitude_are_weighed() {
    let mut recording = Recording::default();
    let a = recording.stack(&["a.py:1 f"]);
    for slot in 0..3 {
        recording.alloc(slot, i64::MAX, a, Some(0));
    }
    recording.mark(Some(i64::MAX));
    let whole = totals(&first(recording.finish()), by_time(0, 4));
    assert_eq!(whole.all.bytes, i64::MAX);
    assert_eq!(whole.all.weight, i128::from(i64::MAX).pow(2).saturating_mul(3));
    let mut recording = Recording::default();
    recording.alloc(0, -5, StackId::EMPTY, None);
    let negative = totals(&first(recording.finish()), live(1));
    assert_eq!((negative.all.weight, negative.all.largest), (-5, Bytes(-5)));
}

#[test]
fn what_is_not_kept_does_not_count() {
    let (recording, [a, b]) = recording();
    let kept = stack_totals(&recording, Clock::of(&recording), live(2), |id| id == AllocId(1));
    assert_eq!((kept.of(a).count, kept.of(b).weight, kept.all.weight), (0, 50, 50));
    assert_eq!(kept.of_all(|_| true), (kept.all, Some(b)));
}

#[test]
fn weights_of_classes_add_up_to_those_of_stacks() {
    let (recording, [a, b]) = recording();
    let all = Measure::Allocated { after: Moment(0), until: Moment(6) };
    // The large allocations are one class, the small one another.
    let class = |id| u8::from(recording.size(id) < 10);
    let found = class_weights(&recording, Clock::of(&recording), all, |_| true, class);
    let row = |stack, class, weight| ClassWeight { stack, class, weight };
    assert_eq!(found, [row(a, 0, 100), row(b, 0, 50), row(a, 1, 8)]);
    let totals = totals(&recording, all);
    for stack in [a, b] {
        let of_stack = found.iter().filter(|row| row.stack == stack);
        assert_eq!(of_stack.map(|row| row.weight).sum::<i128>(), totals.of(stack).weight);
    }
}

proptest! {
    #[test]
    fn totals_are_those_of_the_curves(
        steps in proptest::collection::vec((0u64..6, 0usize..3, 1i64..100), 1..80),
        a in 0u32..80,
        b in 0u32..80,
    ) {
        let mut recording = Recording::default();
        let stacks = [recording.stack(&["a.py:1 f"]), recording.stack(&["b.py:1 f"]), StackId::EMPTY];
        let mut held = [None; 6];
        for &(slot, stack, size) in &steps {
            let holder = &mut held[slot as usize];
            if let Some(size) = holder.take() {
                recording.free(slot, size, None);
            } else {
                recording.alloc(slot, size, stacks[stack], None);
                *holder = Some(size);
            }
        }
        let recording = first(recording.finish());
            let last = steps.len() as u32;
        let (from, to) = (a.min(b).min(last), a.max(b).min(last));
        let sum = |measure| totals(&recording, measure);

        for m in [from, to] {
            prop_assert_eq!(sum(live(m)).all.weight, i128::from(recording.active.at(Moment(m))));
        }
        let (range_from, range_to) = (Moment(from), Moment(to));
        let grown = sum(Measure::Grown { from: range_from, to: range_to });
        let shrunk = sum(Measure::Shrunk { from: range_from, to: range_to });
        let [before, after] = [sum(live(from)), sum(live(to))];
        for stack in stacks {
            let change = after.of(stack).weight - before.of(stack).weight;
            prop_assert_eq!(grown.of(stack).weight, change.max(0));
            prop_assert_eq!(shrunk.of(stack).weight, (-change).max(0));
        }
        // Every moment counts once for each byte that is live then.
        let area: i128 = (from..to).map(|m| i128::from(recording.active.at(Moment(m)))).sum();
        prop_assert_eq!(sum(by_time(from, to)).all.weight, area);
        let allocated = sum(Measure::Allocated { after: Moment(from), until: Moment(to) });
        let by_event: i128 = recording.events.indices()
            .filter(|ix| (from..to).contains(&ix.0))
            .filter(|&ix| recording.events.action(ix) == oomscope_model::Action::Alloc)
            .map(|ix| i128::from(recording.events.size(ix)))
            .sum();
        prop_assert_eq!(allocated.all.weight, by_event);
        let by_stack: i128 = allocated.stacks.iter().map(|row| row.totals.weight).sum();
        prop_assert_eq!(by_stack, by_event);
    }
}
