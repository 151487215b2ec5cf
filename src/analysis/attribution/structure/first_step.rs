//! Numbers of iterations where recording began after the model was made, but before the first step.

use super::Phases;
use crate::analysis::attribution::{Categories, Category, RuleId};
use crate::model::{Moment, Timeline};

/// Less is no state to speak of, but numbers.
const MIN_STATE_BYTES: i64 = 1024;

impl Phases {
    /// Number iterations if no optimizer has state yet when recording begins, and the first step that is seen sets
    /// it up. `steps` are the events at which steps are over.
    pub(in crate::analysis) fn count_from_first_step(
        &mut self,
        timeline: &Timeline,
        steps: &[u32],
        categories: &Categories,
    ) {
        let is_open = self.iterations.first_number.is_none() && self.iterations.number_before.is_none();
        let is_early = self.iterations.ended_before == 0 && self.steps_before == 0 && 0 <= timeline.device.0;
        let may_be_first = is_open && is_early;
        let Some(first) = self.iterations.list.first().filter(|_| may_be_first) else { return };
        let end = self.iterations.list.get(1).map_or(first.end, |second| Moment(second.start.0));
        let before = steps.partition_point(|&step| step <= first.start.0) as u32;
        if before <= 1 && is_set_up(timeline, categories, end) {
            self.iterations.first_number = Some(before);
            self.iterations.number_before = before.checked_sub(1);
        }
    }
}

/// Whether there is no state before the recording, and until a moment it is made for all parameters.
fn is_set_up(timeline: &Timeline, categories: &Categories, until: Moment) -> bool {
    let lifetimes = &timeline.lifetimes;
    let initial = lifetimes.initial_count();
    let (mut early, mut late, mut parameters) = (0i64, 0i64, 0i64);
    for id in lifetimes.ids() {
        let sum = match categories.get(id) {
            Category::OptimizerState if id.index() < initial => return false,
            // Temporaries of a step that is not over may be among what looks like this.
            Category::OptimizerState if categories.rule(id) == RuleId::UnfinishedStepKeeps => continue,
            Category::OptimizerState if lifetimes.start(id) <= until => &mut early,
            Category::OptimizerState => &mut late,
            Category::Parameter if id.index() < initial => &mut parameters,
            _ => continue,
        };
        *sum = sum.saturating_add(lifetimes.size(id, &timeline.events).max(0));
    }
    // Something else may be kept in every step; and where there is less state than parameters, another optimizer may
    // have stepped before, whose state reads like parameters.
    MIN_STATE_BYTES <= early && 0 < parameters && late <= early / 8 && parameters - parameters / 10 <= early
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{Program, train};
    use crate::analysis::{Attribution, UserRules};
    use crate::model::Moment;

    /// The iteration at the end of a training of four iterations that is recorded from one of them on.
    fn at_end(mut program: Program, late: usize) -> Option<u32> {
        train(&mut program, 4, Some(late));
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let phases = Attribution::of(&snapshot, timeline, &UserRules::default()).phases;
        phases.iteration_at(Moment(timeline.events.len() as u32))
    }

    #[test]
    fn a_recording_from_before_the_first_step_counts_from_it() {
        assert_eq!(at_end(Program::default(), 0), Some(3));
        assert_eq!(at_end(Program::timed(), 1), None, "state that is there may be of any step");
    }
}
