//! Optimizer state that sizes suggest, but that no optimizer keeps: there would be too much of it.

use crate::attribution::claims::Claims;
use crate::attribution::view::View;
use crate::attribution::{Basis, Category, RuleId};
use oomscope_model::AllocId;

/// Optimizer state takes at most this many times the bytes of the parameters. Adam at 32 bits keeps four times the bytes of
/// parameters of 16, and maybe a copy of them; L-BFGS and Shampoo, which keep more, are known by their steps.
const MAX_STATE_TIMES: i64 = 7;

/// Take back the state that is only inferred if there is too much of it live at the end.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let live = || view.ids().filter(|&id| view.is_live_at_end(id));
    let parameter_bytes = view.bytes(live().filter(|&id| claims.is(id, Category::Parameter)));
    let is_inferred_state = |&id: &AllocId| {
        claims.is(id, Category::OptimizerState) && claims.verdict(id).basis() == Basis::Inferred
    };
    let state: Vec<AllocId> = live().filter(is_inferred_state).collect();
    if parameter_bytes * MAX_STATE_TIMES < view.bytes(state.iter().copied()) {
        claims.claim_all(state, RuleId::Implausible.verdict());
    }
}
