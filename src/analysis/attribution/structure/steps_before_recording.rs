//! Whether an optimizer had stepped before the recording began.

use super::phases::Phases;
use crate::analysis::attribution::facts::{FactsByStack, StackTrait};
use crate::analysis::attribution::{Categories, Category, RuleId};
use crate::model::{StackId, Timeline};

/// Rules that tell state from parameters by how many blocks of a size there are.
const COUNTING: [RuleId; 3] = [RuleId::OldPairs, RuleId::LiesLater, RuleId::PairsAndStays];

/// Whether an optimizer stepped before the recording: if state that was made within a step was there already, or twice as much state as
/// there are parameters, where gradients tell which blocks these are. Once as much is not enough: some optimizers make one
/// state for each parameter when they are made themselves.
pub(super) fn has_stepped_before(
    course: &Phases,
    timeline: &Timeline,
    stacks: &FactsByStack,
    categories: &Categories,
) -> bool {
    let lifetimes = &timeline.lifetimes;
    let (mut state_bytes, mut parameter_bytes) = (0i64, 0i64);
    let mut is_made_in_step = false;
    for id in lifetimes.ids().take(lifetimes.initial_count()) {
        let size = timeline.size(id).max(0);
        let stack = timeline.stack(id);
        let is_counted = stack == StackId::EMPTY && COUNTING.contains(&categories.rule(id));
        match categories.get(id) {
            Category::OptimizerState if is_counted => state_bytes = state_bytes.saturating_add(size),
            Category::OptimizerState => is_made_in_step |= stacks.get(stack).has(StackTrait::WithinStep),
            Category::Parameter if is_counted => parameter_bytes = parameter_bytes.saturating_add(size),
            _ => {}
        }
    }
    // Between announced steps, a backward is itself found by sizes.
    let has_seen_backward = !course.is_between_steps && course.has_backward();
    let has_two_states = 0 < parameter_bytes && parameter_bytes.saturating_mul(2) <= state_bytes;
    is_made_in_step || (has_seen_backward && has_two_states)
}
