//! The types of numbers, as far as sizes show them.

use crate::analysis::{Category, TorchOperation};
use crate::model::{AllocId, StackId};
use crate::remedies::scene::Scene;
use crate::remedies::training::{Role, Training};
use foldhash::HashSet;

/// The types of numbers in a recording.
#[derive(Debug)]
pub(super) struct NumberTypes {
    /// Whether it computes in numbers of two bytes already.
    pub(super) are_half: bool,
    /// Whether something shows that numbers have four bytes.
    pub(super) are_wide: bool,
    /// Tensors of one byte for each number of another.
    masks: HashSet<AllocId>,
}

impl NumberTypes {
    /// Look at a recording.
    pub(super) fn of(scene: &Scene<'_>, training: &Training) -> Self {
        let in_dropout = scene.stacks_that(|operation| operation == TorchOperation::Dropout);
        let mut masks = HashSet::default();
        let (mut wide, mut half) = (0u64, 0u64);
        let mut before: Option<(AllocId, StackId, u64)> = None;
        for id in scene.timeline.ids() {
            if !matches!(training.role(id), Role::Batch | Role::EvalBatch) {
                continue;
            }
            let (stack, bytes) = (scene.timeline.stack(id), scene.bytes(id));
            // Dropout makes a mask and its result, as a comparison and what it selects do.
            if let Some((mask, mask_stack, mask_bytes)) = before.replace((id, stack, bytes))
                && mask_stack == stack
                && stack != StackId::EMPTY
            {
                if bytes == mask_bytes.saturating_mul(4) {
                    masks.insert(mask);
                    wide += if in_dropout.has(stack) { bytes } else { 0 };
                } else if bytes == mask_bytes.saturating_mul(2) && in_dropout.has(stack) {
                    masks.insert(mask);
                    half += bytes;
                }
            }
        }
        let losses = smallest_loss(scene, training);
        let are_wide = wide != 0 || losses == Some(4);
        Self {
            are_wide,
            are_half: losses == Some(2)
                || wide < half
                || training.has_weight_copies()
                || has_odd_parameters(scene),
            masks,
        }
    }

    /// Whether an allocation has one byte for each number.
    pub(super) fn is_mask(&self, id: AllocId) -> bool {
        self.masks.contains(&id)
    }
}

/// Whether some parameter has a size that no number of four bytes fills.
fn has_odd_parameters(scene: &Scene<'_>) -> bool {
    let mut ids = scene.timeline.ids();
    ids.any(|id| scene.category(id) == Category::Parameter && !scene.bytes(id).is_multiple_of(4))
}

/// The smallest allocation of a function of torch that computes a loss, in bytes: the loss itself.
fn smallest_loss(scene: &Scene<'_>, training: &Training) -> Option<u64> {
    let in_loss = scene.stacks_that(TorchOperation::is_loss);
    let is_loss = |id: &AllocId| training.role(*id) != Role::Fixed && in_loss.has(scene.timeline.stack(*id));
    scene.timeline.ids().filter(is_loss).map(|id| scene.bytes(id)).filter(|&bytes| bytes != 0).min()
}
