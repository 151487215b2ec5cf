//! Iterations that a profiler or the program announced by their numbers: `ProfilerStep#12`, `step_12`, `train iter 12`.

use crate::events::named_spans::{NamedSpan, named_spans};
use foldhash::HashMap;
use oomscope_model::{EventIx, Recording, SaturatingSum as _, StrId};
use std::collections::BTreeMap;

/// The name of a step of `torch.profiler`, before its number (torch/profiler/profiler.py).
const PROFILER: &str = "ProfilerStep";

/// The words before a number that call a range an iteration.
const STEP_WORDS: [&str; 3] = ["step", "iter", "iteration"];

/// Words that say that a numbered range is not an iteration of training, but of an evaluation, or only a part of one.
const OTHER_WORDS: [&str; 7] = ["eval", "evaluation", "val", "valid", "validation", "test", "micro"];

/// A step that was announced.
#[derive(Clone, Copy)]
struct NumberedStep {
    number: u32,
    /// Its start and end in microseconds.
    time_us: [i64; 2],
    /// Its first event and the one after its last.
    events: [u32; 2],
}

/// The first event of every step, and the number of the first step. `None` without such annotations. Those of a profiler
/// come first; of several that the program numbers, those that last longest are the outermost.
pub(super) fn named_steps(recording: &Recording) -> Option<(Vec<EventIx>, u32)> {
    let mut families = families(recording);
    let profiler = families.remove(PROFILER).map(|mut steps| {
        steps.sort_by_key(|step| step.number);
        steps.dedup_by_key(|step| step.number);
        steps
    });
    let of_profiler = profiler.filter(|steps| are_numbered(steps));
    let steps = of_profiler.or_else(|| {
        let own = families.into_values().map(|mut steps| {
            steps.sort_by_key(|step| step.number);
            steps
        });
        let own =
            own.filter(|steps| are_numbered(steps) && follow_each_other(steps) && hold_most_events(steps));
        own.max_by_key(|steps| duration_us(steps))
    })?;
    let first = steps.first()?.number;
    Some((steps.into_iter().map(|step| EventIx(step.events[0])).collect(), first))
}

/// The numbered steps by what their names are without the number.
fn families(recording: &Recording) -> BTreeMap<String, Vec<NumberedStep>> {
    let snapshot = recording.snapshot();
    let mut families: BTreeMap<String, Vec<NumberedStep>> = BTreeMap::new();
    let Some(first_us) = recording.times.first_us() else { return families };
    let first_event = |time_us: i64| match time_us {
        ..0 => 0,
        _ => recording.times.moment_at(&recording.events, time_us).0,
    };
    // A name may have megabytes, and thousands of spans.
    let mut read: HashMap<StrId, Option<(String, u32)>> = HashMap::default();
    for span in named_spans(snapshot, Some(recording.device), recording.times.span_us(), first_us) {
        let NamedSpan { name, time_us, .. } = span;
        let read = read.entry(name).or_insert_with(|| numbered(&snapshot.strings.name(name)));
        if let Some((family, number)) = read {
            let step = NumberedStep { number: *number, time_us, events: time_us.map(first_event) };
            families.entry(family.clone()).or_default().push(step);
        }
    }
    families
}

/// The name of a step without its number, and the number.
fn numbered(name: &str) -> Option<(String, u32)> {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[before.len()..].parse().ok()?;
    let before = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    if before == PROFILER {
        return Some((before.to_owned(), number));
    }
    // Numbers of epochs do not tell families apart: their steps would count from 0 again.
    let before = before.to_lowercase().replace(|c: char| c.is_ascii_digit(), "");
    let mut words = before.split(|c: char| !c.is_alphanumeric());
    let is_step = words.clone().next_back().is_some_and(|last| STEP_WORDS.contains(&last));
    let is_other = words.any(|word| OTHER_WORDS.contains(&word));
    (is_step && !is_other).then_some((before, number))
}

/// Whether there are several steps whose numbers count up by one, in the order in which they start.
fn are_numbered(steps: &[NumberedStep]) -> bool {
    let count_up = |a: &NumberedStep, b: &NumberedStep| {
        a.number.checked_add(1) == Some(b.number) && a.events[0] <= b.events[0]
    };
    1 < steps.len() && steps.is_sorted_by(count_up)
}

/// Whether each step starts when the one before has ended.
fn follow_each_other(steps: &[NumberedStep]) -> bool {
    steps.is_sorted_by(|a, b| a.time_us[1] <= b.time_us[0])
}

/// Whether most of what happens from the first step to the last happens within steps: else they stand for a part of an iteration,
/// such as the optimizer's step.
fn hold_most_events(steps: &[NumberedStep]) -> bool {
    let events = |step: &NumberedStep| u64::from(step.events[1].saturating_sub(step.events[0]));
    let covered: u64 = steps.iter().map(events).sum();
    let ends = steps.first().zip(steps.last()).map(|(first, last)| [first.events[0], last.events[1]]);
    let all = ends.map_or(0, |[from, to]| u64::from(to.saturating_sub(from)));
    all.saturating_sub(covered) <= covered
}

