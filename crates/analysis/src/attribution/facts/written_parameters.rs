//! Whether the program's own code writes parameters: after a backward, it makes blocks as large as the gradients that stay.

use super::activities::{Activities, Activity};
use super::activity_spans::ActivitySpans;
use super::facts_by_stack::FactsByStack;
use super::frees::free_event;
use super::stack_traits::StackTrait;
use crate::attribution::thresholds::MIN_AGREEING;
use foldhash::HashSet;
use oomscope_model::{Bytes, Timeline};

/// Whether blocks of several such sizes are made between a backward and the next call; of a function that is named as a
/// step, one is enough.
pub(super) fn writes_parameters(
    timeline: &Timeline,
    stacks: &FactsByStack,
    activities: &Activities,
    backwards: &ActivitySpans,
) -> bool {
    let mut gradients: HashSet<Bytes> = HashSet::default();
    let mut written: HashSet<Bytes> = HashSet::default();
    let mut follows_backward = false;
    for run in &activities.runs {
        match run.activity {
            Activity::Backward => {
                follows_backward = true;
                let stays = |id, made| {
                    let end = backwards.end_after(made);
                    free_event(&timeline.lifetimes, id).is_none_or(|freed| end <= freed.0)
                };
                let kept = run.allocations(timeline).filter(|&(id, made)| stays(id, made.0));
                gradients.extend(kept.map(|(id, _)| timeline.size(id)));
            }
            Activity::Main if follows_backward => {
                for (id, made) in run.allocations(timeline) {
                    let size = timeline.size(id);
                    let is_written = gradients.contains(&size);
                    let is_step = stacks.get(timeline.events.stack(made)).has(StackTrait::AnyNamedStep);
                    written.extend(is_written.then_some(size));
                    if (is_written && is_step) || MIN_AGREEING <= written.len() {
                        return true;
                    }
                }
            }
            Activity::Data | Activity::Call | Activity::Step => follows_backward = false,
            Activity::Main | Activity::Aside | Activity::Gradients | Activity::Nothing => {}
        }
    }
    false
}
