//! Optimizer steps that torch announces by itself: every `Optimizer.step` and `Optimizer.zero_grad` of the thread that
//! records is a range with a name and times (torch/optim/optimizer.py), whether or not it allocates anything.
//! Such ranges have a ring buffer of their own, as long as that of the events, and there are fewer of them: they
//! reach further back than the events do.

use crate::events::named_spans::{NamedSpan, named_spans};
use foldhash::HashMap;
use oomscope_model::{Recording, StrId, Timeline};
use std::cmp::Reverse;

const STEP: &str = "Optimizer.step#";
const ZERO_GRAD: &str = "Optimizer.zero_grad#";

/// A range of time in which an optimizer does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnnouncedRange {
    /// Start and end, in microseconds since the first event.
    pub(crate) time_us: [i64; 2],
    /// The first event within it, and the first after it.
    pub(crate) events: [u32; 2],
    /// Whether it ended before the first event.
    pub(crate) is_before: bool,
    /// Whether the recording ends within it.
    pub(crate) is_open: bool,
    /// Whether gradients are dropped within it: by a closure, which calls the model as well.
    pub(crate) drops_gradients: bool,
}

impl AnnouncedRange {
    fn of(timeline: &Timeline, span: &NamedSpan) -> Self {
        let [start_us, end_us] = span.time_us;
        let until = |time_us: i64| timeline.times.moment_at(&timeline.events, time_us).0;
        Self {
            time_us: span.time_us,
            events: [until(start_us.saturating_sub(1)), until(end_us)],
            is_before: end_us < 0,
            is_open: !span.is_whole(),
            drops_gradients: false,
        }
    }
}

/// All announced ranges of a recording, in order.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    /// Steps of optimizers. One within another is left out.
    pub(crate) steps: Vec<AnnouncedRange>,
    /// Ranges in which gradients are dropped or set to zero.
    zero_grads: Vec<AnnouncedRange>,
    /// Whether surely nothing was lost since recording began.
    pub(crate) is_complete: bool,
}

impl Announced {
    /// The ranges announced in the course of a recording, as seen from one of its devices.
    pub(crate) fn of(recording: &Recording) -> Self {
        let snapshot = recording.snapshot();
        let Some(first_us) = recording.times.first_us() else { return Self::default() };
        let longest = snapshot.timelines.iter().map(|timeline| timeline.events.len()).max().unwrap_or(0);
        let is_complete = snapshot.damage.is_none() && snapshot.annotations.len() < longest;
        let mut out = Self { is_complete, ..Self::default() };
        let mut outer_us = i64::MIN;
        for (span, is_step) in optimizer_spans(recording, first_us) {
            let is_inner = span.time_us[1] <= outer_us;
            if !is_step {
                if let Some(outer) = out.steps.last_mut().filter(|_| is_inner) {
                    outer.drops_gradients = true;
                }
                out.zero_grads.push(AnnouncedRange::of(recording, &span));
            } else if !is_inner {
                outer_us = span.time_us[1];
                out.steps.push(AnnouncedRange::of(recording, &span));
            }
        }
        out
    }

    /// The steps that end, or would, after the first event.
    pub(crate) fn within_trace(&self) -> impl Iterator<Item = &AnnouncedRange> {
        self.steps.iter().filter(|step| !step.is_before)
    }

    /// The event after each of the steps within the trace.
    pub(crate) fn ends(&self) -> Vec<u32> {
        self.within_trace().map(|step| step.events[1]).collect()
    }

    /// The step that an event lies in.
    pub(crate) fn step_at(&self, event: u32) -> Option<&AnnouncedRange> {
        range_at(&self.steps, event)
    }

    /// Whether an event lies where gradients are dropped or set to zero.
    pub(crate) fn is_in_zero_grad(&self, event: u32) -> bool {
        range_at(&self.zero_grads, event).is_some()
    }
}

fn range_at(ranges: &[AnnouncedRange], event: u32) -> Option<&AnnouncedRange> {
    let after = ranges.partition_point(|range| range.events[0] <= event);
    ranges.get(after.checked_sub(1)?).filter(|range| event < range.events[1])
}

