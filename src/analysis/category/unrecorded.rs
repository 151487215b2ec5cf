//! Allocations without stacks, told apart by sizes, lifetimes and order.

use super::assign::Scene;
use super::old;
use super::stackless;
use super::verdicts::Verdicts;
use super::workspaces;
use super::{Category, Reason, Verdict};
use crate::model::{AllocId, Origin, StackId};

/// Fill in what no stack could tell.
pub(super) fn fill(scene: &Scene<'_>, verdicts: &mut Verdicts) {
    let open: Vec<AllocId> = scene.ids().filter(|&id| is_open(verdicts.get(id))).collect();
    workspaces::by_size(scene, &open, verdicts);
    let open: Vec<AllocId> = open.into_iter().filter(|&id| is_open(verdicts.get(id))).collect();
    if open.is_empty() {
        return;
    }
    let was_recorded = scene
        .ids()
        .take(scene.timeline.lifetimes.initial_count())
        .any(|id| scene.stack(id) != StackId::EMPTY && verdicts.is(id, Category::Parameter));
    let has_block_stacks = scene.has_stacks_at_end();
    let mut rest = Vec::new();
    for id in open {
        let is_at_end = scene.timeline.lifetimes.end(id).is_none();
        let is_old = scene.timeline.lifetimes.origin(id) == Origin::Before;
        // Where blocks have stacks, one without was allocated by a thread that runs no Python.
        let is_bare = scene.stack(id) == StackId::EMPTY;
        let by_engine = is_at_end && is_bare && has_block_stacks && (!is_old || was_recorded);
        if by_engine {
            verdicts.set(id, (Category::Gradient, Reason::Backward));
        } else {
            rest.push(id);
        }
    }
    let (old, new): (Vec<AllocId>, Vec<AllocId>) =
        rest.into_iter().partition(|&id| scene.timeline.lifetimes.origin(id) == Origin::Before);
    old::settle(scene, &old, verdicts);
    stackless::settle(scene, &new, verdicts);
}

fn is_open(verdict: Verdict) -> bool {
    verdict == (Category::Unknown, Reason::Nothing)
}
