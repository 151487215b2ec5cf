//! Which batch would fit, from an iteration that did.

use crate::analysis::{Category, Iteration, Phase};
use crate::diagnosis::{Context, Finding, Severity, Shortage, verdict};
use crate::model::{AllocId, Moment};
use crate::units;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    estimate(context).into_iter().collect()
}

/// What an iteration was given, and what it needed.
#[derive(Debug, Clone, Copy)]
struct Measured {
    input: i64,
    peak: i64,
    fixed: i64,
    at: Moment,
}

fn estimate(context: &Context<'_>) -> Option<Finding> {
    // What a leak or one odd request takes is not in proportion to the batch.
    if !verdict::is_by_amount(context) {
        return None;
    }
    let available = context.shortage.as_ref().and_then(Shortage::available_bytes)?;
    let iterations = &context.phases().iterations;
    let current = iterations.index_at(context.moment)?;
    let failed = inputs(context, iterations.list.get(current)?, context.moment);
    let measured =
        iterations.list.get(..current)?.iter().filter_map(|i| measure(context, i)).max_by_key(|m| m.input)?;
    if failed <= 0 || measured.input <= 0 {
        return None;
    }
    // An evaluation keeps no activations, so what a training took says nothing about it.
    let evaluates = |at: Moment| context.phases().phase_at(at) == Phase::Eval;
    if evaluates(context.moment) != evaluates(measured.at) {
        return None;
    }
    let current = iterations.list.get(current)?;
    let fixed = measured.fixed.max(fixed(context, current, context.moment));
    // The same batch fitted before, and nothing that is there whatever the batch has come since.
    if failed <= measured.input && fixed <= measured.fixed {
        return None;
    }
    let per_input = measured.peak.saturating_sub(measured.fixed) as f64 / measured.input as f64;
    let room = available.saturating_sub(fixed);
    if per_input <= 0.0 || room <= 0 {
        return None;
    }
    let fits = room as f64 / per_input / failed as f64;
    let needed = (per_input * failed as f64) as i64;
    if fits >= 1.0 {
        return None;
    }
    let title = format!("About {:.0} % of this batch should fit", fits * 100.0);
    let mut finding = Finding::new("batch-size", Severity::Info, title);
    finding.explain(format!(
        "An earlier iteration with {} of inputs peaked at {}, {} of which do not depend on the batch. In proportion, this one with {} of inputs would need {} more than those, and {} are available.",
        units::bytes(measured.input),
        units::bytes(measured.peak),
        units::bytes(measured.fixed),
        units::bytes(failed),
        units::bytes(needed),
        units::bytes(room)
    ));
    let evidence = &mut finding.evidence;
    evidence.bytes("input_bytes", "inputs of this iteration", failed);
    evidence.bytes("earlier_input_bytes", "inputs of the earlier one", measured.input);
    evidence.bytes("earlier_peak_bytes", "its peak", measured.peak);
    evidence.bytes("fixed_bytes", "there whatever the batch", fixed);
    evidence.share("fitting_share", "of this batch should fit", fits);
    evidence.events.extend(measured.at.event());
    finding.limit("Taken in proportion to the bytes of the inputs: right for a larger batch, too optimistic for a longer sequence where attention is quadratic. Room for holes is not counted.");
    Some(finding)
}

fn measure(context: &Context<'_>, iteration: &Iteration) -> Option<Measured> {
    let input = inputs(context, iteration, iteration.peak);
    let fixed = fixed(context, iteration, iteration.peak);
    (0 < input).then_some(Measured { input, peak: iteration.peak_bytes, fixed, at: iteration.peak })
}

/// Live bytes at a moment that do not depend on the iteration's batch: what was there before it began, and
/// what it made of weights, gradients and optimizer state.
fn fixed(context: &Context<'_>, iteration: &Iteration, at: Moment) -> i64 {
    let lifetimes = &context.timeline.lifetimes;
    let is_older = |&id: &AllocId| lifetimes.start(id) <= Moment(iteration.start.0);
    let new = |category| {
        let live = lifetimes.live_at(at).filter(|id| !is_older(id));
        bytes(context, live.filter(|&id| context.category(id) == category))
    };
    let parameters = |&id: &AllocId| context.category(id) == Category::Parameter;
    // More gradients than parameters are on their way through the graph.
    let most = bytes(context, lifetimes.live_at(at).filter(parameters));
    bytes(context, lifetimes.live_at(at).filter(is_older))
        .saturating_add(new(Category::Parameter))
        .saturating_add(new(Category::OptimizerState))
        .saturating_add(new(Category::Gradient).min(most))
}

/// Bytes of inputs that an iteration has made and that are live at a moment.
fn inputs(context: &Context<'_>, iteration: &Iteration, at: Moment) -> i64 {
    let lifetimes = &context.timeline.lifetimes;
    let is_new = |&id: &AllocId| {
        Moment(iteration.start.0) < lifetimes.start(id) && context.category(id) == Category::Input
    };
    bytes(context, lifetimes.live_at(at).filter(is_new))
}

fn bytes(context: &Context<'_>, ids: impl Iterator<Item = AllocId>) -> i64 {
    let timeline = context.timeline;
    ids.fold(0i64, |sum, id| sum.saturating_add(timeline.lifetimes.size(id, &timeline.events)))
}
