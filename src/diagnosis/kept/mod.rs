//! What stays from round to round: the memory of a leak, or of results that pile up.

mod awaited;
mod origins;
mod sets;
mod settled;
mod sites;
mod source;
#[cfg(test)]
mod tests;

use super::code::by_stack;
use super::{Context, StackBytes};
use crate::analysis::{Category, FrameKey, Phase};
use crate::model::{AllocId, Allocation};
use foldhash::HashMap;
use origins::{Origin, made, origins};
use settled::settled;
use source::Source;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Different lines of one round that are too many for results that a program keeps.
const MIN_GRAPH_LINES: usize = 4;

/// The same of sizes, where a recording has no stacks: one line may make several.
const MIN_GRAPH_SIZES: usize = 8;

/// Allocations of earlier rounds that are live, at stacks that left some in several rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Their bytes.
    pub bytes: i64,
    /// How many rounds of the recording they are from.
    pub rounds: usize,
    /// Of how many rounds before the current one.
    pub of_rounds: usize,
    /// Bytes of the recording that a round left behind, on average.
    pub per_round_bytes: i64,
    /// Whether a backward pass began after the first of them was made.
    pub outlives_backward: bool,
    /// How many of the bytes are from before the recording.
    pub older_bytes: i64,
    /// Their stacks, most bytes first.
    pub stacks: Vec<StackBytes>,
    /// The allocations, largest first.
    pub allocations: Vec<AllocId>,
    /// How many of their bytes were made in the forward pass.
    pub activation_bytes: i64,
    /// How many are parameters and optimizer state.
    pub model_bytes: i64,
    /// Innermost lines of the stacks.
    pub lines: usize,
    /// Where the recording has no stacks: how many sizes they are of.
    pub sizes: usize,
}

impl Kept {
    /// What stays at the context's moment; `None` where nothing does.
    pub(super) fn of(context: &Context<'_>) -> Option<Self> {
        let current = context.rounds.round_at(context.moment)?;
        let mut origins = origins(context, current);
        let once: Vec<(Source, Option<usize>)> = origins
            .iter()
            .filter(|(_, origin)| origin.has_activations && !origin.is_repeated(current))
            .map(|(&source, origin)| (source, origin.first_round()))
            .collect();
        origins.retain(|_, origin| origin.is_repeated(current));
        // Nobody keeps a graph on purpose, be it of an evaluation that was over long ago.
        let is_graph = is_graph(context, &origins);
        let settled = settled(context, &origins, current);
        origins.retain(|source, origin| (is_graph && origin.has_activations) || !settled.contains(source));
        let per_round = per_round(&origins);
        if !is_consistent(&origins, per_round.len()) || is_one_pass(context, &once, &origins) {
            return None;
        }
        let mut kept: Vec<&Allocation> =
            origins.values().flat_map(|origin| origin.allocations.iter().copied()).collect();
        kept.sort_unstable_by_key(|a| (Reverse(a.size), a.id));
        let stacks = by_stack(kept.iter().map(|a| (a.stack, a.size)));
        let bytes = kept.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
        let lines: BTreeSet<FrameKey> =
            stacks.iter().filter_map(|row| context.code.own_line(row.stack)).collect();
        let of = |category| {
            let made = kept.iter().filter(|a| context.category(a.id) == category);
            made.fold(0i64, |sum, a| sum.saturating_add(a.size))
        };
        (0 < bytes).then(|| Self {
            bytes,
            rounds: per_round.len(),
            of_rounds: current,
            per_round_bytes: mean(&per_round),
            outlives_backward: outlives_backward(context, &kept),
            older_bytes: origins.values().fold(0i64, |sum, origin| sum.saturating_add(origin.older_bytes)),
            allocations: kept.iter().map(|a| a.id).collect(),
            activation_bytes: of(Category::Activation),
            model_bytes: of(Category::Parameter).saturating_add(of(Category::OptimizerState)),
            lines: lines.len(),
            sizes: origins.keys().filter(|source| source.stack().is_none()).count(),
            stacks,
        })
    }

    /// Whether so many different tensors stay that a graph must keep them: results that a program
    /// keeps come from a line or two.
    pub fn is_graph(&self) -> bool {
        (MIN_GRAPH_LINES <= self.lines || MIN_GRAPH_SIZES <= self.sizes)
            && self.bytes / 2 <= self.activation_bytes
    }
}

