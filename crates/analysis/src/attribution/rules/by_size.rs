//! Allocations that no stack explains, told apart by sizes, lifetimes and order.

use super::{old_pairs, without_stacks, workspaces};
use crate::attribution::claims::Claims;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, StackId};

/// Claim what is still open.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let open: Vec<AllocId> = view.ids().filter(|&id| claims.verdict(id).is_open()).collect();
    workspaces::claim_by_size(view, &open, claims);
    let open: Vec<AllocId> = open.into_iter().filter(|&id| claims.verdict(id).is_open()).collect();
    if open.is_empty() {
        return;
    }
    // Stacks were recorded before the first event, too, if parameters of that time have some.
    let was_recorded_before =
        view.old_ids().any(|id| view.stack(id) != StackId::EMPTY && claims.is(id, Category::Parameter));
    let mut rest = Vec::new();
    for id in open {
        // Where live blocks have stacks, one without was allocated by a thread that runs no Python.
        let would_have_stack =
            view.is_live_at_end(id) && view.has_block_stacks && (!view.is_old(id) || was_recorded_before);
        if would_have_stack && view.stack(id) == StackId::EMPTY {
            claims.claim(id, RuleId::NoStackAtEnd.verdict());
        } else {
            rest.push(id);
        }
    }
    let (old, new): (Vec<AllocId>, Vec<AllocId>) = rest.into_iter().partition(|&id| view.is_old(id));
    old_pairs::claim(view, &old, claims);
    without_stacks::claim(view, &new, claims);
}
