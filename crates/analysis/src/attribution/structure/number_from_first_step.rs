//! Numbers of iterations where recording began after the model was made, but before the first step.

use super::iterations::Iterations;
use crate::attribution::thresholds::{DIFFERENT_PART, NUMBERS_BYTES};
use crate::attribution::{Categories, Category, RuleId};
use oomscope_model::{Bytes, Moment, Timeline};

/// Number iterations if no optimizer has state yet when recording begins, and the first step that is seen sets
/// it up. `steps` are the events at which steps are over.
pub(super) fn number_from_first_step(
    iterations: &mut Iterations,
    timeline: &Timeline,
    steps: &[u32],
    categories: &Categories,
) {
    let Some(first) = iterations.list.first() else { return };
    let end = iterations.list.get(1).map_or(first.end, |second| Moment(second.start.0));
    let before = steps.partition_point(|&step| step <= first.start.0) as u32;
    if before <= 1 && is_state_set_up(timeline, categories, end) {
        iterations.first_number = Some(before);
        iterations.number_before = before.checked_sub(1);
    }
}

/// Whether there is no state before the recording, and all parameters have theirs at a moment.
fn is_state_set_up(timeline: &Timeline, categories: &Categories, until: Moment) -> bool {
    let lifetimes = &timeline.lifetimes;
    let initial = lifetimes.initial_count();
    let (mut early_bytes, mut late_bytes, mut parameter_bytes) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
    for id in lifetimes.ids() {
        let sum = match categories.get(id) {
            Category::OptimizerState if id.index() < initial => return false,
            // Temporaries of a step that is not over may be among these.
            Category::OptimizerState if categories.rule(id) == RuleId::UnfinishedStepKeeps => continue,
            Category::OptimizerState if lifetimes.start(id) <= until => &mut early_bytes,
            Category::OptimizerState => &mut late_bytes,
            Category::Parameter if id.index() < initial => &mut parameter_bytes,
            _ => continue,
        };
        *sum += timeline.size(id).or_zero();
    }
    // If it is not all that the parameters need, another optimizer may have stepped before, whose state reads like parameters.
    let is_for_all = parameter_bytes - parameter_bytes / DIFFERENT_PART as i64 <= early_bytes;
    let has_parameters = 0 < parameter_bytes;
    // Counters and scalars an optimizer may make without any state for parameters.
    // A program may keep something else in every step, which is little.
    let is_state = NUMBERS_BYTES < early_bytes && late_bytes <= early_bytes / DIFFERENT_PART as i64;
    has_parameters && is_state && is_for_all
}

#[cfg(test)]
mod tests {
    use crate::{Attribution, UserRules};
    use oomscope_fixtures::programs::{Program, train};

    /// The iteration at the end of a training of four iterations that is recorded from one of them on.
    fn at_end(mut program: Program, late: usize) -> Option<u32> {
        train(&mut program, 4, Some(late));
        let recording = program.finish();
        let phases = Attribution::of(&recording, &UserRules::default()).phases;
        phases.iteration_at(recording.end())
    }

    #[test]
    fn a_recording_from_before_the_first_step_counts_from_it() {
        assert_eq!(at_end(Program::default(), 0), Some(3));
        assert_eq!(at_end(Program::timed(), 1), None, "state that is there may be of any step");
    }
}
