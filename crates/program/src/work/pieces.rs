//! The products of a forward, with what each computes.

use super::positions::Elements;
use super::weights::Weight;
use crate::attention::Attention;
use crate::computation::Computation;
use crate::number_types::NumberTypes;
use crate::span::Pass;
use foldhash::HashSet;
use oomscope_analysis::fitting_tensors;
use oomscope_model::AllocId;

/// Attention multiplies queries with keys, and what comes of it with values.
const PRODUCTS_OF_SCORES: f64 = 2.0;

/// Heads of attention mostly have so many numbers. Sizes do not tell how many.
const HEAD: f64 = 64.0;

/// A product of a forward.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Its result, or the first allocation that may be.
    pub(super) made: u32,
    /// How many operations it has.
    pub(super) forward: f64,
    /// How many times as many its backward has.
    pub(super) backward: f64,
}

/// How many bytes numbers have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    parameters: u64,
    /// Results of products.
    values: u64,
    scores: u64,
}

impl Widths {
    /// Autocast has results in two bytes, softmax and parameters in four.
    pub(super) fn of(computation: &Computation<'_>, types: &NumberTypes) -> Self {
        let is_autocast = computation.has_weight_copies();
        let values = if types.are_half { 2 } else { 4 };
        let others = if is_autocast { 4 } else { values };
        Self { parameters: others, values, scores: others }
    }
}

/// The products with some weights of a pass.
pub(super) fn of_weights(
    computation: &Computation<'_>,
    widths: Widths,
    pass: &Pass,
    weights: &[Weight],
) -> Vec<Piece> {
    let positions = positions(computation, widths, pass, weights);
    let piece = |(weight, positions): (&Weight, f64)| Piece {
        made: weight.result.map_or(weight.after.saturating_add(1), |result| result.0),
        forward: 2.0 * positions * (weight.bytes / widths.parameters) as f64,
        // What the first one multiplies needs no gradient.
        backward: if weight.after == 0 { 1.0 } else { 2.0 },
    };
    weights.iter().zip(positions).map(piece).collect()
}

/// The positions of each weight. Where nothing tells, those of the one before it, or the next.
fn positions(computation: &Computation<'_>, widths: Widths, pass: &Pass, weights: &[Weight]) -> Vec<f64> {
    let run = &computation.run;
    let forward = run.made_in(&(pass.events.start..pass.backward));
    let of_batch = forward.filter(|&id| computation.depends_on_batch(id));
    let sizes: HashSet<u64> = of_batch.map(|id| run.bytes(id)).collect();
    let is_there =
        |elements: u64| [2, 4].iter().any(|width| sizes.contains(&elements.saturating_mul(*width)));
    let elements = |weight: &Weight| {
        let result = run.bytes(weight.result?) / widths.values;
        Some(Elements { result, weight: weight.bytes / widths.parameters })
    };
    let find = |weight: &Weight, near: Option<u64>| {
        let (result, elements) = (weight.result?, elements(weight)?);
        let vectors = weight.vectors.iter().map(|bytes| bytes / widths.parameters);
        let rows = noted(computation, result).into_iter().chain(vectors).chain(elements.rows_at(near));
        elements.positions(rows, is_there)
    };
    let mut found: Vec<Option<u64>> = weights.iter().map(|weight| find(weight, None)).collect();
    if found.iter().all(Option::is_none) {
        // What is multiplied may have the size of the result before.
        for (pair, found) in weights.windows(2).zip(found.iter_mut().skip(1)) {
            let [before, weight] = [&pair[0], &pair[1]].map(elements);
            *found = weight.zip(before).and_then(|(weight, before)| weight.positions_of(before.result));
        }
    }
    let mut near: Option<u64> = None;
    for at in (0..found.len()).chain((0..found.len()).rev()) {
        found[at] = found[at].or_else(|| find(&weights[at], near)).or(near);
        near = found[at];
    }
    // If none is known, all may have equally many: what counts are shares.
    found.into_iter().map(|positions| positions.unwrap_or(1) as f64).collect()
}

/// The dimensions that a recorder may have noted of a result.
fn noted(computation: &Computation<'_>, result: AllocId) -> Vec<u64> {
    let run = &computation.run;
    let allocation = run.recording.allocation(result);
    let tensors = fitting_tensors(run.recording.snapshot(), run.recording.device, &allocation);
    let dimensions = tensors.iter().flat_map(|tensor| tensor.shape.iter().rev());
    dimensions.filter_map(|&size| size.try_into().ok()).collect()
}

/// The products of scores, and of their softmax with values, where attention is written out in passes that are counted.
pub(super) fn of_attention(
    computation: &Computation<'_>,
    widths: Widths,
    attention: &[Attention],
    is_counted: impl Fn(&Pass) -> bool,
) -> Vec<Piece> {
    let piece = |attention: &Attention| {
        let first = *attention.scores.first()?;
        let event = computation.run.recording.lifetimes.start(first).event()?;
        computation.pass_at(event).filter(|pass| is_counted(pass))?;
        let scores = (attention.bytes / widths.scores) as f64;
        Some(Piece { made: first.0, forward: 2.0 * PRODUCTS_OF_SCORES * HEAD * scores, backward: 2.0 })
    };
    attention.iter().filter_map(piece).collect()
}
