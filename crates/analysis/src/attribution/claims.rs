//! Claims that rules make, and which of them win.
//!
//! An open allocation goes to the first family of rules that claims it. After that, a claim replaces the verdict only where
//! the table says that its rule refines that one's. So nothing that is found replaces what was declared.

use super::{Basis, Category, RuleId};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes, DeviceId, Timeline};

/// A category, and the rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The category of the allocation.
    pub category: Category,
    /// Which rule decided.
    pub rule: RuleId,
}

impl Verdict {
    /// The verdict before any rule has claimed an allocation.
    pub const OPEN: Self = Self { category: Category::Unknown, rule: RuleId::Nothing };

    /// A rule's verdict.
    pub(crate) const fn new(category: Category, rule: RuleId) -> Self {
        Self { category, rule }
    }

    /// The kind of evidence that it rests on.
    #[inline]
    pub fn basis(self) -> Basis {
        self.rule.rule().basis
    }

    /// Whether no rule has decided.
    pub(super) fn is_open(self) -> bool {
        self == Self::OPEN
    }
}

impl RuleId {
    /// The verdict that it gives, unless it says another of a block.
    pub(super) const fn verdict(self) -> Verdict {
        Verdict::new(self.rule().category, self)
    }
}

/// Blocks of one size that were looked at together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// How many blocks were looked at.
    pub alike: usize,
    /// How many blocks of that size are of a known category.
    pub known: usize,
    /// That category.
    pub known_as: Category,
}

/// A rule's claim to the allocation that is being explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The claimed verdict.
    pub verdict: Verdict,
    /// Whether it was accepted when it was made; a later one may have replaced it.
    pub is_accepted: bool,
}

/// The verdicts of all allocations while rules make their claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    verdicts: Vec<Verdict>,
    evidence: Evidence,
    /// Whether the memory is pinned memory of the host: batches and copies on their way, so no rule calls it parameters.
    is_host: bool,
    watched: Option<AllocId>,
    /// All claims to the watched allocation.
    log: Vec<Claim>,
}

/// The evidence for verdicts, as far as neither the stack nor the events of an allocation have it.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The blocks of one size that a rule looked at together.
    pub(super) blocks: HashMap<(RuleId, Bytes), Blocks>,
    /// The allocation whose place another took.
    pub(super) replaced: HashMap<AllocId, AllocId>,
    /// The allocation of a later iteration that has a tensor's name.
    pub(super) later: HashMap<AllocId, AllocId>,
}

impl Claims {
    /// Begin with all verdicts open. All claims to the watched allocation are logged.
    pub(super) fn open(allocations: usize, watched: Option<AllocId>) -> Self {
        Self { verdicts: vec![Verdict::OPEN; allocations], watched, ..Self::default() }
    }

    /// The same of a device, or of pinned memory of the host.
    pub(super) fn of(timeline: &Timeline, watched: Option<AllocId>) -> Self {
        Self { is_host: timeline.device == DeviceId::HOST, ..Self::open(timeline.lifetimes.len(), watched) }
    }

    /// The verdict so far.
    #[inline]
    pub(super) fn verdict(&self, id: AllocId) -> Verdict {
        self.verdicts.get(id.index()).copied().unwrap_or(Verdict::OPEN)
    }

    /// Whether an allocation has a category so far.
    #[inline]
    pub(super) fn is(&self, id: AllocId, category: Category) -> bool {
        self.verdict(id).category == category
    }

    /// Whether a rule decided so far.
    #[inline]
    pub(super) fn is_by(&self, id: AllocId, rule: RuleId) -> bool {
        self.verdict(id).rule == rule
    }

    /// Whether further claims to an allocation matter: it is open, or it is being explained.
    #[inline]
    pub(super) fn wants_claims_for(&self, id: AllocId) -> bool {
        self.verdict(id).is_open() || self.watched == Some(id)
    }

    /// Claim an allocation.
    #[inline]
    pub(super) fn claim(&mut self, id: AllocId, verdict: Verdict) {
        self.add(id, verdict);
    }

    /// Claim several allocations.
    pub(super) fn claim_all(&mut self, ids: impl IntoIterator<Item = AllocId>, verdict: Verdict) {
        for id in ids {
            self.claim(id, verdict);
        }
    }

    /// Add a claim, and return whether its evidence is to be kept.
    #[inline]
    fn add(&mut self, id: AllocId, verdict: Verdict) -> bool {
        let Some(slot) = self.verdicts.get_mut(id.index()) else { return false };
        let is_possible =
            !self.is_host || verdict.category != Category::Parameter || verdict.basis() == Basis::Declared;
        let is_accepted = is_possible && verdict.rule.refines(slot.rule);
        if is_accepted {
            *slot = verdict;
        }
        if self.watched == Some(id) && !verdict.is_open() {
            self.log.push(Claim { verdict, is_accepted });
        }
        is_accepted || self.watched == Some(id)
    }

    /// Claim one of several blocks of a size.
    pub(super) fn claim_with_blocks(&mut self, id: AllocId, verdict: Verdict, size: Bytes, blocks: Blocks) {
        if self.add(id, verdict) {
            self.evidence.blocks.insert((verdict.rule, size), blocks);
        }
    }

    /// Claim an allocation that takes another's place.
    pub(super) fn claim_replacement(&mut self, id: AllocId, verdict: Verdict, replaced: AllocId) {
        if self.add(id, verdict) {
            self.evidence.replaced.insert(id, replaced);
        }
    }

    /// Note that an allocation is the tensor that another one is later.
    pub(super) fn name_as(&mut self, id: AllocId, later: AllocId) {
        self.evidence.later.insert(id, later);
    }

    pub(super) fn into_parts(self) -> (Vec<Verdict>, Evidence, Vec<Claim>) {
        (self.verdicts, self.evidence, self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DECLARED: [RuleId; 4] = [RuleId::UserRule, RuleId::Recorded, RuleId::Metadata, RuleId::Named];

    #[test]
    fn a_claim_decides_what_is_open_and_replaces_only_what_it_refines() {
        let mut claims = Claims::open(1, Some(AllocId(0)));
        let said = |claims: &Claims| claims.verdict(AllocId(0)).rule;
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
            prop_assert_eq!(found.verdict(AllocId(0)), Verdict::new(Category::Input, DECLARED[declared]));
        }
    }
}