/// Whether most of it are activations of so many lines that only a graph keeps them together.
fn is_graph(context: &Context<'_>, origins: &HashMap<Source, Origin<'_>>) -> bool {
    let activations = || origins.iter().filter(|(_, origin)| origin.has_activations);
    let stacks = activations().filter_map(|(source, _)| source.stack());
    let lines: BTreeSet<FrameKey> = stacks.filter_map(|stack| context.code.own_line(stack)).collect();
    let sizes = activations().filter(|(source, _)| source.stack().is_none()).count();
    let sum = |bytes: i64, origin: &Origin<'_>| bytes.saturating_add(origin.bytes());
    let bytes = activations().map(|(_, origin)| origin).fold(0, sum);
    (MIN_GRAPH_LINES <= lines.len() || MIN_GRAPH_SIZES <= sizes) && origins.values().fold(0, sum) / 2 <= bytes
}

/// Bytes that each round left, but for rounds that left next to nothing: they are parts of others.
fn per_round(origins: &HashMap<Source, Origin<'_>>) -> Vec<i64> {
    let mut per_round: BTreeMap<usize, i64> = BTreeMap::new();
    for (&round, &bytes) in origins.values().flat_map(|origin| &origin.by_round) {
        let sum = per_round.entry(round).or_default();
        *sum = sum.saturating_add(bytes);
    }
    let most = per_round.values().copied().max().unwrap_or(0);
    per_round.into_values().filter(|&bytes| most / 10 <= bytes).collect()
}

/// Whether most bytes are at stacks that left something in most rounds. Rounds that are parts of one
/// pass through a model, layer by layer, each have other stacks.
fn is_consistent(origins: &HashMap<Source, Origin<'_>>, rounds: usize) -> bool {
    let bytes = |is_counted: &dyn Fn(&Origin<'_>) -> bool| {
        let counted = origins.values().filter(|origin| is_counted(origin));
        counted.fold(0i64, |sum, origin| sum.saturating_add(origin.bytes()))
    };
    let regular = bytes(&|origin| rounds <= origin.by_round.len().saturating_mul(2));
    bytes(&|_| true) / 2 <= regular
}

/// Whether the rounds look like the layers of one pass: then there are also activations of lines that
/// come once in all of them, the first of them before the layers. Rounds of a program make them each time.
fn is_one_pass(
    context: &Context<'_>,
    once: &[(Source, Option<usize>)],
    kept: &HashMap<Source, Origin<'_>>,
) -> bool {
    if context.tells_by_size() {
        // Layers of one size are one source.
        return false;
    }
    let first = kept.values().map(Origin::first_round).min();
    // With frames of compiled code, the first call of a line may have another stack than the later ones.
    let line = |source: Source| source.stack().and_then(|stack| context.code.own_line(stack));
    let lines: BTreeSet<Option<FrameKey>> = kept.keys().map(|&source| line(source)).collect();
    let once: Vec<_> = once.iter().filter(|&&(source, _)| !lines.contains(&line(source))).collect();
    if !once.iter().any(|&&(_, round)| first.is_some_and(|first| round <= first)) {
        return false;
    }
    let made = made(context);
    let times = |source: Source| {
        let stack = source.stack().and_then(|stack| made.get(stack.index()));
        stack.map_or(0, |&times| times as usize)
    };
    let rounds = kept.values().map(|origin| origin.by_round.len()).max().unwrap_or(0);
    let once = once.iter().filter(|&&&(source, _)| times(source) < rounds / 2).count();
    kept.len() < once.saturating_mul(4)
}

/// Whether a backward pass began after the first of some allocations, and before the moment.
fn outlives_backward(context: &Context<'_>, kept: &[&Allocation]) -> bool {
    let first = kept.iter().filter_map(|a| a.alloc_event()).min();
    let mut backwards = context.phases().phases.iter().filter(|start| start.phase == Phase::Backward);
    first.is_some_and(|first| backwards.any(|start| first < start.event && start.event.0 < context.moment.0))
}

fn mean(values: &[i64]) -> i64 {
    let sum = values.iter().copied().fold(0, i64::saturating_add);
    sum / values.len().max(1) as i64
}
