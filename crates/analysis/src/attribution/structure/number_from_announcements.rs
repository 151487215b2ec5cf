//! Numbers of iterations where the oldest events are lost: by the steps that torch announced before them.

use super::phase::{Phase, PhaseStart};
use super::phases::Phases;
use crate::attribution::facts::{Announced, AnnouncedRange};
use crate::attribution::thresholds::DIFFERENT_PART;
use crate::attribution::{Categories, Category};
use oomscope_model::{StackId, Timeline};

/// Steps of several optimizers in one iteration follow on each other closely. Two steps may be such if the time between
/// them is less than one part in this many of the longest times between steps.
const LONG_GAP_PART: i64 = 16;

/// Two steps may be such, too, if the time between them is less than one part in this many of the time that a step takes.
const STEP_LENGTH_PART: i64 = 4;

/// Number iterations by the steps before them, if recording began before the first: the parameters
/// that are live were made while stacks were recorded. What does not show stays as it is.
pub(super) fn number_from_announcements(
    course: &mut Phases,
    timeline: &Timeline,
    announced: &Announced,
    categories: &Categories,
) {
    let list = if only_evaluates(course) { &[] } else { course.iterations.list.as_slice() };
    let starts: Vec<u32> = list.iter().map(|iteration| iteration.start.0).collect();
    let Some(per_iteration) = steps_per_iteration(&announced.steps, &starts) else { return };
    let ended = (course.steps_before / per_iteration) as u32;
    let iterations = &mut course.iterations;
    iterations.ended_before =
        iterations.ended_before.max(ended.saturating_add(iterations.ended_before_first()));
    if !announced.is_complete || !are_parameters_recorded(timeline, categories) {
        return;
    }
    let number = |&event: &u32| {
        let before = steps_until(&announced.steps, event);
        before.is_multiple_of(per_iteration).then_some((before / per_iteration) as u32)
    };
    let numbers: Option<Vec<u32>> = starts.iter().map(number).collect();
    match numbers.as_deref() {
        Some([]) => {
            if let Some(number) = number_of_only_iteration(course, timeline, announced) {
                course.iterations.number_before = Some(number);
                course.iterations.list.clear();
            }
        }
        Some([first, ..]) if numbers.iter().flatten().zip(*first..).all(|(&a, b)| a == b) => {
            course.iterations.first_number = Some(*first);
            course.iterations.number_before = first.checked_sub(1);
        }
        _ => {}
    }
}

/// Whether the trace shows calls of models and no training: these belong to the iteration before. A call that the trace
/// has only the end of does not show what it was.
fn only_evaluates(course: &Phases) -> bool {
    let has_training = course.has_backward() && course.calls.iter().any(|call| call.trains);
    !course.calls.is_empty() && !has_training
}

/// The number of the iteration that the whole trace lies in, where none begins within it.
fn number_of_only_iteration(course: &Phases, timeline: &Timeline, announced: &Announced) -> Option<u32> {
    if 1 < announced.within_trace().take(2).count() {
        return None;
    }
    let steps = announced.steps.len() as u32;
    let last = announced.steps.last()?;
    let begins_iteration = |start: &PhaseStart| {
        last.events[1] <= start.event.0
            && matches!(start.phase, Phase::Data | Phase::Forward | Phase::Backward)
    };
    // Data for an evaluation do not begin an iteration.
    let may_be_evaluated = course.calls.iter().any(|call| !call.trains && last.events[1] <= call.event.0);
    let end = timeline.end();
    // Whatever follows a step without beginning an iteration belongs to the step's.
    let is_after_step = match course.start_before(end)?.phase {
        Phase::Data if may_be_evaluated => return None,
        Phase::Data | Phase::Forward | Phase::Backward => last.is_open,
        Phase::Optimizer => !course.phases.iter().any(begins_iteration),
        Phase::Eval => true,
        Phase::Init | Phase::Unknown => return None,
    };
    steps.checked_sub(u32::from(is_after_step))
}

/// Whether the parameters that were there before the first event, and still are at the end, have stacks.
fn are_parameters_recorded(timeline: &Timeline, categories: &Categories) -> bool {
    let lifetimes = &timeline.lifetimes;
    let mut parameters = lifetimes
        .ids()
        .take(lifetimes.initial_count())
        .filter(|&id| lifetimes.end(id).is_none())
        .filter(|&id| matches!(categories.get(id), Category::Parameter | Category::OptimizerState))
        .map(|id| timeline.stack(id) != StackId::EMPTY)
        .peekable();
    parameters.peek().is_some() && parameters.all(|is_recorded| is_recorded)
}

