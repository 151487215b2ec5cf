//! How many samples a batch has, where the recording shows it.

use crate::analysis::{Category, fitting_tensors};
use crate::remedies::scene::Scene;

/// How many samples the batches have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::remedies) enum BatchSize {
    One,
    MoreThanOne,
    /// Nothing shows it.
    Unknown,
}

impl BatchSize {
    /// The first dimension of inputs, where the recorder noted their shapes. Where these contradict each other, none counts.
    pub(in crate::remedies) fn of(scene: &Scene<'_>) -> Self {
        let inputs = scene.of_category(Category::Input).into_iter().map(|id| scene.timeline.allocation(id));
        let shapes = inputs.flat_map(|input| fitting_tensors(scene.snapshot, scene.timeline.device, &input));
        let first: Vec<i64> = shapes.filter_map(|tensor| tensor.shape.first().copied()).collect();
        if first.is_empty() {
            Self::Unknown
        } else if first.iter().all(|&samples| samples == 1) {
            Self::One
        } else if first.iter().all(|&samples| 1 < samples) {
            Self::MoreThanOne
        } else {
            Self::Unknown
        }
    }
}
