//! The live memory by what it belongs to: the model, the optimizer's step, or the passes. Only phases and lifetimes decide;
//! what they do not show is not said to be either.

use super::Case;
use crate::figure;
use crate::sentence::{Sentence, say};
use oomscope_analysis::{Category, Phase};
use oomscope_model::Bytes;

/// Live bytes in four parts, which add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Parameters, gradients and optimizer state.
    pub(crate) fixed: Bytes,
    /// What the optimizer's step at the moment has made and will give back.
    pub(crate) step: Bytes,
    /// Inputs, and what the passes keep or have on their way.
    pub(crate) pass: Bytes,
    /// Everything else.
    pub(crate) other: Bytes,
}

impl Parts {
    /// The parts of what is live at the moment of a case.
    pub(crate) fn of(case: &Case<'_>) -> Self {
        // A damaged file may state sizes below zero.
        let live = case.live_bytes().or_zero();
        let fixed = case.fixed_bytes().clamp(Bytes::ZERO, live);
        let surplus = (case.bytes_of(Category::Gradient) - case.bytes_of(Category::Parameter)).or_zero();
        let is_backward = case.phases().backward_at(case.moment).is_some();
        let on_their_way = if is_backward { surplus } else { Bytes::ZERO };
        let of_pass = [Category::Activation, Category::Input].map(|category| case.bytes_of(category));
        let pass = of_pass.into_iter().chain([on_their_way]).sum::<Bytes>().clamp(Bytes::ZERO, live - fixed);
        let step = step_temporaries(case).clamp(Bytes::ZERO, live - fixed - pass);
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
fn step_temporaries(case: &Case<'_>) -> Bytes {
    let is_in_step = case.phases().phase_at(case.moment) == Phase::Optimizer;
    let Some(step) = case.starts_of(Phase::Optimizer).next_back().filter(|_| is_in_step) else {
        return Bytes::ZERO;
    };
    let of_step = case.live_of(Category::Temporary).filter(|a| Some(step) <= a.alloc_event());
    of_step.map(|a| a.size).sum::<Bytes>()
}
