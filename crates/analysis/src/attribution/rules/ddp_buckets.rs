//! Buckets of `DistributedDataParallel` that gradients are parts of (`gradient_as_bucket_view`).

use crate::attribution::claims::Claims;
use crate::attribution::facts::Activity;
use crate::attribution::thresholds::OUTSIDE_PART;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::AllocId;

/// After a backward that leaves next to no gradients of its own, the gradients lie in the buckets
/// that were there before it. They do until the step that uses them is over.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let Some(backward) = unused_backward(view) else { return };
    let kept = |category: Category| -> Vec<AllocId> {
        let kept = view.ids().filter(|&id| view.free_event(id).is_none());
        kept.filter(|id| claims.is(*id, category)).collect()
    };
    let buckets: Vec<AllocId> = kept(Category::Comm)
        .into_iter()
        .filter(|&id| view.timeline.lifetimes.start(id).0 <= backward)
        .filter(|&id| matches!(claims.verdict(id).rule, RuleId::CommCode | RuleId::OldBucket))
        .collect();
    let bucket_bytes = view.bytes(buckets.iter().copied());
    if view.bytes(kept(Category::Gradient)) < bucket_bytes / OUTSIDE_PART {
        claims.claim_all(buckets, RuleId::BucketOfGradients.verdict());
    }
}

/// The start of the last backward, if no step that comes after it has ended.
fn unused_backward(view: &View<'_>) -> Option<u32> {
    let runs = &view.device.activities.runs;
    let is_step_cut = view.device.step_spans.is_cut(&view.timeline.ooms);
    let is_decisive = |activity| match activity {
        Activity::Backward => true,
        // A step that ran out of memory still needs its gradients.
        Activity::Step => !is_step_cut,
        _ => false,
    };
    let last = runs.iter().rev().find(|run| is_decisive(run.activity));
    last.filter(|run| run.activity == Activity::Backward).map(|run| run.start)
}