/// How many steps there are in each iteration; `None` where that differs, or does not show.
fn steps_per_iteration(steps: &[AnnouncedRange], starts: &[u32]) -> Option<usize> {
    let mut counts = starts.windows(2).map(|pair| match pair {
        [from, to] => steps_until(steps, *to).saturating_sub(steps_until(steps, *from)),
        _ => 0,
    });
    let Some(first) = counts.next() else { return are_far_apart(steps).then_some(1) };
    (0 < first && counts.all(|count| count == first)).then_some(first)
}

/// How many steps are over before an event. They may lie between two events.
fn steps_until(steps: &[AnnouncedRange], event: u32) -> usize {
    steps.partition_point(|step| step.is_before || step.events[1] <= event)
}

/// Whether no two steps follow on each other as closely as those of two optimizers do.
fn are_far_apart(steps: &[AnnouncedRange]) -> bool {
    let gap_us = |pair: &[AnnouncedRange]| match pair {
        [one, next] => next.time_us[0].saturating_sub(one.time_us[1]),
        _ => 0,
    };
    let mut gaps_us: Vec<i64> = steps.windows(2).map(gap_us).collect();
    gaps_us.sort_unstable();
    let length_us = |step: &AnnouncedRange| step.time_us[1].saturating_sub(step.time_us[0]);
    let mut lengths_us: Vec<i64> = steps.iter().map(length_us).collect();
    lengths_us.sort_unstable();
    let median_us = lengths_us.get(lengths_us.len() / 2).copied().unwrap_or(0);
    let Some(&least_us) = gaps_us.first() else { return true };
    // The least of the longest, as single ones may be pauses.
    let longest = gaps_us.len() - gaps_us.len().div_ceil(DIFFERENT_PART);
    let long_us = gaps_us.get(longest).copied().unwrap_or(0);
    long_us / LONG_GAP_PART <= least_us && median_us / STEP_LENGTH_PART <= least_us
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attribution, Position, UserRules};
    use oomscope_fixtures::programs::{Program, train};

    /// The position at the end of a training of six iterations, and how many steps were announced before it.
    fn at_end(mut program: Program, late: Option<usize>) -> (Position, usize) {
        train(&mut program, 6, late);
        let recording = program.finish();
        let phases = Attribution::of(&recording, &UserRules::default()).phases;
        (phases.position_at(recording.end()), phases.steps_before)
    }

    #[test]
    fn announced_steps_number_iterations_where_the_oldest_events_are_lost() {
        let (position, steps) = at_end(Program::ring(), Some(3));
        let recorded = position.iteration_of_recording;
        assert_eq!((position.iteration, recorded, position.iteration_at_least), (Some(5), Some(2), None));
        assert_eq!(steps, 3);
    }

    #[test]
    fn the_iteration_under_way_is_numbered_where_none_begins_later() {
        let (position, _) = at_end(Program::ring(), Some(5));
        assert_eq!((position.iteration, position.iteration_of_recording), (Some(5), Some(0)));
    }

    #[test]
    fn without_stacks_steps_before_are_a_bound() {
        let (position, steps) = at_end(Program::ring().without_stacks(), Some(3));
        assert_eq!((position.iteration, steps), (None, 3));
        assert_eq!(position.iteration_at_least, Some(5));
    }

    #[test]
    fn steps_that_follow_at_once_are_of_one_iteration() {
        let step = |from: i64| AnnouncedRange {
            time_us: [from, from + 10],
            events: [0, 0],
            is_before: true,
            is_open: false,
            drops_gradients: false,
        };
        let spaced: Vec<AnnouncedRange> = (0..5).map(|at| step(at * 1000)).collect();
        let paired: Vec<AnnouncedRange> =
            (0..5).flat_map(|at| [step(at * 1000), step(at * 1000 + 15)]).collect();
        assert_eq!((steps_per_iteration(&spaced, &[]), steps_per_iteration(&paired, &[])), (Some(1), None));
        let one_pair = [
            AnnouncedRange { time_us: [0, 100], ..step(0) },
            AnnouncedRange { time_us: [110, 210], ..step(0) },
        ];
        assert_eq!(steps_per_iteration(&one_pair, &[]), None, "a step takes longer than what lies between");
    }
}
