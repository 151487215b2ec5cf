//! How much the passes of a program compute, by their products.
//!
//! A product with a weight has two operations for each of the weight's elements at each position. Its backward computes two such
//! products: one for the gradient of the weight, one for that of what is multiplied.

mod pieces;
mod positions;
mod products;
mod weights;

use super::attention::Attention;
use super::computation::Computation;
use super::number_types::NumberTypes;
use super::share::MOST;
use super::span::Pass;
use foldhash::HashSet;
use oomscope_model::AllocId;
use pieces::{Piece, Widths};
use std::ops::Range;
use weights::Weight;

/// The forward's part of a step where each product of it has two in the backward.
const FORWARD: f64 = 1.0 / 3.0;

/// The same where weights are frozen, so that only what is multiplied has gradients.
const FORWARD_OF_FROZEN: f64 = 1.0 / 2.0;

/// What passes compute, as far as their weights are known.
#[derive(Debug)]
pub struct Work {
    /// The products of forwards, by what they make.
    pieces: Vec<Piece>,
    /// What all of the passes compute, forward and backward.
    all: f64,
    /// The part of it that the forward has.
    forward: f64,
    /// The results of products of modules.
    results: HashSet<AllocId>,
}

impl Work {
    /// Look at all passes. Where the weights of most products are not known, a pass is left out.
    pub(super) fn of(computation: &Computation<'_>, types: &NumberTypes, attention: &[Attention]) -> Self {
        let widths = Widths::of(computation, types);
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut counted, mut frozen): (HashSet<u32>, usize) = (HashSet::default(), 0);
        let mut all_results: HashSet<AllocId> = HashSet::default();
        for pass in computation.spans.passes() {
            let results = products::results(computation, &(pass.events.start..pass.backward));
            all_results.extend(&results);
            match of_pass(computation, widths, pass, &results) {
                Ok(of_pass) => {
                    pieces.extend(of_pass);
                    counted.insert(pass.events.start);
                }
                Err(Frozen(is_frozen)) => frozen += usize::from(is_frozen),
            }
        }
        let is_counted = |pass: &Pass| counted.contains(&pass.events.start);
        pieces.extend(pieces::of_attention(computation, widths, attention, is_counted));
        pieces.sort_by_key(|piece| piece.made);
        let sum = |of: fn(&Piece) -> f64| pieces.iter().map(of).sum::<f64>();
        let all = sum(|piece| piece.forward * (1.0 + piece.backward));
        let forward = match sum(|piece| piece.forward) / all {
            share if share.is_finite() => share,
            _ if 0 < frozen => FORWARD_OF_FROZEN,
            _ => FORWARD,
        };
        Self { pieces, all, forward, results: all_results }
    }

    /// Whether a module's product with a weight made an allocation.
    pub fn is_result(&self, id: AllocId) -> bool {
        self.results.contains(&id)
    }

    /// The share of what passes compute that is a share of their forward.
    pub fn of_forward(&self, share: f64) -> f64 {
        share.clamp(0.0, 1.0) * self.forward
    }

    /// The share of what passes compute that makes some allocations of forwards; `None` if it is not known.
    pub fn share(&self, ids: impl Iterator<Item = Range<u32>>) -> Option<f64> {
        let at = |id: u32| self.pieces.partition_point(|piece| piece.made < id);
        let made = |ids: Range<u32>| self.pieces.get(at(ids.start)..at(ids.end)).unwrap_or_default();
        let again: f64 = ids.flat_map(made).map(|piece| piece.forward).sum();
        (0.0 < again).then(|| (again / self.all).min(self.forward))
    }
}

/// Why a pass is left out: whether a backward shows that most of its weights have no gradients.
struct Frozen(bool);

/// The products of a pass with weights.
fn of_pass(
    computation: &Computation<'_>,
    widths: Widths,
    pass: &Pass,
    results: &[AllocId],
) -> Result<Vec<Piece>, Frozen> {
    let looked_up = products::looked_up(computation, &(pass.events.start..pass.backward));
    let weights = weights::weights(computation, pass, results, &looked_up);
    let of_modules = || weights.iter().filter(|weight| weight.result.is_some());
    let bytes = |sum: u128, weight: &Weight| sum + u128::from(weight.bytes);
    // Others are taken to have the positions of those.
    let have_most = MOST.is_reached(of_modules().fold(0, bytes), weights.iter().fold(0, bytes));
    if results.is_empty() || (have_most && MOST.is_reached(of_modules().count(), results.len())) {
        Ok(pieces::of_weights(computation, widths, pass, &weights))
    } else {
        Err(Frozen(!weights.is_empty() && weights.len() < results.len()))
    }
}

#[cfg(test)]
mod tests;
