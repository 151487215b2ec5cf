//! What sizes suggest is taken back where it cannot be: no optimizer keeps so much more than there are parameters.

use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::Basis;
use crate::model::AllocId;

/// Adam at 32 bits keeps four times the bytes of parameters of 16, and maybe a copy of them; L-BFGS and Shampoo, which keep
/// more, are known by their steps.
const MOST_STATE_TIMES: i64 = 7;

/// Look at what is live at the end.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let live = || view.ids().filter(|&id| view.timeline.lifetimes.end(id).is_none());
    let bytes =
        |of: &mut dyn Iterator<Item = AllocId>| of.fold(0i64, |sum, id| sum.saturating_add(view.size(id)));
    let parameter_bytes = bytes(&mut live().filter(|&id| claims.is(id, Category::Parameter)));
    let state: Vec<AllocId> = live()
        .filter(|&id| claims.is(id, Category::OptimizerState) && claims.get(id).basis() == Basis::Inferred)
        .collect();
    if parameter_bytes.saturating_mul(MOST_STATE_TIMES) < bytes(&mut state.iter().copied()) {
        for id in state {
            claims.claim(id, Verdict::new(Category::Unknown, RuleId::Implausible));
        }
    }
}
