//! Whether a change stops a leak.

use super::left_by_leak;
use crate::offer::{Offer, Part};
use crate::scene::Scene;
use crate::tried::changed;
use oomscope_diagnosis::is_leak;
use oomscope_model::{AllocId, SaturatingSum as _};
use oomscope_simulator::Program;

/// What a leak left behind, where the verdict on a recording is a leak, to ask of changes whether they stop it.
///
/// That is what reports quote for a leak, too: to keep nothing, or no graph in evaluation. What makes memory that piles up
/// smaller, or makes room for it, puts off the end.
pub(crate) struct Leak<'a> {
    recorded: &'a Program<'a>,
    left: Vec<AllocId>,
}

impl<'a> Leak<'a> {
    /// The leak of a recording; `None` if the verdict is another.
    pub(crate) fn of(scene: &Scene<'_>, recorded: &'a Program<'a>) -> Option<Self> {
        let left = || left_by_leak(scene).into_iter().map(|left| left.id).collect();
        is_leak(scene.workload()).then(|| Self { recorded, left: left() })
    }

    /// Whether several remedies at once stop it.
    pub(crate) fn is_stopped_by(&self, combination: &[&Offer<'_>]) -> bool {
        let of_evaluation: Vec<&Offer<'_>> =
            combination.iter().copied().filter(|offer| offer.part == Part::Evaluation).collect();
        combination.iter().any(|offer| offer.part == Part::Leak)
            || (!of_evaluation.is_empty() && self.is_mostly_freed(&changed(self.recorded, &of_evaluation)))
    }

    /// Whether most of what was left behind is freed earlier than in the recording. Some of a graph may be a result, as far as
    /// stacks tell.
    fn is_mostly_freed(&self, changed: &Program<'_>) -> bool {
        let sum = |is_counted: &dyn Fn(AllocId) -> bool| {
            let counted = self.left.iter().copied().filter(|&id| is_counted(id));
            counted.map(|id| self.recorded.row(id).bytes).saturating_sum()
        };
        sum(&|_| true) / 2 < sum(&|id| changed.row(id).end < self.recorded.row(id).end)
    }
}
