//! Which weight a product multiplies by, as its backward tells: that makes the gradient of the weight after what came later in the
//! forward was given back, and before what went into the product is.

use crate::computation::Computation;
use crate::dependence::Dependence;
use crate::span::Pass;
use foldhash::HashSet;
use oomscope_model::AllocId;
use std::cmp::Reverse;
use std::ops::Range;

/// A weight that a forward multiplies by.
#[derive(Debug)]
pub(super) struct Weight {
    /// The result of its product; `None` where no module of torch computes it.
    pub(super) result: Option<AllocId>,
    /// The forward had made what is multiplied by then.
    pub(super) after: u32,
    /// Its bytes.
    pub(super) bytes: u64,
    /// Bytes of smaller gradients that are made with its own or right before: a bias, or the weight of a norm of the result.
    pub(super) vectors: Vec<u64>,
}

/// Gradients that the backward made without giving back anything of the forward in between.
struct Window {
    /// Their bytes, in their order.
    gradients: Vec<u64>,
    /// They belong to operations of the forward behind this allocation.
    after: u32,
    /// Up to this one.
    until: u32,
}

/// A weight is a matrix of at least so many columns; what is smaller by as much beside it is a bias, or the weight of a norm.
const COLUMNS: u64 = 16;

/// As many are kept of what may tell the rows of a weight.
const MAX_VECTORS: usize = 8;

/// The weights of a pass, in the order of the forward, given the results of its products and of what looks rows up in tables.
pub(super) fn weights(
    computation: &Computation<'_>,
    pass: &Pass,
    results: &[AllocId],
    looked_up: &[AllocId],
) -> Vec<Weight> {
    let within = |ids: &[AllocId], window: &Window| {
        let at = |id: u32| ids.partition_point(|other| other.0 <= id);
        at(window.after)..at(window.until)
    };
    let mut open = results.len();
    let mut out = Vec::new();
    let mut before: Vec<u64> = Vec::new();
    // A table that is looked up twice, or multiplied by besides, has the sum of its gradients, too.
    let mut tables: HashSet<u64> = HashSet::default();
    for window in windows(computation, pass) {
        let Range { start, end } = within(results, &window);
        open = open.min(end);
        let mut products = results[start.min(open)..open].iter().rev();
        let has_tables = window.after == 0 || !within(looked_up, &window).is_empty();
        let (matrices, vectors) = parted(&window.gradients, computation.has_weight_copies());
        let vectors: Vec<u64> = vectors.iter().chain(&before).copied().take(MAX_VECTORS).collect();
        let is_large = are_largest(&matrices, products.len());
        let mut multiplied: HashSet<u64> = HashSet::default();
        for (&bytes, is_large) in matrices.iter().zip(is_large) {
            let result = if is_large { products.next().copied() } else { None };
            open -= usize::from(result.is_some());
            if result.is_none() && has_tables {
                tables.insert(bytes);
            }
            // A gradient that is kept elsewhere, too, is made twice.
            let is_new = result.is_some() || !tables.contains(&bytes) && !multiplied.contains(&bytes);
            if result.is_some() {
                multiplied.insert(bytes);
            }
            if is_new {
                out.push(Weight { result, after: window.after, bytes, vectors: vectors.clone() });
            }
        }
        before = window.gradients;
    }
    out.reverse();
    out
}

/// The matrices and the vectors of a window. Under autocast, a gradient is made in numbers of two bytes first.
fn parted(gradients: &[u64], is_autocast: bool) -> (Vec<u64>, Vec<u64>) {
    let largest = gradients.iter().copied().max().unwrap_or(0);
    let sizes: HashSet<u64> = gradients.iter().copied().filter(|_| is_autocast).collect();
    let is_half = |bytes: u64| sizes.contains(&bytes.saturating_mul(2));
    gradients.iter().partition(|&&bytes| largest <= bytes.saturating_mul(COLUMNS) && !is_half(bytes))
}

/// Which of some sizes are the largest ones.
fn are_largest(sizes: &[u64], count: usize) -> Vec<bool> {
    let mut places: Vec<usize> = (0..sizes.len()).collect();
    places.sort_by_key(|&place| Reverse(sizes[place]));
    let mut out = vec![false; sizes.len()];
    places.into_iter().take(count).for_each(|place| out[place] = true);
    out
}

/// The windows of a backward, in its order.
fn windows(computation: &Computation<'_>, pass: &Pass) -> Vec<Window> {
    let run = &computation.run;
    let lifetimes = &run.recording.lifetimes;
    let sizes = computation.parameter_bytes();
    let is_gradient = |id: &AllocId| {
        matches!(computation.dependence(*id), Dependence::Gradient | Dependence::FreshGradient)
            && sizes.contains(&run.bytes(*id))
    };
    let backward = pass.backward..pass.events.end;
    let made = |id: AllocId| lifetimes.start(id).event().map_or(0, |event| event.0);
    let mut gradients = run.made_in(&backward).filter(is_gradient).peekable();
    let is_of_forward = |id: AllocId| {
        (pass.events.start..pass.backward).contains(&made(id))
            && pass.events.start < lifetimes.start(id).0
            && computation.depends_on_batch(id)
    };
    let mut out = Vec::new();
    let mut pending: Vec<u64> = Vec::new();
    // The first and the last allocation of what was given back since the latest gradient.
    let mut given: Option<(u32, u32)> = None;
    let mut until = u32::MAX;
    for event in backward {
        if let Some(id) = computation.frees.at(event).filter(|&id| is_of_forward(id)) {
            given = Some(given.map_or((id.0, id.0), |(first, last)| (first.min(id.0), last.max(id.0))));
        }
        while gradients.peek().is_some_and(|&id| made(id) <= event) {
            let Some(id) = gradients.next() else { break };
            if let Some((first, last)) = given.take() {
                if !pending.is_empty() {
                    out.push(Window { gradients: std::mem::take(&mut pending), after: first, until });
                }
                until = last;
            }
            pending.push(run.bytes(id));
        }
    }
    if !pending.is_empty() {
        out.push(Window { gradients: pending, after: given.map_or(0, |(first, _)| first), until });
    }
    out
}
