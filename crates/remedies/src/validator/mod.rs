//! The validator: what each remedy must hold before anyone sees it.
//!
//! Offers rest on rules of thumb. Each check asks for a fact that an offer of its kind cannot do without, or for a figure that
//! cannot be otherwise. What becomes of a remedy that fails one stands beside the check; a debug log says why.

mod evaluation;
mod outlasting;
#[cfg(test)]
mod tests;

pub(super) use outlasting::Outlasting;

use super::errors;
use super::offer::{Combination, Offer, Part, error};
use super::scene::Scene;
use super::tried::Tried;
use oomscope_program::{BatchSize, is_attention_fused};
use oomscope_simulator::Program;

/// A recorded program, to which remedies are applied.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'s, 'r> {
    pub(super) scene: &'s Scene<'r>,
    pub(super) program: &'s Program<'s>,
    pub(super) baseline: &'s Tried,
}

/// A check.
struct Check {
    name: &'static str,
    /// What is wrong where it fails.
    reason: &'static str,
    asks: Asks,
}

/// What a check asks of what, and what becomes of a remedy that fails.
enum Asks {
    /// Whether an offer applies; else it is not tried.
    Applies(fn(&Scene<'_>, &Program<'_>, &Offer<'_>) -> bool),
    /// Of what was tried; else this becomes of it.
    Holds(Failed, fn(&Recorded<'_, '_>, &[&Offer<'_>], &Tried) -> bool),
}

/// What becomes of a prediction that fails a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// Nobody sees it.
    Dropped,
    /// Its id alone is named.
    Folded,
    /// It is called a bound.
    Bound,
}

/// All checks, in their order.
const CHECKS: [Check; 10] = [
    Check {
        name: "attention-is-written-out",
        reason: "attention is fused already, as a frame says",
        asks: Asks::Applies(|scene, _, offer| {
            offer.part != Part::Attention || !is_attention_fused(&scene.run)
        }),
    },
    Check {
        name: "graph-of-an-evaluation",
        reason: "it frees memory that training holds, or that no graph can keep",
        asks: Asks::Applies(evaluation::is_kept_by_graphs),
    },
    Check {
        name: "more-than-one-sample",
        reason: "the batch has one sample",
        asks: Asks::Applies(|scene, _, offer| {
            offer.part != Part::Batch || BatchSize::of(&scene.run) != BatchSize::One
        }),
    },
    Check {
        name: "no-half-copies",
        reason: "numbers have two bytes already",
        asks: Asks::Applies(|scene, _, offer| {
            offer.part != Part::Precision || !scene.workload().number_types().are_half
        }),
    },
    Check {
        name: "backward-was-recorded",
        reason: "its code trains, and no training was recorded",
        asks: Asks::Applies(|scene, _, offer| scene.workload().trains() || !names_training(&offer.code)),
    },
    Check {
        name: "lower-bound",
        reason: "the peak is below what it leaves as it is",
        asks: Asks::Holds(Failed::Dropped, |_, _, tried| is_possible(tried)),
    },
    Check {
        name: "effect",
        reason: "it lowers neither what is requested nor what is reserved",
        asks: Asks::Holds(Failed::Folded, has_effect),
    },
    Check {
        name: "replayed",
        reason: "parts of it are not known",
        asks: Asks::Holds(Failed::Bound, |_, offers, _| !offers.iter().any(|offer| offer.is_bound)),
    },
    Check {
        name: "same-program",
        reason: "the replay of the recording is not identical, and this changes where blocks lie",
        asks: Asks::Holds(Failed::Bound, |recorded, offers, _| {
            !offers.iter().any(|offer| offer.part == Part::Settings)
                || recorded.scene.subject.fidelity().is_complete()
        }),
    },
    Check {
        name: "narrow-error",
        reason: "predictions of it were off by more than is worth a figure",
        asks: Asks::Holds(Failed::Bound, |recorded, offers, _| errors::is_narrow(recorded.error(offers))),
    },
];

/// The offers that apply, as far as that can be asked before they are tried.
pub(super) fn applicable<'a>(
    scene: &Scene<'_>,
    program: &Program<'_>,
    mut offers: Vec<Offer<'a>>,
) -> Vec<Offer<'a>> {
    offers.retain(|offer| {
        let applies = |check: &&Check| match check.asks {
            Asks::Applies(applies) => applies(scene, program, offer),
            Asks::Holds(..) => true,
        };
        let failed = CHECKS.iter().find(|check| !applies(check));
        failed.inspect(|check| log::debug!("{} ({}): {}", offer.id, check.name, check.reason)).is_none()
    });
    offers
}

impl Recorded<'_, '_> {
    /// The share by which the prediction for several offers at once may be off; `None` if that of one was not measured. Where the
    /// step that failed is projected, that may be off, too: in another way, so that both together are off by less than their sum.
    pub(super) fn error(&self, combination: &[&Offer<'_>]) -> Option<f64> {
        error(combination).map(|error| error.hypot(self.scene.projection_error()))
    }

    /// Whether what was tried fails a check of those that have this consequence.
    pub(super) fn fails(
        &self,
        consequence: Failed,
        (combination, tried): &(Combination<'_, '_>, Tried),
    ) -> bool {
        let holds = |check: &&Check| match check.asks {
            Asks::Holds(of, holds) if of == consequence => holds(self, combination, tried),
            Asks::Holds(..) | Asks::Applies(_) => true,
        };
        let failed = CHECKS.iter().find(|check| !holds(check));
        let ids = || combination.iter().map(|offer| offer.id.as_str()).collect::<Vec<&str>>().join("+");
        failed.inspect(|check| log::debug!("{} ({}): {}", ids(), check.name, check.reason)).is_some()
    }
}

/// Whether the prediction for several offers at once is not below what they cannot touch.
fn is_possible(tried: &Tried) -> bool {
    tried.least_requested.is_none_or(|least| least <= tried.figures.peak_requested)
}

/// Whether a change lowers what is requested or reserved at the peak, or makes the program fit.
fn has_effect(recorded: &Recorded<'_, '_>, _: &[&Offer<'_>], tried: &Tried) -> bool {
    let (before, after) = (recorded.baseline.figures, tried.figures);
    after.peak_requested < before.peak_requested
        || after.peak_reserved < before.peak_reserved
        || (recorded.baseline.fits() == Some(false) && tried.fits() == Some(true))
}

/// Words of code that only training programs have.
const OF_TRAINING: [&str; 3] = [".backward()", "optimizer", "loss_fn"];

fn names_training(code: &str) -> bool {
    OF_TRAINING.iter().any(|word| code.contains(word))
}
