//! How large the allocations of an earlier iteration are in the one that failed.

use super::counterparts::Counterparts;
use super::earlier::Earlier;
use super::likeness::{Likeness, ROUNDING};
use crate::{Computation, Dependence, weighted_median};
use foldhash::HashMap;
use oomscope_model::AllocId;
use std::collections::BTreeMap;

/// Sizes in the iteration that failed.
#[derive(Debug)]
pub(super) struct Sizes<'a> {
    computation: &'a Computation<'a>,
    /// The size of what has some size in the earlier iteration.
    seen: HashMap<u64, u64>,
    ratio: f64,
}

impl<'a> Sizes<'a> {
    pub(super) fn of(
        computation: &'a Computation<'a>,
        earlier: &Earlier,
        counterparts: &Counterparts,
    ) -> Self {
        if earlier.likeness != Likeness::Stack {
            return Self { computation, seen: HashMap::default(), ratio: 1.0 };
        }
        let run = &computation.run;
        let mut counts: HashMap<u64, BTreeMap<u64, u32>> = HashMap::default();
        let mut ratios: Vec<(f64, u64)> = Vec::new();
        for &(their, our) in &counterparts.in_step {
            let (from, to) = (run.bytes(their), run.bytes(our));
            *counts.entry(from).or_default().entry(to).or_default() += 1;
            if computation.depends_on_batch(their) && from != 0 {
                ratios.push((to as f64 / from as f64, from));
            }
        }
        let most = |sizes: BTreeMap<u64, u32>| sizes.into_iter().max_by_key(|&(_, count)| count);
        let seen = counts.into_iter().filter_map(|(from, sizes)| Some((from, most(sizes)?.0)));
        Self { computation, seen: seen.collect(), ratio: weighted_median(ratios) }
    }

    /// How much larger what depends on the batch is.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The bytes of an allocation of the earlier iteration in the one that failed.
    pub(super) fn of_counterpart(&self, id: AllocId) -> u64 {
        let bytes = self.computation.run.bytes(id);
        let seen = self.seen.get(&bytes).copied();
        match self.computation.dependence(id) {
            Dependence::Gradient
            | Dependence::FreshGradient
            | Dependence::WeightCopy
            | Dependence::Workspace => bytes,
            Dependence::Fixed => seen.unwrap_or(bytes),
            // A single number has no part for each sample; what is as small takes a block in any case.
            Dependence::Batch | Dependence::EvalBatch if bytes < ROUNDING => seen.unwrap_or(bytes),
            // The conversion saturates.
            Dependence::Batch | Dependence::EvalBatch => {
                seen.unwrap_or_else(|| (bytes as f64 * self.ratio).ceil() as u64)
            }
        }
    }
}
