//! Blocks from before the recording: parameters, gradients and state, by size and address, and by the
//! optimizer that steps.

use super::by_layout;
use super::old_freed;
use super::old_unpaired::Unpaired;
use super::recorded_training::{RecordedTraining, SizeSplit};
use crate::analysis::attribution::claims::{Blocks, Claims, Verdict};
use crate::analysis::attribution::view::{BlocksBySize, View};
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, Anchor};

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
    old_freed::claim(view, &freed, &training.gradients, claims);
}

fn claim_by_size(
    view: &View<'_>,
    by_size: &BlocksBySize,
    training: &RecordedTraining<'_>,
    claims: &mut Claims,
) {
    let mut unpaired = Unpaired::new(view, training.blocks_with_state());
    for (&size, ids) in by_size {
        match training.split(size, ids.len()) {
            Some(split) => {
                // Which of several blocks of a size are the parameters, only their order tells.
                if training.are_parameters_first() || split.parameters == ids.len() {
                    claim_split(size, ids, split, claims);
                }
                unpaired.note_parameters(ids.get(..split.parameters).unwrap_or_default());
            }
            None if training.gradients.contains_key(&size) => {}
            None => unpaired.add(ids),
        }
    }
    unpaired.claim(claims);
}

/// Claim the blocks of one size: in the order of their addresses, parameters are followed by buckets, gradients and state.
fn claim_split(size: i64, ids: &[AllocId], split: SizeSplit, claims: &mut Claims) {
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
