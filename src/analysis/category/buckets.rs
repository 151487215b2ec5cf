//! Buckets of `DistributedDataParallel` that gradients are parts of (`gradient_as_bucket_view`).

use super::assign::Scene;
use super::verdicts::Verdicts;
use super::{Category, Reason};
use crate::analysis::flow::Act;
use crate::model::AllocId;

/// After a backward that leaves next to no gradients of its own, the gradients lie in the buckets
/// that were there before it. They do until the step that uses them is over.
pub(super) fn find(scene: &Scene<'_>, verdicts: &mut Verdicts) {
    let Some(backward) = unused_backward(scene) else { return };
    let stays = |category: Category| -> Vec<AllocId> {
        let ids = scene.ids().filter(|&id| scene.gone(id).is_none());
        ids.filter(|id| verdicts.is(*id, category)).collect()
    };
    let bytes = |ids: &[AllocId]| ids.iter().fold(0i64, |sum, &id| sum.saturating_add(scene.size(id)));
    let buckets: Vec<AllocId> = stays(Category::Comm)
        .into_iter()
        .filter(|&id| scene.timeline.lifetimes.start(id).0 <= backward)
        .filter(|&id| matches!(verdicts.get(id).1, Reason::CommBuffer | Reason::OldBuckets))
        .collect();
    if bytes(&stays(Category::Gradient)) < bytes(&buckets) / 4 {
        for id in buckets {
            verdicts.set(id, (Category::Gradient, Reason::BucketOfGradients));
        }
    }
}

/// The start of the last backward, if no step that comes after it has ended.
fn unused_backward(scene: &Scene<'_>) -> Option<u32> {
    let mut runs = scene.flow.acts.runs.iter().rev();
    let is_cut = scene.timeline.ooms.last().is_some_and(|oom| {
        scene.flow.acts.runs.last().is_some_and(|run| run.act == Act::Step && run.start <= oom.event.0)
    });
    runs.find(|run| run.act == Act::Backward || (run.act == Act::Step && !is_cut))
        .filter(|run| run.act == Act::Backward)
        .map(|run| run.start)
}
