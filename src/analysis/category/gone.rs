//! Blocks that are older than the recording, and given back within it.

use super::assign::Scene;
use super::pairing::Sizes;
use super::renewed::Renewed;
use super::verdicts::Verdicts;
use super::{Category, Reason, Verdict};
use crate::analysis::flow::Act;
use crate::model::AllocId;
use foldhash::HashSet;

/// Of the bytes that nothing else explains, this share must be as large as what calls of models make within the
/// recording. An earlier call of the same model leaves nearly all of the same sizes; other data, few of them.
const LIKE_CALLS_PERCENT: i64 = 80;

/// Settle them; what nothing explains stays unknown.
pub(super) fn settle(scene: &Scene<'_>, goes: &[AllocId], trained: &Sizes, verdicts: &mut Verdicts) {
    let renewed = Renewed::of(scene, verdicts);
    let mut rest = Vec::new();
    for &id in goes {
        match followed(scene, id, trained, &renewed) {
            Some(verdict) => verdicts.set(id, verdict),
            None => rest.push(id),
        }
    }
    if !scene.flow.acts.has_stacks {
        for id in rest {
            verdicts.set(id, (Category::Activation, Reason::Repeats));
        }
    } else if are_like_calls(scene, &rest, verdicts) {
        for id in rest {
            verdicts.set(id, (Category::Activation, Reason::LikeThisCall));
        }
    }
}

/// What giving a block back shows of it.
fn followed(scene: &Scene<'_>, id: AllocId, trained: &Sizes, renewed: &Renewed) -> Option<Verdict> {
    let gone = scene.gone(id)?;
    match scene.flow.acts.at(gone.0) {
        Act::Backward => Some((Category::Activation, Reason::Repeats)),
        Act::Step if renewed.has(gone, scene.size(id)) => {
            Some((Category::OptimizerState, Reason::RenewedInStep))
        }
        _ if trained.contains_key(&scene.size(id)) => Some((Category::Gradient, Reason::PairsAndGoes)),
        _ => None,
    }
}

/// Whether blocks are the activations of an earlier call, whose graph or results something still referred to.
fn are_like_calls(scene: &Scene<'_>, ids: &[AllocId], verdicts: &Verdicts) -> bool {
    let new = scene.ids().skip(scene.timeline.lifetimes.initial_count());
    let made: HashSet<i64> =
        new.filter(|&id| verdicts.is(id, Category::Activation)).map(|id| scene.size(id)).collect();
    let bytes = |ids: &mut dyn Iterator<Item = &AllocId>| {
        ids.fold(0_i64, |sum, &id| sum.saturating_add(scene.size(id)))
    };
    let all = bytes(&mut ids.iter());
    let alike = bytes(&mut ids.iter().filter(|&&id| made.contains(&scene.size(id))));
    all / 100 * LIKE_CALLS_PERCENT <= alike && 0 < alike
}
