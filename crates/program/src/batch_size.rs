//! How many samples a batch has, where the recording shows it.

use super::computation::Computation;
use super::run::Run;
use oomscope_analysis::{Category, fitting_tensors};
use oomscope_model::AllocId;

/// How many samples the batches have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchSize {
    /// One sample.
    One,
    /// As many samples, two or more.
    Samples(u32),
    /// Two or more, not always as many.
    MoreThanOne,
    /// Nothing shows it.
    Unknown,
}

impl BatchSize {
    /// Whether it has at least so many samples; `None` if nothing shows it.
    pub fn has_at_least(self, parts: u32) -> Option<bool> {
        match self {
            Self::One => Some(parts <= 1),
            Self::Samples(samples) => Some(parts <= samples),
            Self::MoreThanOne => (parts <= 2).then_some(true),
            Self::Unknown => None,
        }
    }

    /// The first dimension of inputs, where the recorder noted their shapes. Where these contradict each other, none counts.
    pub fn of(run: &Run<'_>) -> Self {
        let inputs = run.of_category(Category::Input).into_iter().map(|id| run.recording.allocation(id));
        let shapes =
            inputs.flat_map(|input| fitting_tensors(run.recording.snapshot(), run.recording.device, &input));
        let first: Vec<i64> = shapes.filter_map(|tensor| tensor.shape.first().copied()).collect();
        match first.as_slice() {
            [] => Self::Unknown,
            all if all.iter().any(|&samples| samples < 2) => {
                if all.iter().all(|&samples| samples == 1) {
                    Self::One
                } else {
                    Self::Unknown
                }
            }
            [one, rest @ ..] if rest.iter().all(|samples| samples == one) => {
                u32::try_from(*one).map_or(Self::MoreThanOne, Self::Samples)
            }
            _ => Self::MoreThanOne,
        }
    }
}

/// Whether all inputs were there before the first of several passes was over. Then a batch may be all the data that there is,
/// such as one graph, whose nodes are not computed apart.
pub fn is_loaded_once(computation: &Computation<'_>) -> bool {
    let run = &computation.run;
    let mut passes = computation.spans.passes();
    let (Some(first), Some(_)) = (passes.next(), passes.next()) else { return false };
    let inputs = run.of_category(Category::Input);
    let is_of_first = |&id: &AllocId| run.recording.lifetimes.start(id).0 <= first.events.end;
    !inputs.is_empty() && inputs.iter().all(is_of_first)
}
