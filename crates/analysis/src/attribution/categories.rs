//! The verdict on every allocation of a device, with its evidence.

use super::claims::Evidence;
use super::facts::{FactsByStack, free_event};
use super::{Basis, Blocks, Category, EvidenceKind, RuleId, Verdict};
use oomscope_model::{AllocId, Bytes, EventIx, FrameId, Moment, Timeline};
use std::sync::Arc;

/// The categories of all allocations of one device.
#[derive(Debug, Default)]
pub struct Categories {
    verdicts: Vec<Verdict>,
    evidence: Evidence,
    stacks: Arc<FactsByStack>,
}

/// Bytes of one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryBytes {
    /// The category.
    pub category: Category,
    /// Requested bytes of all its allocations.
    pub bytes: Bytes,
    /// Requested bytes of those whose category is only inferred: see [`Basis::Inferred`].
    pub inferred_bytes: Bytes,
    /// How many allocations there are.
    pub count: usize,
}

/// The evidence that a rule shows for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Its size in bytes, and the time at which it was made.
    Size(Bytes),
    /// A label.
    Label,
    /// The frame that decided.
    Frame(FrameId),
    /// It has no stack.
    NoStack,
    /// The event that freed it.
    GivenBack(EventIx),
    /// It is never freed within the recording.
    Kept,
    /// Blocks of its size in bytes.
    Blocks(Bytes, Blocks),
    /// The allocation whose place it took.
    TookThePlaceOf(AllocId),
    /// It lies in a private pool.
    Pool,
    /// The allocation of a later iteration that the program named.
    NamedLater(AllocId),
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

    /// Of a tensor that each iteration makes anew, the allocation of a later one that has its name at the end.
    pub fn named_later(&self, id: AllocId) -> Option<AllocId> {
        self.evidence.later.get(&id).copied()
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
    pub fn bytes_of(&self, allocations: impl Iterator<Item = (AllocId, Bytes)>) -> Vec<CategoryBytes> {
        let mut totals = Category::ALL.map(|category| CategoryBytes {
            category,
            bytes: Bytes::ZERO,
            inferred_bytes: Bytes::ZERO,
            count: 0,
        });
        for (id, size) in allocations {
            let verdict = self.verdict(id);
            let total = &mut totals[verdict.category as usize];
            total.count += 1;
            total.bytes += size;
            if verdict.basis() == Basis::Inferred {
                total.inferred_bytes += size;
            }
        }
        totals.into_iter().filter(|total| total.bytes != 0).collect()
    }

    /// The evidence for the category of an allocation.
    pub fn because(&self, timeline: &Timeline, id: AllocId) -> Because {
        self.because_of(timeline, id, self.rule(id))
    }

    /// The evidence of a rule that claims an allocation.
    pub fn because_of(&self, timeline: &Timeline, id: AllocId, rule: RuleId) -> Because {
        let lifetimes = &timeline.lifetimes;
        let size = timeline.size(id);
        match rule.rule().evidence {
            EvidenceKind::Size => Because::Size(size),
            EvidenceKind::Label => Because::Label,
            EvidenceKind::Pool => Because::Pool,
            EvidenceKind::Later => self.named_later(id).map_or(Because::Size(size), Because::NamedLater),
            EvidenceKind::Frame => match self.stacks.get(timeline.stack(id)).decided_by {
                Some(frame) => Because::Frame(frame),
                None => Because::NoStack,
            },
            EvidenceKind::Fate => {
                let freed = free_event(lifetimes, id);
                freed.map_or(Because::Kept, Because::GivenBack)
            }
            EvidenceKind::Blocks => {
                let blocks = self.evidence.blocks.get(&(rule, size));
                blocks.map_or(Because::Size(size), |&blocks| Because::Blocks(size, blocks))
            }
            EvidenceKind::Other => self
                .evidence
                .replaced
                .get(&id)
                .map_or(Because::Size(size), |&other| Because::TookThePlaceOf(other)),
        }
    }
}
