//! What rules claim, and who wins.
//!
//! An open allocation goes to the first family of rules that claims it. After that, a claim replaces the verdict only where
//! the table says that its rule refines that one's. So nothing that is found replaces what was declared.

use super::{Category, RuleId};
use crate::model::AllocId;
use foldhash::HashMap;

/// A category, and the rule that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// What it is for.
    pub category: Category,
    /// Which rule decided.
    pub rule: RuleId,
}

impl Verdict {
    /// Nothing is known.
    pub const OPEN: Self = Self { category: Category::Unknown, rule: RuleId::Nothing };

    /// A verdict.
    pub(in crate::analysis) const fn new(category: Category, rule: RuleId) -> Self {
        Self { category, rule }
    }

    /// What it rests on.
    #[inline]
    pub fn basis(self) -> super::Basis {
        self.rule.rule().basis
    }

    /// Whether no rule has decided.
    pub(super) fn is_open(self) -> bool {
        self == Self::OPEN
    }
}

/// Blocks of one size that were looked at together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// How many there are.
    pub alike: usize,
    /// How many of them, or beside them, are of a category that is known.
    pub known: usize,
    /// That category.
    pub known_as: Category,
}

/// What a rule said of the allocation that is being explained, and whether that stood when it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// What it said.
    pub verdict: Verdict,
    /// Whether it was accepted; a later one may have replaced it.
    pub is_accepted: bool,
}

/// The verdicts of all allocations while rules make their claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    verdicts: Vec<Verdict>,
    pub(super) evidence: Grounds,
    watched: Option<AllocId>,
    /// What was claimed of the watched allocation.
    pub(super) log: Vec<Claim>,
}

/// What verdicts rest on, as far as neither the stack nor the events of an allocation say it.
#[derive(Debug, Default)]
pub(super) struct Grounds {
    /// Of all blocks of a size that a rule decided.
    pub(super) blocks: HashMap<(RuleId, i64), Blocks>,
    /// The allocation whose place another took.
    pub(super) replaced: HashMap<AllocId, AllocId>,
}

impl Claims {
    /// All of them open. Of the watched allocation, every claim is kept.
    pub(super) fn open(allocations: usize, watched: Option<AllocId>) -> Self {
        Self { verdicts: vec![Verdict::OPEN; allocations], watched, ..Self::default() }
    }

    /// The verdict so far.
    #[inline]
    pub(super) fn get(&self, id: AllocId) -> Verdict {
        self.verdicts.get(id.index()).copied().unwrap_or(Verdict::OPEN)
    }

    /// Whether an allocation has a category so far.
    #[inline]
    pub(super) fn is(&self, id: AllocId, category: Category) -> bool {
        self.get(id).category == category
    }

    /// Whether a rule decided so far.
    #[inline]
    pub(super) fn is_by(&self, id: AllocId, rule: RuleId) -> bool {
        self.get(id).rule == rule
    }

    /// Whether an allocation is open, or being explained: then what else is said of it is asked, too.
    #[inline]
    pub(super) fn asks(&self, id: AllocId) -> bool {
        self.get(id).is_open() || self.watched == Some(id)
    }

    /// Claim what an allocation is for.
    #[inline]
    pub(super) fn claim(&mut self, id: AllocId, verdict: Verdict) {
        self.decide(id, verdict);
    }

    /// The same; whether its evidence is to be kept.
    #[inline]
    fn decide(&mut self, id: AllocId, verdict: Verdict) -> bool {
        let Some(slot) = self.verdicts.get_mut(id.index()) else { return false };
        let is_accepted = verdict.rule.refines(slot.rule);
        if is_accepted {
            *slot = verdict;
        }
        if self.watched == Some(id) && !verdict.is_open() {
            self.log.push(Claim { verdict, is_accepted });
        }
        is_accepted || self.watched == Some(id)
    }

    /// Claim it for one of several blocks of a size.
    pub(super) fn claim_of(&mut self, id: AllocId, verdict: Verdict, size: i64, blocks: Blocks) {
        if self.decide(id, verdict) {
            self.evidence.blocks.insert((verdict.rule, size), blocks);
        }
    }

    /// Claim it for what takes another's place.
    pub(super) fn claim_in_place_of(&mut self, id: AllocId, verdict: Verdict, replaced: AllocId) {
        if self.decide(id, verdict) {
            self.evidence.replaced.insert(id, replaced);
        }
    }

    pub(super) fn into_parts(self) -> (Vec<Verdict>, Grounds, Vec<Claim>) {
        (self.verdicts, self.evidence, self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DECLARED: [RuleId; 3] = [RuleId::UserRule, RuleId::Recorded, RuleId::Metadata];

    #[test]
    fn a_claim_decides_what_is_open_and_replaces_only_what_it_refines() {
        let mut claims = Claims::open(1, Some(AllocId(0)));
        let said = |claims: &Claims| claims.get(AllocId(0)).rule;
        claims.claim(AllocId(0), Verdict::new(Category::Input, RuleId::KeptBeforeCalls));
        claims.claim(AllocId(0), Verdict::new(Category::Activation, RuleId::Loss));
        assert_eq!(said(&claims), RuleId::KeptBeforeCalls, "no rule replaces another by coming later");
        claims.claim(AllocId(0), Verdict::new(Category::Parameter, RuleId::HasGradient));
        assert_eq!(said(&claims), RuleId::HasGradient);
        let accepted: Vec<bool> = claims.log.iter().map(|claim| claim.is_accepted).collect();
        assert_eq!(accepted, [true, false, true]);
    }

    proptest! {
        #[test]
        fn what_was_declared_loses_to_nothing(
            declared in 0..DECLARED.len(),
            claims in prop::collection::vec((0..RuleId::ALL.len(), 0..Category::ALL.len()), 0..200),
        ) {
            let mut found = Claims::open(1, None);
            found.claim(AllocId(0), Verdict::new(Category::Input, DECLARED[declared]));
            for (rule, category) in claims {
                found.claim(AllocId(0), Verdict::new(Category::ALL[category], RuleId::ALL[rule]));
            }
            prop_assert_eq!(found.get(AllocId(0)), Verdict::new(Category::Input, DECLARED[declared]));
        }
    }
}
