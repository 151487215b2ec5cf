//! Retained memory: what repetitions of the program left behind and nothing needs any more, as far as the recording shows.
//! It is the memory of a leak, or of results that pile up.
//!
//! Live memory of earlier repetitions goes through these questions in turn: may something still need it (`needed_later`);
//! did several repetitions leave some (`by_source`, with `repeated_models` for whole models); does it still grow
//! (`plateaued`); are the repetitions more than the layers of one pass (`layers`)?

mod by_source;
mod description;
mod finished_caches;
mod layers;
mod needed_later;
mod plateaued;
mod repeated_models;
mod sites;
mod source;
#[cfg(test)]
mod tests;

pub(super) use description::{describe, title};

use super::case::{Case, by_stack};
use super::finding::StackBytes;
use crate::analysis::{Category, FrameKey, Phase};
use crate::model::{AllocId, Allocation};
use by_source::{FromSource, by_source};
use foldhash::HashMap;
use layers::are_layers;
use plateaued::plateaued;
use source::Source;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Only a graph keeps activations of at least this many different lines: results that a program keeps come from a line or
/// two.
const MIN_GRAPH_LINES: usize = 4;

/// Minimum number of different sizes, used instead of lines where nothing has a stack: one line may make several.
const MIN_GRAPH_SIZES: usize = 8;

/// A repetition that left less than one in this many of the bytes that the largest one left is a part of another.
const PART_OF_REPETITION: i64 = 10;

/// Allocations of earlier repetitions that are live, by sources that left some in several repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Retained {
    /// Their bytes.
    pub(super) bytes: i64,
    /// Number of repetitions of the recording that left them.
    pub(super) repetitions: usize,
    /// Number of all repetitions before the present one.
    pub(super) of_repetitions: usize,
    /// Bytes of the recording that a repetition left, on average.
    pub(super) per_repetition_bytes: i64,
    /// Whether a backward pass began after the first of them was made.
    pub(super) outlives_backward: bool,
    /// Bytes from before the recording.
    pub(super) older_bytes: i64,
    /// Their stacks, most bytes first.
    pub(super) stacks: Vec<StackBytes>,
    /// The allocations, largest first.
    pub(super) allocations: Vec<AllocId>,
    /// Bytes of activations.
    pub(super) activation_bytes: i64,
    /// Bytes of parameters and optimizer state.
    pub(super) model_bytes: i64,
    /// Number of lines of the user's own code that made them.
    pub(super) lines: usize,
    /// Number of different sizes, where nothing has a stack.
    pub(super) sizes: usize,
}

impl Retained {
    /// The memory that is retained at the moment of the case; `None` if there is none.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let current = case.repetitions.index_at(case.moment)?;
        let (mut repeated, once): (HashMap<Source, FromSource<'_>>, HashMap<Source, FromSource<'_>>) =
            by_source(case, current).into_iter().partition(|(_, from)| from.is_repeated(current));
        // Nobody keeps a graph on purpose, so it counts even if it no longer grows: an evaluation may be long over.
        let is_graph = is_graph(case, &repeated);
        let plateaued = plateaued(case, &repeated, current);
        repeated.retain(|source, from| (is_graph && from.has_activations) || !plateaued.contains(source));
        let per_repetition = per_repetition(&repeated);
        if !is_consistent(&repeated, per_repetition.len()) || are_layers(case, &repeated, &once) {
            return None;
        }
        Self::summed_up(case, current, &repeated, &per_repetition)
    }

    /// All memory of some sources; `None` if there is none.
    fn summed_up(
        case: &Case<'_>,
        current: usize,
        repeated: &HashMap<Source, FromSource<'_>>,
        per_repetition: &[i64],
    ) -> Option<Self> {
        let mut retained: Vec<&Allocation> =
            repeated.values().flat_map(|from| from.allocations.iter().copied()).collect();
        retained.sort_unstable_by_key(|a| (Reverse(a.size), a.id));
        let stacks = by_stack(retained.iter().map(|a| (a.stack, a.size)));
        let bytes = retained.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
        let lines: BTreeSet<FrameKey> =
            stacks.iter().filter_map(|row| case.code.own_line(row.stack)).collect();
        let of = |category| {
            let made = retained.iter().filter(|a| case.category(a.id) == category);
            made.fold(0i64, |sum, a| sum.saturating_add(a.size))
        };
        (0 < bytes).then(|| Self {
            bytes,
            repetitions: per_repetition.len(),
            of_repetitions: current,
            per_repetition_bytes: mean(per_repetition),
            outlives_backward: outlives_backward(case, &retained),
            older_bytes: repeated.values().fold(0i64, |sum, from| sum.saturating_add(from.older_bytes)),
            allocations: retained.iter().map(|a| a.id).collect(),
            activation_bytes: of(Category::Activation),
            model_bytes: of(Category::Parameter).saturating_add(of(Category::OptimizerState)),
            lines: lines.len(),
            sizes: repeated.keys().filter(|source| source.stack().is_none()).count(),
            stacks,
        })
    }

    /// Whether a graph must keep it, since it is activations of many different lines or sizes.
    pub(super) fn is_graph(&self) -> bool {
        (MIN_GRAPH_LINES <= self.lines || MIN_GRAPH_SIZES <= self.sizes)
            && self.bytes / 2 <= self.activation_bytes
    }
}

