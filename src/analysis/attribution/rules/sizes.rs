//! Allocations without stacks, told apart by sizes, lifetimes and order.

use super::{Category, Claims, RuleId, Verdict, View};
use super::{old_pairs, without_stacks, workspaces};
use crate::model::{AllocId, Origin, StackId};

/// Fill in what no stack could tell.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let open: Vec<AllocId> = view.ids().filter(|&id| claims.get(id).is_open()).collect();
    workspaces::by_size(view, &open, claims);
    let open: Vec<AllocId> = open.into_iter().filter(|&id| claims.get(id).is_open()).collect();
    if open.is_empty() {
        return;
    }
    let was_recorded = view
        .ids()
        .take(view.timeline.lifetimes.initial_count())
        .any(|id| view.stack(id) != StackId::EMPTY && claims.is(id, Category::Parameter));
    let mut rest = Vec::new();
    for id in open {
        let is_at_end = view.timeline.lifetimes.end(id).is_none();
        let is_old = view.timeline.lifetimes.origin(id) == Origin::Before;
        // Where blocks have stacks, one without was allocated by a thread that runs no Python.
        let is_bare = view.stack(id) == StackId::EMPTY;
        let by_engine = is_at_end && is_bare && view.has_block_stacks && (!is_old || was_recorded);
        if by_engine {
            claims.claim(id, Verdict::new(Category::Gradient, RuleId::NoStackAtEnd));
        } else {
            rest.push(id);
        }
    }
    let (old, new): (Vec<AllocId>, Vec<AllocId>) =
        rest.into_iter().partition(|&id| view.timeline.lifetimes.origin(id) == Origin::Before);
    old_pairs::settle(view, &old, claims);
    without_stacks::settle(view, &new, claims);
}
