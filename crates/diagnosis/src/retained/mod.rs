//! Retained memory: what repetitions of the program left behind and nothing needs any more, as far as the recording shows.
//! It is the memory of a leak, or of results that pile up.
//!
//! Live memory of earlier repetitions goes through these questions in turn: may something still need it (`needed_later`);
//! did several repetitions leave some (`by_source`, with `repeated_models` for whole models, and `finished_caches` and
//! `replaced_caches` for keys and values); does it still grow (`plateaued`), and in every repetition (`steady`)?

mod batches;
mod by_source;
mod description;
mod finished_caches;
mod graphs;
mod kind;
mod needed_later;
mod plateaued;
mod remedy;
mod repeated_models;
mod replaced_caches;
mod sites;
mod source;
mod steady;
#[cfg(test)]
mod tests;

pub(super) use description::{describe, line, title};

use super::answered::Answered;
use super::case::{Case, Noun, by_stack};
use super::finding::StackBytes;
use by_source::{FromSource, by_source};
use foldhash::HashMap;
use graphs::{GraphKind, graph_kind};
use kind::Kind;
use oomscope_analysis::{FrameKey, Phase};
use oomscope_model::{AllocId, Allocation, Bytes};
use oomscope_program::numbers::{MANY, SEVERAL};
use oomscope_program::share::{MOST, NOTABLE, TRACE};
use plateaued::plateaued;
use source::Source;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use steady::steady;

/// Allocations of earlier repetitions that are live, by sources that left some in several repetitions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Retained {
    /// Their bytes.
    pub(super) bytes: Bytes,
    /// Number of repetitions of the recording that left them.
    pub(super) repetitions: usize,
    /// Number of all repetitions like them before the present one.
    pub(super) of_repetitions: usize,
    /// Bytes of the recording that a repetition left, on average.
    pub(super) per_repetition_bytes: Bytes,
    /// Of the whole recording, number of repetitions that left some, if each did and nothing of it went.
    pub(super) steady: Option<usize>,
    /// Whether a backward pass began after the first of them was made.
    outlives_backward: bool,
    /// Bytes from before the recording.
    pub(super) older_bytes: Bytes,
    /// Their stacks, most bytes first.
    pub(super) stacks: Vec<StackBytes>,
    /// The allocations, largest first.
    pub(super) allocations: Vec<AllocId>,
    /// What it is.
    kind: Kind,
    /// The questions that were asked to find out what it is.
    pub(super) asked: Vec<Answered>,
    /// What a repetition that left it is called.
    pub(super) noun: Noun,
    /// Number of lines of the user's own code that made them.
    pub(super) lines: usize,
    /// Number of different sizes, where nothing has a stack.
    pub(super) sizes: usize,
}