/// Whether a graph must keep most of the memory of some sources; see [`Retained::is_graph`].
fn is_graph(case: &Case<'_>, by_source: &HashMap<Source, FromSource<'_>>) -> bool {
    let activations = || by_source.iter().filter(|(_, from)| from.has_activations);
    let stacks = activations().filter_map(|(source, _)| source.stack());
    let lines: BTreeSet<FrameKey> = stacks.filter_map(|stack| case.code.own_line(stack)).collect();
    let sizes = activations().filter(|(source, _)| source.stack().is_none()).count();
    let sum = |bytes: i64, from: &FromSource<'_>| bytes.saturating_add(from.bytes());
    let bytes = activations().map(|(_, from)| from).fold(0, sum);
    (MIN_GRAPH_LINES <= lines.len() || MIN_GRAPH_SIZES <= sizes)
        && by_source.values().fold(0, sum) / 2 <= bytes
}

/// Bytes that each repetition left, without the repetitions that left next to nothing.
fn per_repetition(by_source: &HashMap<Source, FromSource<'_>>) -> Vec<i64> {
    let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
    for (&index, &bytes) in by_source.values().flat_map(|from| &from.by_repetition) {
        let sum = sums.entry(index).or_default();
        *sum = sum.saturating_add(bytes);
    }
    let most = sums.values().copied().max().unwrap_or(0);
    sums.into_values().filter(|&bytes| most / PART_OF_REPETITION <= bytes).collect()
}

/// Whether most bytes are of sources that left something in most of the repetitions. If repetitions are parts of one pass
/// through a model, layer by layer, each has other stacks.
fn is_consistent(by_source: &HashMap<Source, FromSource<'_>>, repetitions: usize) -> bool {
    let bytes = |is_counted: &dyn Fn(&FromSource<'_>) -> bool| {
        let counted = by_source.values().filter(|from| is_counted(from));
        counted.fold(0i64, |sum, from| sum.saturating_add(from.bytes()))
    };
    let regular = bytes(&|from| repetitions <= from.by_repetition.len().saturating_mul(2));
    bytes(&|_| true) / 2 <= regular
}

/// Whether a backward pass began after the first of some allocations, and before the moment.
fn outlives_backward(case: &Case<'_>, retained: &[&Allocation]) -> bool {
    let first = retained.iter().filter_map(|a| a.alloc_event()).min();
    let mut backwards = case.phases().phases.iter().filter(|start| start.phase == Phase::Backward);
    first.is_some_and(|first| backwards.any(|start| first < start.event && start.event.0 < case.moment.0))
}

fn mean(values: &[i64]) -> i64 {
    let sum = values.iter().copied().fold(0, i64::saturating_add);
    sum / values.len().max(1) as i64
}