fn duration_us(steps: &[NumberedStep]) -> i64 {
    steps.iter().map(|step| step.time_us[1].saturating_sub(step.time_us[0])).saturating_sum()
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use crate::{Attribution, Iterations, UserRules};
    use oomscope_fixtures::first;
    use oomscope_fixtures::stacks::Recording;
    use oomscope_model::{Annotation, DeviceId, Moment};

    /// Twelve allocations, 10 µs apart from 1000 µs on, with some annotations.
    fn iterations(annotations: &[(&str, i64, i64)]) -> Iterations {
        let mut recording = Recording::default();
        let stack = recording.stack(&["train.py:1 main"]);
        for slot in 0..12 {
            recording.alloc(slot, 512, stack, Some(1000 + slot as i64 * 10));
        }
        let mut snapshot = recording.finish();
        for &(name, from_us, to_us) in annotations {
            let name = snapshot.strings.intern(name.as_bytes()).0;
            for (is_start, time_us) in [(true, from_us), (false, to_us)] {
                let device = Some(DeviceId(0));
                snapshot.annotations.push(Annotation { device, name, is_start, time_us: Some(time_us) });
            }
        }
        Attribution::of(&first(snapshot), &UserRules::default()).phases.iterations
    }

    fn starts(iterations: &Iterations) -> Vec<u32> {
        iterations.list.iter().map(|iteration| iteration.start.0).collect()
    }

    #[test]
    fn steps_of_a_profiler_are_iterations_with_their_numbers() {
        let found = iterations(&[
            ("ProfilerStep#7", 1005, 1020),
            ("ProfilerStep#8", 1025, 1040),
            ("ProfilerStep#9", 1045, 1060),
        ]);
        assert_eq!(starts(&found), [1, 3, 5]);
        let numbers = [1, 2, 4, 6].map(|moment| found.number_at(Moment(moment)));
        assert_eq!(numbers, [None, Some(7), Some(8), Some(9)]);
    }

    #[test]
    fn ranges_that_a_program_numbers_are_iterations() {
        for names in [["step_3", "step_4"], ["## train step 3 ##", "## train step 4 ##"], ["iter3", "iter4"]]
        {
            let found = iterations(&[(names[0], 1005, 1035), (names[1], 1045, 1095)]);
            assert_eq!((starts(&found), found.first_number), (vec![1, 5], Some(3)), "{names:?}");
        }
    }

    #[test]
    fn the_outermost_of_several_are_the_iterations() {
        let found = iterations(&[
            ("step_0", 1005, 1045),
            ("inner step 0", 1005, 1015),
            ("inner step 1", 1025, 1035),
            ("step_1", 1055, 1105),
            ("inner step 2", 1055, 1065),
        ]);
        assert_eq!(starts(&found), [1, 6]);
    }

    #[test]
    fn ranges_that_are_numbered_in_another_way_are_none() {
        for (annotations, why) in [
            (vec![("step_0", 1005, 1035)], "one range shows no structure"),
            (vec![("step_0", 1005, 1035), ("step_2", 1045, 1075)], "a number is missing"),
            (vec![("step_1", 1005, 1035), ("step_0", 1045, 1075)], "numbers fall"),
            (
                vec![("step_0", 1005, 1035), ("step_0", 1045, 1075), ("step_1", 1085, 1095)],
                "a number comes twice",
            ),
            (vec![("step_0", 1005, 1055), ("step_1", 1045, 1075)], "ranges overlap"),
            (
                vec![
                    ("epoch 0 step 0", 1005, 1025),
                    ("epoch 0 step 1", 1025, 1045),
                    ("epoch 1 step 0", 1045, 1065),
                    ("epoch 1 step 1", 1065, 1085),
                ],
                "each epoch counts from 0",
            ),
            (vec![("step_0", 1005, 1015), ("step_1", 1095, 1105)], "most events lie outside"),
            (vec![("eval_step_0", 1005, 1035), ("eval_step_1", 1045, 1075)], "not training"),
            (vec![("layer_0", 1005, 1035), ("layer_1", 1045, 1075)], "not iterations"),
        ] {
            assert_eq!(starts(&iterations(&annotations)), [0u32; 0], "{why}");
        }
    }

    #[test]
    fn a_name_is_read_with_its_number_at_the_end() {
        let of = |name| numbered(name).map(|(family, number)| format!("{family}:{number}"));
        assert_eq!(of("ProfilerStep#12").as_deref(), Some("ProfilerStep:12"));
        assert_eq!(of("[Global_Step=00012]").as_deref(), Some("global_step:12"));
        for name in
            ["step", "12", "", "step_99999999999", "footstep_3", "step_3_loss", "Optimizer.step#Adam.step"]
        {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
