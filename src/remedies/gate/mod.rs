//! The gate: what each remedy must hold before anyone sees it.
//!
//! Offers rest on rules of thumb. Each check here asks for a fact that an offer of its kind cannot do without, or for a figure that
//! cannot be otherwise. What fails one is dropped, and a debug log says why.

mod evaluation;
mod setting;
#[cfg(test)]
mod tests;

pub(super) use setting::outlasts_the_request;

use super::offer::{Combination, Offer, Part};
use super::scene::Scene;
use super::tried::{Tried, changed};
use crate::analysis::{Category, Phase};
use crate::program::{BatchSize, is_attention_fused};
use crate::simulator::Program;

/// A check of an offer, before it is tried.
struct OfferCheck {
    name: &'static str,
    /// Why an offer that fails it is not shown.
    reason: &'static str,
    holds: fn(&Scene<'_>, &Program<'_>, &Offer<'_>) -> bool,
}

const OFFER_CHECKS: [OfferCheck; 4] = [
    OfferCheck {
        name: "attention-is-not-fused",
        reason: "attention is fused already, as a frame says",
        holds: |scene, _, offer| offer.part != Part::Attention || !is_attention_fused(&scene.run),
    },
    OfferCheck {
        name: "graph-of-an-evaluation",
        reason: "it frees memory that training holds, or that no graph can keep",
        holds: evaluation::is_kept_by_graphs,
    },
    OfferCheck {
        name: "more-than-one-sample",
        reason: "the batch has one sample",
        holds: |scene, _, offer| offer.part != Part::Batch || BatchSize::of(&scene.run) != BatchSize::One,
    },
    OfferCheck {
        name: "backward-was-recorded",
        reason: "its code runs a backward, and none was recorded",
        holds: |scene, _, offer| !offer.code.contains(".backward()") || has_backward(scene),
    },
];

/// The offers that hold all that can be asked before they are tried.
pub(super) fn admitted<'a>(
    scene: &Scene<'_>,
    program: &Program<'_>,
    mut offers: Vec<Offer<'a>>,
) -> Vec<Offer<'a>> {
    offers.retain(|offer| {
        let failed = OFFER_CHECKS.iter().find(|check| !(check.holds)(scene, program, offer));
        failed.inspect(|check| log::debug!("{} ({}): {}", offer.id, check.name, check.reason)).is_none()
    });
    offers
}

/// Whether the prediction for several offers at once is not below what they cannot touch: at no moment can less be in use than
/// what they leave as it is, with the parameters that are there.
pub(super) fn is_possible(
    scene: &Scene<'_>,
    program: &Program<'_>,
    combination: &[&Offer<'_>],
    tried: &Tried,
) -> bool {
    let changed = changed(program, combination);
    let may_change_parameters = combination.iter().any(|offer| changes_parameters(offer.part));
    let stays = |id| !may_change_parameters && scene.run.category(id) == Category::Parameter;
    let least = program.untouched_by(&changed, stays).peak().bytes;
    let peak = tried.figures.peak_requested;
    if peak < least {
        let ids: Vec<&str> = combination.iter().map(|offer| offer.id.as_str()).collect();
        log::debug!("{} (lower-bound): {peak} bytes, where {least} are not touched", ids.join("+"));
    }
    least <= peak
}

/// Whether remedies for a part of a program change how many parameters there are, how large they are, or how long they stay.
fn changes_parameters(part: Part) -> bool {
    match part {
        Part::Leak | Part::Copy | Part::Precision | Part::Place => true,
        Part::Optimizer
        | Part::Gradients
        | Part::Batch
        | Part::Checkpoints
        | Part::Evaluation
        | Part::Loss
        | Part::Attention
        | Part::Settings => false,
    }
}

/// Whether a backward was recorded.
pub(super) fn has_backward(scene: &Scene<'_>) -> bool {
    scene.run.attribution.phases.phases.iter().any(|start| start.phase == Phase::Backward)
}

/// Whether a change lowers what is requested or reserved at the peak, or makes the program fit.
pub(super) fn has_effect(recorded: &Tried, (_, tried): &(Combination<'_, '_>, Tried)) -> bool {
    let (before, after) = (recorded.figures, tried.figures);
    after.peak_requested < before.peak_requested
        || after.peak_reserved < before.peak_reserved
        || (recorded.fits() == Some(false) && tried.fits() == Some(true))
}
