//! The live memory by what it belongs to: the model, the optimizer's step, or the passes. Only phases and lifetimes decide;
//! what they do not show is not said to be either.

use super::Case;
use crate::figure;
use crate::sentence::{Sentence, say};
use oomscope_analysis::{Category, Phase};
use oomscope_model::SaturatingSum as _;

/// Live bytes in four parts, which add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Parameters, gradients and optimizer state.
    pub(crate) fixed: i64,
    /// What the optimizer's step at the moment has made and will give back.
    pub(crate) step: i64,
    /// Inputs, and what the passes keep or have on their way.
    pub(crate) pass: i64,
    /// Everything else.
    pub(crate) other: i64,
}

impl Parts {
    /// The parts of what is live at the moment of a case.
    pub(crate) fn of(case: &Case<'_>) -> Self {
        // A damaged file may state sizes below zero.
        let live = case.live_bytes().max(0);
        let fixed = case.fixed_bytes().clamp(0, live);
        let surplus =
            case.bytes_of(Category::Gradient).saturating_sub(case.bytes_of(Category::Parameter)).max(0);
        let is_backward = case.phases().backward_at(case.moment).is_some();
        let on_their_way = if is_backward { surplus } else { 0 };
        let of_pass = [Category::Activation, Category::Input].map(|category| case.bytes_of(category));
        let pass = of_pass.into_iter().chain([on_their_way]).saturating_sum().clamp(0, live - fixed);
        let step = step_temporaries(case).clamp(0, live - fixed - pass);
        Self { fixed, step, pass, other: live - fixed - pass - step }
    }

    /// The parts in a sentence without its end; `None` where one part is all.
    pub(crate) fn sentence(self) -> Option<Sentence> {
        let live = self.fixed + self.step + self.pass + self.other;
        let parts = [
            (self.fixed, "are parameters, gradients and optimizer state"),
            (self.step, "are temporaries of the optimizer's step"),
            (self.pass, "are inputs and what the passes keep"),
            (self.other, "are none of these, as far as the recording shows"),
        ];
        let said: Vec<Sentence> = parts
            .into_iter()
            .filter(|&(bytes, _)| 0 < bytes)
            .map(|(bytes, words)| say!("{} {}", figure::bytes(bytes).of(live), words))
            .collect();
        (0 < self.fixed && 1 < said.len()).then(|| Sentence::joined(said, ", "))
    }
}

/// Bytes of the temporaries that the optimizer's step at the moment has made.
fn step_temporaries(case: &Case<'_>) -> i64 {
    let is_in_step = case.phases().phase_at(case.moment) == Phase::Optimizer;
    let Some(step) = case.starts_of(Phase::Optimizer).next_back().filter(|_| is_in_step) else { return 0 };
    let of_step = case.live_of(Category::Temporary).filter(|a| Some(step) <= a.alloc_event());
    of_step.map(|a| a.size).saturating_sum()
}
