//! What is kept like memory that is known to be left behind, but does not show it by itself.

use crate::scene::Scene;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::Category;
use oomscope_diagnosis::LeftBehind;
use oomscope_model::{AllocId, EventIx, Moment, StackId, Timeline};
use oomscope_program::training_steps;

/// Activations that outlive the next pass are kept on purpose or by mistake if a line leaves this many: one may be held by
/// a variable that is not used any more.
const MIN_OUTLIVING: usize = 3;

/// Activations of other lines that outlive the pass after their own, as another loop of the program leaves them.
pub(super) fn outliving(scene: &Scene<'_>, left: &[LeftBehind]) -> Vec<LeftBehind> {
    let known: HashSet<AllocId> = left.iter().map(|left| left.id).collect();
    let steps = training_steps(&scene.run);
    let lifetimes = &scene.run.recording.lifetimes;
    let mut by_stack: HashMap<StackId, Vec<LeftBehind>> = HashMap::default();
    for pair in steps.windows(2) {
        let [pass, next] = pair else { continue };
        let made = lifetimes.started_between(Moment(pass.events.start), Moment(pass.events.end));
        let outlives = |id: AllocId| lifetimes.end(id).is_none_or(|end| next.events.end < end.0);
        for id in made.filter(|&id| outlives(id) && !known.contains(&id)) {
            let stack = scene.run.recording.stack(id);
            if stack != StackId::EMPTY && scene.run.category(id) == Category::Activation {
                let (from, until) = (EventIx(pass.events.start), EventIx(next.events.start));
                let found =
                    LeftBehind { id, from: Some(from), next: [Some(until), Some(EventIx(next.events.end))] };
                by_stack.entry(stack).or_default().push(found);
            }
        }
    }
    by_stack.into_values().filter(|found| MIN_OUTLIVING <= found.len()).flatten().collect()
}

/// Of lines that leave all they make for a while, the others that are there after the next two were made, with the
/// event at which the next one was: the first of a loop belongs to what came before it.
pub(super) fn of_same_lines(
    timeline: &Timeline,
    left: &[LeftBehind],
    by_stack: &HashMap<StackId, Vec<AllocId>>,
) -> Vec<(AllocId, EventIx)> {
    let known: HashSet<AllocId> = left.iter().map(|left| left.id).collect();
    // Between two that a line leaves, it makes no other.
    let makes_one = |made: &&Vec<AllocId>| {
        let is_left = |id: &AllocId| known.contains(id);
        let first = made.iter().position(is_left).unwrap_or(0);
        let last = made.iter().rposition(is_left).map_or(0, |last| last + 1);
        made[first..last].iter().all(is_left)
    };
    let mut out = Vec::new();
    for made in by_stack.values().filter(makes_one) {
        for three in made.windows(3) {
            let [id, next, after] = three else { continue };
            let is_kept =
                timeline.lifetimes.end(*id).is_none_or(|end| timeline.lifetimes.start(*after) < end);
            if let Some(event) = timeline.lifetimes.start(*next).event()
                && is_kept
                && !known.contains(id)
            {
                out.push((*id, event));
            }
        }
    }
    out
}
