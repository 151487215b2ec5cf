//! Blocks from before the recording: parameters, gradients and state, by size and address, and by the
//! optimizer that steps.

use super::by_layout;
use super::old_like_calls;
use super::old_unpaired::Unpaired;
use super::recorded_training::{RecordedTraining, SizeSplit};
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::Activity;
use crate::attribution::view::{BlocksBySize, CountBySize, View};
use crate::attribution::{Category, RuleId};
use foldhash::HashSet;
use oomscope_model::{AllocId, Anchor, Bytes, EventIx};

/// Claim what is older than the recording.
pub(super) fn claim(view: &View<'_>, old: &[AllocId], claims: &mut Claims) {
    if old.is_empty() {
        return;
    }
    let (kept, freed): (Vec<AllocId>, Vec<AllocId>) = old.iter().partition(|&&id| view.is_live_at_end(id));
    let by_size = view.blocks_by_size(&kept);
    let training = RecordedTraining::of(view, claims, &by_size);
    // If stacks show a model at work that is not trained, all that is old is the model.
    let shows_nothing = training.shows_no_gradients() && view.device.activities.runs.is_empty();
    if shows_nothing && view.timeline.anchor == Anchor::EndState {
        by_layout::claim(view, &kept, claims);
    } else {
        claim_by_size(view, &by_size, &training, claims);
    }
    claim_freed(view, &freed, &training.gradients, claims);
}

fn claim_by_size(
    view: &View<'_>,
    by_size: &BlocksBySize,
    training: &RecordedTraining<'_>,
    claims: &mut Claims,
) {
    let (mut trained, mut unpaired) = (Vec::new(), Vec::new());
    for (&size, ids) in by_size {
        match training.split(size, ids.len()) {
            Some(split) => {
                // Which of several blocks of a size are the parameters, only their order tells.
                if training.are_parameters_first() || split.parameters == ids.len() {
                    claim_split(size, ids, split, claims);
                }
                trained.extend_from_slice(ids.get(..split.parameters).unwrap_or_default());
            }
            None if training.gradients.contains_key(&size) => {}
            None => unpaired.extend_from_slice(ids),
        }
    }
    Unpaired::new(view, training.blocks_with_state(), &trained, unpaired).claim(claims);
}

/// Claim the blocks of one size: in the order of their addresses, parameters are followed by buckets, gradients and state.
fn claim_split(size: Bytes, ids: &[AllocId], split: SizeSplit, claims: &mut Claims) {
    let blocks = Blocks { alike: ids.len(), known: split.parameters, known_as: Category::Parameter };
    let buckets_end = split.parameters + split.buckets;
    let gradients_end = buckets_end + split.gradients;
    // Nothing shows which of old gradients and old state of one size is which.
    let is_clear = split.gradients == 0 || ids.len() <= gradients_end;
    for (at, &id) in ids.iter().enumerate().take(if is_clear { ids.len() } else { buckets_end }) {
        let category = match at {
            _ if at < split.parameters => Category::Parameter,
            _ if at < buckets_end => Category::Comm,
            _ if at < gradients_end => Category::Gradient,
            _ => Category::OptimizerState,
        };
        claims.claim_with_blocks(id, Verdict::new(category, RuleId::OldPairs), size, blocks);
    }
}

/// Claim old blocks that are freed; one that nothing explains stays unknown.
fn claim_freed(view: &View<'_>, freed: &[AllocId], gradients: &CountBySize, claims: &mut Claims) {
    let recreated = RecreatedState::of(view, claims);
    let mut rest = Vec::new();
    for &id in freed {
        match verdict_by_free(view, id, gradients, &recreated) {
            Some(verdict) => claims.claim(id, verdict),
            None => rest.push(id),
        }
    }
    if view.device.activities.has_stacks {
        old_like_calls::claim(view, &rest, claims);
    } else {
        claims.claim_all(rest, RuleId::OldAndGone.verdict());
    }
}

/// The verdict that freeing a block suggests.
fn verdict_by_free(
    view: &View<'_>,
    id: AllocId,
    gradients: &CountBySize,
    recreated: &RecreatedState<'_>,
) -> Option<Verdict> {
    let freed = view.free_event(id)?;
    match view.device.activities.at(freed.0) {
        Activity::Backward => Some(RuleId::GoneInBackward.verdict()),
        Activity::Step if recreated.has(freed, view.size(id)) => Some(RuleId::GoneInStep.verdict()),
        _ if gradients.contains_key(&view.size(id)) => Some(RuleId::OldGradient.verdict()),
        _ => None,
    }
}

/// Optimizer state that is not updated in place, but made anew in each step: what each step leaves.
struct RecreatedState<'a> {
    view: &'a View<'a>,
    /// The index of a step, and a size of state that it leaves.
    sizes: HashSet<(usize, Bytes)>,
}

impl<'a> RecreatedState<'a> {
    fn of(view: &'a View<'a>, claims: &Claims) -> Self {
        let mut out = Self { view, sizes: HashSet::default() };
        for (id, made) in view.new_ids() {
            // State that is set up takes the place of nothing.
            let Verdict { category, rule } = claims.verdict(id);
            let is_made_anew = category == Category::OptimizerState && rule != RuleId::StateSetup;
            if let Some(step) = view.device.step_spans.index_at(made.0).filter(|_| is_made_anew) {
                out.sizes.insert((step, view.size(id)));
            }
        }
        out
    }

    /// Whether the step that an event lies in leaves state of a size.
    fn has(&self, event: EventIx, size: Bytes) -> bool {
        let step = self.view.device.step_spans.index_at(event.0);
        step.is_some_and(|step| self.sizes.contains(&(step, size)))
    }
}
