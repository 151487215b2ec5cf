//! The part of a batch that would fit, from an iteration that did.

use super::case::{Case, Shortage};
use crate::analysis::{Category, Iteration, Phase};
use crate::model::{AllocId, Moment};

/// The memory of an iteration at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    /// Bytes of its inputs.
    input: i64,
    /// All live bytes.
    peak: i64,
    /// Live bytes that do not depend on the batch.
    fixed: i64,
    at: Moment,
}

/// The iteration that failed, in proportion to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BatchEstimate {
    /// Bytes of the inputs of the iteration that failed.
    pub(super) input_bytes: i64,
    /// Bytes of the inputs of the earlier one.
    pub(super) earlier_input_bytes: i64,
    /// Its peak.
    pub(super) earlier_peak_bytes: i64,
    /// Bytes of its peak that do not depend on the batch.
    pub(super) earlier_fixed_bytes: i64,
    /// When that was.
    pub(super) earlier_peak: Moment,
    /// Bytes that do not depend on the batch in the iteration that failed.
    pub(super) fixed_bytes: i64,
    /// Bytes that its batch needs besides.
    pub(super) needed_bytes: i64,
    /// Bytes that are available for that.
    pub(super) room_bytes: i64,
    /// The share of its batch that would fit, below 1.
    pub(super) fitting_share: f64,
}

impl BatchEstimate {
    /// Estimate how much of the batch at the moment would have fitted; `None` if no earlier iteration shows it.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let available = case.shortage.as_ref().and_then(Shortage::available_bytes)?;
        let iterations = &case.phases().iterations;
        let current = iterations.index_at(case.moment)?;
        let this = iterations.list.get(current)?;
        let input = inputs(case, this, case.moment);
        let earlier = iterations.list.get(..current)?.iter();
        let earlier = earlier.filter_map(|iteration| measure(case, iteration)).max_by_key(|m| m.input)?;
        if input <= 0 || earlier.input <= 0 {
            return None;
        }
        // An evaluation keeps no activations, so a training iteration says nothing about it.
        let evaluates = |at: Moment| case.phases().phase_at(at) == Phase::Eval;
        if evaluates(case.moment) != evaluates(earlier.at) {
            return None;
        }
        let fixed = earlier.fixed.max(fixed(case, this, case.moment));
        // The same batch fitted before, and what does not depend on it has not grown since.
        if input <= earlier.input && fixed <= earlier.fixed {
            return None;
        }
        let per_input = earlier.peak.saturating_sub(earlier.fixed) as f64 / earlier.input as f64;
        let room = available.saturating_sub(fixed);
        if per_input <= 0.0 || room <= 0 {
            return None;
        }
        let fitting_share = room as f64 / per_input / input as f64;
        (fitting_share < 1.0).then_some(Self {
            input_bytes: input,
            earlier_input_bytes: earlier.input,
            earlier_peak_bytes: earlier.peak,
            earlier_fixed_bytes: earlier.fixed,
            earlier_peak: earlier.at,
            fixed_bytes: fixed,
            needed_bytes: (per_input * input as f64) as i64,
            room_bytes: room,
            fitting_share,
        })
    }
}

fn measure(case: &Case<'_>, iteration: &Iteration) -> Option<Measured> {
    let input = inputs(case, iteration, iteration.peak);
    let fixed = fixed(case, iteration, iteration.peak);
    (0 < input).then_some(Measured { input, peak: iteration.peak_bytes, fixed, at: iteration.peak })
}

/// Live bytes at a moment that do not depend on the iteration's batch: those from before it began, and the parameters,
/// gradients and optimizer state that it made.
fn fixed(case: &Case<'_>, iteration: &Iteration, at: Moment) -> i64 {
    let lifetimes = &case.timeline.lifetimes;
    let is_older = |&id: &AllocId| lifetimes.start(id) <= Moment(iteration.start.0);
    let new = |category| {
        let live = lifetimes.live_at(at).filter(|id| !is_older(id));
        bytes(case, live.filter(|&id| case.category(id) == category))
    };
    let parameters = |&id: &AllocId| case.category(id) == Category::Parameter;
    // If there are more gradients than parameters, the others are on their way through the graph.
    let most = bytes(case, lifetimes.live_at(at).filter(parameters));
    bytes(case, lifetimes.live_at(at).filter(is_older))
        .saturating_add(new(Category::Parameter))
        .saturating_add(new(Category::OptimizerState))
        .saturating_add(new(Category::Gradient).min(most))
}

/// Bytes of the inputs that an iteration has made and that are live at a moment.
fn inputs(case: &Case<'_>, iteration: &Iteration, at: Moment) -> i64 {
    let lifetimes = &case.timeline.lifetimes;
    let is_new = |&id: &AllocId| {
        Moment(iteration.start.0) < lifetimes.start(id) && case.category(id) == Category::Input
    };
    bytes(case, lifetimes.live_at(at).filter(is_new))
}

fn bytes(case: &Case<'_>, ids: impl Iterator<Item = AllocId>) -> i64 {
    ids.fold(0i64, |sum, id| sum.saturating_add(case.timeline.size(id)))
}