impl Retained {
    /// The memory that is retained at the moment of the case; `None` if there is none.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let current = case.repetitions.index_at(case.moment)?;
        let mut repeated = by_source(case, current);
        repeated.retain(|_, from| from.is_repeated(current));
        // Nobody keeps a graph on purpose, so it counts even if it no longer grows: an evaluation may be long over.
        let graph = graph(case, &repeated, current);
        let plateaued = plateaued(case, &repeated, current);
        repeated
            .retain(|source, from| (graph.is_some() && from.has_activations) || !plateaued.contains(source));
        let per_repetition = per_repetition(&repeated);
        Self::summed_up(case, current, &repeated, &per_repetition, graph)
    }

    /// All memory of some sources; `None` if there is none.
    fn summed_up(
        case: &Case<'_>,
        current: usize,
        repeated: &HashMap<Source, FromSource<'_>>,
        per_repetition: &BTreeMap<usize, Bytes>,
        graph: Option<GraphKind>,
    ) -> Option<Self> {
        let mut retained: Vec<&Allocation> =
            repeated.values().flat_map(|from| from.allocations.iter().copied()).collect();
        retained.sort_unstable_by_key(|a| (Reverse(a.size), a.id));
        let stacks = by_stack(retained.iter().map(|a| (a.stack, a.size)));
        let bytes = retained.iter().map(|a| a.size).sum::<Bytes>();
        let lines: BTreeSet<FrameKey> =
            stacks.iter().filter_map(|row| case.code.own_line(row.stack)).collect();
        if bytes <= 0 {
            return None;
        }
        let indices: Vec<usize> = per_repetition.keys().copied().collect();
        let (kind, asked) = Kind::of(case, &retained, &stacks, graph);
        Some(Self {
            bytes,
            repetitions: per_repetition.len(),
            of_repetitions: case.repetitions.alike(current, &indices),
            per_repetition_bytes: mean(per_repetition.values()),
            steady: steady(case, repeated),
            outlives_backward: outlives_backward(case, &retained),
            older_bytes: repeated.values().map(|from| from.older_bytes).sum::<Bytes>(),
            allocations: retained.iter().map(|a| a.id).collect(),
            kind,
            asked,
            noun: case.repetitions.noun(retained.iter().filter_map(|a| a.alloc_event())),
            lines: lines.len(),
            sizes: repeated.keys().filter(|source| source.stack().is_none()).count(),
            stacks,
        })
    }

    /// Whether it is worth a word where it is not why a request failed: it goes on growing, or is of several repetitions.
    pub(super) fn is_worth_a_word(&self, case: &Case<'_>) -> bool {
        TRACE.is_reached(self.bytes, case.live_bytes())
            && (self.steady.is_some() || SEVERAL <= self.repetitions)
    }

    /// Whether a backward pass that has not come yet may need it: calls of a model made it, and none came after them.
    pub(super) fn may_be_one_step(&self) -> bool {
        self.noun == Noun::Call && self.is_graph() && !self.outlives_backward
    }

    /// Whether a graph keeps it.
    pub(super) fn is_graph(&self) -> bool {
        matches!(self.kind, Kind::Graph(_))
    }
}

/// What keeps the graphs, if graphs keep most of the memory of some sources. What else the calls with activations left, such
/// as their inputs, counts, since a graph holds what its backward pass needs.
fn graph(case: &Case<'_>, by_source: &HashMap<Source, FromSource<'_>>, current: usize) -> Option<GraphKind> {
    let activations = || by_source.iter().filter(|(_, from)| from.has_activations);
    let calls: BTreeSet<usize> =
        activations().flat_map(|(_, from)| from.by_repetition.keys()).copied().collect();
    let is_of_graph = |from: &&FromSource<'_>| {
        let is_recorded = !from.by_repetition.is_empty();
        from.has_activations || (is_recorded && from.by_repetition.keys().all(|index| calls.contains(index)))
    };
    let bytes = by_source.values().filter(is_of_graph).map(FromSource::bytes).sum::<Bytes>();
    if !MOST.is_reached(bytes, by_source.values().map(FromSource::bytes).sum::<Bytes>()) {
        return None;
    }
    let sizes = activations().filter(|(source, _)| source.stack().is_none()).count();
    if MANY <= sizes {
        return Some(GraphKind::Untrained);
    }
    let retained: Vec<&Allocation> =
        activations().flat_map(|(_, from)| from.allocations.iter().copied()).collect();
    graph_kind(case, &retained, current).filter(|_| sizes == 0)
}

/// Bytes by the repetition that left them, without the repetitions that left next to nothing.
fn per_repetition(by_source: &HashMap<Source, FromSource<'_>>) -> BTreeMap<usize, Bytes> {
    let mut sums: BTreeMap<usize, Bytes> = BTreeMap::new();
    for (&index, &bytes) in by_source.values().flat_map(|from| &from.by_repetition) {
        let sum = sums.entry(index).or_default();
        *sum += bytes;
    }
    let most = sums.values().copied().max().unwrap_or_default();
    sums.retain(|_, bytes| NOTABLE.is_reached(*bytes, most));
    sums
}

/// Whether a backward pass began after the first of some allocations, and before the moment.
fn outlives_backward(case: &Case<'_>, retained: &[&Allocation]) -> bool {
    let first = retained.iter().filter_map(|a| a.alloc_event()).min();
    first.is_some() && first < case.starts_of(Phase::Backward).next_back()
}

fn mean<'a>(values: impl ExactSizeIterator<Item = &'a Bytes>) -> Bytes {
    let count = values.len().max(1) as i64;
    values.copied().sum::<Bytes>() / count
}
