//! Iterations that a profiler announced: `ProfilerStep#12`.

use super::iterations::MIN_NUMBERED_STEPS;
use crate::analysis::events::named_spans::named_spans;
use crate::model::{EventIx, Snapshot, Timeline};

/// The name of a step of `torch.profiler`, before its number (torch/profiler/profiler.py).
const PREFIX: &str = "ProfilerStep#";

/// The first event of every step, and the number of the first step. `None` without such annotations.
pub(super) fn profiler_steps(snapshot: &Snapshot, timeline: &Timeline) -> Option<(Vec<EventIx>, u32)> {
    let number = |name: &str| name.strip_prefix(PREFIX)?.parse::<u32>().ok();
    let first_us = timeline.times.first_us()?;
    let spans = named_spans(snapshot, Some(timeline.device), timeline.times.span_us(), first_us);
    let first_event = |time_us: i64| match time_us {
        ..0 => EventIx(0),
        _ => EventIx(timeline.times.moment_at(&timeline.events, time_us).0),
    };
    let mut steps: Vec<(u32, EventIx)> = spans
        .into_iter()
        .filter_map(|span| Some((number(&snapshot.strings.get(span.name))?, first_event(span.time_us[0]))))
        .collect();
    steps.sort_unstable();
    steps.dedup_by_key(|step| step.0);
    let is_in_order = steps.is_sorted_by(|a, b| a.0 + 1 == b.0 && a.1 <= b.1);
    let first = steps.first()?.0;
    let starts = steps.into_iter().map(|step| step.1).collect::<Vec<_>>();
    (is_in_order && MIN_NUMBERED_STEPS <= starts.len()).then_some((starts, first))
}

#[cfg(test)]
mod tests {
    use crate::analysis::stacks_fixture::Recording;
    use crate::analysis::{Attribution, UserRules};
    use crate::model::{Annotation, DeviceId, Moment};

    #[test]
    fn steps_of_a_profiler_are_iterations_with_their_numbers() {
        let mut recording = Recording::default();
        let stack = recording.stack(&["train.py:1 main"]);
        for slot in 0..6 {
            recording.alloc(slot, 512, stack, Some(1000 + slot as i64 * 10));
        }
        let mut snapshot = recording.finish();
        for (step, time_us) in [(7, 1005), (8, 1025), (9, 1045)] {
            let name = snapshot.strings.intern(format!("ProfilerStep#{step}").as_bytes()).0;
            for (is_start, time_us) in [(true, time_us), (false, time_us + 15)] {
                snapshot.annotations.push(Annotation {
                    device: Some(DeviceId(0)),
                    name,
                    is_start,
                    time_us: Some(time_us),
                });
            }
        }
        let phases = Attribution::of(&snapshot, &snapshot.timelines[0], &UserRules::default()).phases;
        let starts: Vec<u32> = phases.iterations.list.iter().map(|iteration| iteration.start.0).collect();
        assert_eq!(starts, [1, 3, 5]);
        let numbers = [1, 2, 4, 6].map(|moment| phases.iterations.number_at(Moment(moment)));
        assert_eq!(numbers, [None, Some(7), Some(8), Some(9)]);
    }
}