/// The spans of optimizers in order, of all devices: a process has one main thread, whichever device is current there.
/// A span without a start says nothing, and one without an end only if the recording may have stopped within it. Each comes with
/// whether it is a step; else gradients are dropped in it.
fn optimizer_spans(recording: &Recording, first_us: i64) -> Vec<(NamedSpan, bool)> {
    let snapshot = recording.snapshot();
    let mut are_steps: HashMap<StrId, Option<bool>> = HashMap::default();
    let mut is_step = |name| {
        *are_steps.entry(name).or_insert_with(|| {
            let name = snapshot.strings.name(name);
            let is_step = name.starts_with(STEP);
            (is_step || name.starts_with(ZERO_GRAD)).then_some(is_step)
        })
    };
    let mut out: Vec<(NamedSpan, bool)> = named_spans(snapshot, None, recording.times.span_us(), first_us)
        .into_iter()
        .filter(|span| span.has_ends[0])
        .filter_map(|span| Some((span, is_step(span.name)?)))
        .collect();
    let last_end_us = [false, true].map(|wanted| {
        let whole = out.iter().filter(|(span, is_step)| span.is_whole() && *is_step == wanted);
        whole.map(|(span, _)| span.time_us[1]).max().unwrap_or(i64::MIN)
    });
    out.retain(|(span, is_step)| {
        let is_last = last_end_us[usize::from(*is_step)] <= span.time_us[0];
        span.is_whole() || (snapshot.damage.is_none() && is_last)
    });
    // The outer one of two spans that start together comes first.
    out.sort_by_key(|(span, _)| (span.time_us[0], Reverse(span.time_us[1])));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::programs::{Program, STEP_NAME, ZERO_GRAD_NAME};

    /// The announced ranges, as seen from a recording of six allocations that starts after `lost` of them.
    fn announced(lost: usize, marks: &[(usize, &str, bool)]) -> Announced {
        let mut program = Program::ring();
        for at in 0..=6 {
            for (_, name, is_start) in marks.iter().filter(|mark| mark.0 == at) {
                program.announce(name, *is_start);
            }
            if at == lost {
                program.start_late();
            }
            if at < 6 {
                program.alloc(512, &[]);
            }
        }
        Announced::of(&program.finish())
    }

    fn events(ranges: &[AnnouncedRange]) -> Vec<([u32; 2], bool)> {
        ranges.iter().map(|range| (range.events, range.is_before)).collect()
    }

    #[test]
    fn steps_reach_further_back_than_events() {
        let step = |at, is_start| (at, STEP_NAME, is_start);
        let zero = |at, is_start| (at, ZERO_GRAD_NAME, is_start);
        let found = announced(
            3,
            &[
                step(1, true),
                step(2, false),
                zero(2, true),
                zero(3, false),
                step(4, true),
                step(5, false),
                step(6, true),
            ],
        );
        assert_eq!(events(&found.steps), [([0, 0], true), ([1, 2], false), ([3, 3], false)]);
        assert_eq!(events(&found.zero_grads), [([0, 0], true)]);
        let is_open: Vec<bool> = found.steps.iter().map(|step| step.is_open).collect();
        assert_eq!((is_open, found.is_complete), (vec![false, false, true], false));
        assert_eq!(found.within_trace().count(), 2);
    }

    #[test]
    fn a_step_within_another_is_a_part_of_it() {
        let marks = [
            (1, "Optimizer.step#SAM.step", true),
            (2, ZERO_GRAD_NAME, true),
            (2, ZERO_GRAD_NAME, false),
            (3, STEP_NAME, true),
            (4, STEP_NAME, false),
            (5, "Optimizer.step#SAM.step", false),
            (5, "a range of the program's own", true),
        ];
        let found = announced(0, &marks);
        assert_eq!(events(&found.steps), [([1, 5], false)]);
        assert!(found.steps[0].drops_gradients && !found.steps[0].is_open);
    }

    #[test]
    fn ends_that_are_lost_hide_no_later_step() {
        let step = |at, is_start| (at, STEP_NAME, is_start);
        let found = announced(0, &[step(0, false), step(1, true), step(2, true), step(3, false)]);
        assert_eq!(events(&found.steps), [([2, 3], false)], "neither start nor end alone says anything");
        let open = announced(0, &[step(1, true), step(2, false), step(4, true)]);
        assert_eq!(events(&open.steps), [([1, 2], false), ([4, 6], false)]);
        assert!(open.steps[1].is_open);
    }

    #[test]
    fn fewer_announcements_than_events_are_all_that_were_made() {
        let marks = [(1, STEP_NAME, true), (2, STEP_NAME, false)];
        assert!(announced(0, &marks).is_complete);
        assert!(!announced(4, &marks).is_complete, "the ring of the announcements may be full, too");
    }
}
