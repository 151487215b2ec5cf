//! The verdict on every allocation of a device.

use super::claims::Evidence;
use super::facts::FactsByStack;
use super::{Basis, Category, RuleId, Verdict};
use crate::model::{AllocId, Moment, Timeline};
use std::sync::Arc;

/// The categories of all allocations of one device.
#[derive(Debug, Default)]
pub struct Categories {
    verdicts: Vec<Verdict>,
    pub(super) evidence: Evidence,
    pub(super) stacks: Arc<FactsByStack>,
}

/// Bytes of one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryBytes {
    /// The category.
    pub category: Category,
    /// Requested bytes of all its allocations.
    pub bytes: i64,
    /// Requested bytes of those whose category is only inferred: see [`Basis::Inferred`].
    pub inferred_bytes: i64,
    /// How many allocations there are.
    pub count: usize,
}

impl Categories {
    pub(super) fn new(verdicts: Vec<Verdict>, evidence: Evidence, stacks: Arc<FactsByStack>) -> Self {
        Self { verdicts, evidence, stacks }
    }

    /// The category of an allocation.
    #[inline]
    pub fn get(&self, id: AllocId) -> Category {
        self.verdict(id).category
    }

    /// The rule that decided about an allocation.
    pub fn rule(&self, id: AllocId) -> RuleId {
        self.verdict(id).rule
    }

    /// The kind of evidence that an allocation's category rests on.
    #[inline]
    pub fn basis(&self, id: AllocId) -> Basis {
        self.verdict(id).basis()
    }

    /// The category of an allocation, and the rule that decided.
    #[inline]
    pub fn verdict(&self, id: AllocId) -> Verdict {
        self.verdicts.get(id.index()).copied().unwrap_or(Verdict::OPEN)
    }

    /// The categories that occur, in the order of [`Category::ALL`].
    pub fn present(&self) -> Vec<Category> {
        let mut is_there = [false; Category::ALL.len()];
        for verdict in &self.verdicts {
            is_there[verdict.category as usize] = true;
        }
        Category::ALL.into_iter().filter(|&category| is_there[category as usize]).collect()
    }

    /// Whether any category is only inferred.
    pub fn has_inferred(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.basis() == Basis::Inferred)
    }

    /// The memory that is live at a moment, by category in the order of [`Category::ALL`]; categories without bytes are left out.
    pub fn bytes_at(&self, timeline: &Timeline, moment: Moment) -> Vec<CategoryBytes> {
        let live = timeline.lifetimes.live_at(moment);
        self.bytes_of(live.map(|id| (id, timeline.size(id))))
    }

    /// The memory of some allocations with their sizes, by category in the order of [`Category::ALL`]; categories without
    /// bytes are left out.
    pub fn bytes_of(&self, allocations: impl Iterator<Item = (AllocId, i64)>) -> Vec<CategoryBytes> {
        let mut totals =
            Category::ALL.map(|category| CategoryBytes { category, bytes: 0, inferred_bytes: 0, count: 0 });
        for (id, size) in allocations {
            let verdict = self.verdict(id);
            let total = &mut totals[verdict.category as usize];
            total.count += 1;
            total.bytes = total.bytes.saturating_add(size);
            if verdict.basis() == Basis::Inferred {
                total.inferred_bytes = total.inferred_bytes.saturating_add(size);
            }
        }
        totals.into_iter().filter(|total| total.bytes != 0).collect()
    }
}
