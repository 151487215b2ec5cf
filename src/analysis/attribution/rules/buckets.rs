//! Buckets of `DistributedDataParallel` that gradients are parts of (`gradient_as_bucket_view`).

use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Act;
use crate::model::AllocId;

/// After a backward that leaves next to no gradients of its own, the gradients lie in the buckets
/// that were there before it. They do until the step that uses them is over.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let Some(backward) = unused_backward(view) else { return };
    let stays = |category: Category| -> Vec<AllocId> {
        let ids = view.ids().filter(|&id| view.gone(id).is_none());
        ids.filter(|id| claims.is(*id, category)).collect()
    };
    let bytes = |ids: &[AllocId]| ids.iter().fold(0i64, |sum, &id| sum.saturating_add(view.size(id)));
    let buckets: Vec<AllocId> = stays(Category::Comm)
        .into_iter()
        .filter(|&id| view.timeline.lifetimes.start(id).0 <= backward)
        .filter(|&id| matches!(claims.get(id).rule, RuleId::CommCode | RuleId::OldBucket))
        .collect();
    if bytes(&stays(Category::Gradient)) < bytes(&buckets) / 4 {
        for id in buckets {
            claims.claim(id, Verdict::new(Category::Gradient, RuleId::BucketOfGradients));
        }
    }
}

/// The start of the last backward, if no step that comes after it has ended.
fn unused_backward(view: &View<'_>) -> Option<u32> {
    let mut runs = view.flow.acts.runs.iter().rev();
    let is_cut = view.timeline.ooms.last().is_some_and(|oom| {
        view.flow.acts.runs.last().is_some_and(|run| run.act == Act::Step && run.start <= oom.event.0)
    });
    runs.find(|run| run.act == Act::Backward || (run.act == Act::Step && !is_cut))
        .filter(|run| run.act == Act::Backward)
        .map(|run| run.start)
}
