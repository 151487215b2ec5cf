//! Blocks that are older than the recording, and given back within it.

use super::gradient_sizes::Sizes;
use super::renewed_state::Renewed;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Act;
use crate::model::AllocId;
use foldhash::HashSet;

/// Of the bytes that nothing else explains, this share must be as large as what calls of models make within the
/// recording. An earlier call of the same model leaves nearly all of the same sizes; other data, few of them.
const LIKE_CALLS_PERCENT: i64 = 80;

/// Settle them; what nothing explains stays unknown.
pub(super) fn settle(view: &View<'_>, goes: &[AllocId], trained: &Sizes, claims: &mut Claims) {
    let renewed = Renewed::of(view, claims);
    let mut rest = Vec::new();
    for &id in goes {
        match followed(view, id, trained, &renewed) {
            Some(verdict) => claims.claim(id, verdict),
            None => rest.push(id),
        }
    }
    if !view.flow.acts.has_stacks {
        for id in rest {
            claims.claim(id, Verdict::new(Category::Activation, RuleId::OldAndGone));
        }
    } else if are_like_calls(view, &rest, claims) {
        for id in rest {
            claims.claim(id, Verdict::new(Category::Activation, RuleId::LikeThisCall));
        }
    }
}

/// What giving a block back shows of it.
fn followed(view: &View<'_>, id: AllocId, trained: &Sizes, renewed: &Renewed<'_>) -> Option<Verdict> {
    let gone = view.gone(id)?;
    match view.flow.acts.at(gone.0) {
        Act::Backward => Some(Verdict::new(Category::Activation, RuleId::GoneInBackward)),
        Act::Step if renewed.has(gone, view.size(id)) => {
            Some(Verdict::new(Category::OptimizerState, RuleId::GoneInStep))
        }
        _ if trained.contains_key(&view.size(id)) => {
            Some(Verdict::new(Category::Gradient, RuleId::OldGradient))
        }
        _ => None,
    }
}

/// Whether blocks are the activations of an earlier call, whose graph or results something still referred to.
fn are_like_calls(view: &View<'_>, ids: &[AllocId], claims: &Claims) -> bool {
    let new = view.ids().skip(view.timeline.lifetimes.initial_count());
    let made: HashSet<i64> =
        new.filter(|&id| claims.is(id, Category::Activation)).map(|id| view.size(id)).collect();
    let bytes = |ids: &mut dyn Iterator<Item = &AllocId>| {
        ids.fold(0_i64, |sum, &id| sum.saturating_add(view.size(id)))
    };
    let all = bytes(&mut ids.iter());
    let alike = bytes(&mut ids.iter().filter(|&&id| made.contains(&view.size(id))));
    all / 100 * LIKE_CALLS_PERCENT <= alike && 0 < alike
}
