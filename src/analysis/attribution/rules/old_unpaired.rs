//! Old blocks that nothing pairs with: by where they lie.

use super::old_like_calls;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::address_order::AddressKey;
use crate::analysis::attribution::facts::Act;
use crate::analysis::attribution::knowledge::Optimizer;
use crate::model::{AllocId, Origin, Segment};
use foldhash::HashMap;

/// Requests up to this size come from segments of their own.
const SMALL_BYTES: i64 = 1 << 20;

/// Blocks that nothing pairs with.
pub(super) struct Alone<'a> {
    view: &'a View<'a>,
    ids: Vec<AllocId>,
    /// Addresses of the last trained parameters: of small blocks, of large ones.
    last: [Option<AddressKey>; 2],
    /// Bytes of trained parameters.
    trained_bytes: i64,
}

impl<'a> Alone<'a> {
    pub(super) fn new(view: &'a View<'a>) -> Self {
        Self { view, ids: Vec::new(), last: [None; 2], trained_bytes: 0 }
    }

    /// Note parameters that are known by their gradients.
    pub(super) fn paired(&mut self, ids: &[AllocId]) {
        for &id in ids {
            self.trained_bytes = self.trained_bytes.saturating_add(self.view.size(id));
            let addr = self.view.address_key(id);
            let last = &mut self.last[usize::from(SMALL_BYTES < self.view.size(id))];
            *last = (*last).max(Some(addr));
        }
    }

    pub(super) fn add(&mut self, ids: &[AllocId]) {
        self.ids.extend_from_slice(ids);
    }

    /// Whether a block lies behind all trained parameters of its kind.
    fn is_behind(&self, id: AllocId) -> bool {
        let last = self.last[usize::from(SMALL_BYTES < self.view.size(id))];
        last.is_some_and(|last| last < self.view.address_key(id))
    }

    fn bytes(&self, ids: impl Iterator<Item = AllocId>) -> i64 {
        ids.fold(0, |sum, id| sum.saturating_add(self.view.size(id)))
    }

    /// The first segment that is empty by now.
    fn first_empty(&self) -> Option<AddressKey> {
        let segments = &self.view.timeline.segments;
        let is_empty =
            |segment: &&Segment| segments.blocks_of(segment).iter().all(|block| !block.is_active());
        segments.segments.iter().filter(is_empty).map(|segment| self.view.order.key(segment.addr)).min()
    }

    /// Whether what lies behind that segment may be activations: a graph is kept only where something
    /// trains, as far as stacks show what is going on; and it is not most of what is old, as a whole
    /// model is that was loaded late.
    fn keeps_a_graph(&self, first_empty: Option<AddressKey>) -> bool {
        let lifetimes = &self.view.timeline.lifetimes;
        let is_later = |id: &AllocId| first_empty.is_some_and(|empty| empty < self.view.address_key(*id));
        let later = self.bytes(self.ids.iter().copied().filter(is_later));
        let old = self.bytes(self.view.ids().filter(|&id| lifetimes.origin(id) == Origin::Before));
        let runs = &self.view.flow.acts.runs;
        let may_train = runs.is_empty() || runs.iter().any(|run| run.act == Act::Backward);
        may_train && later <= old / 2
    }

    /// When parameters were made hardly anything had been given back yet, so a small part that lies
    /// behind segments that are empty by now came later.
    pub(super) fn settle(self, claims: &mut Claims) {
        // Of a model that is trained, the parameters are those that have gradients.
        if 0 < self.trained_bytes && old_like_calls::settle(self.view, &self.ids, claims) {
            return;
        }
        let first_empty = self.first_empty();
        let keeps_a_graph = self.keeps_a_graph(first_empty);
        let mut counts: HashMap<i64, usize> = HashMap::default();
        for &id in &self.ids {
            *counts.entry(self.view.size(id)).or_default() += 1;
        }
        let single = if self.view.flow.acts.runs.is_empty() {
            Verdict::new(Category::Activation, RuleId::OldBehindHole)
        } else {
            Verdict::OPEN
        };
        let behind_bytes = self.bytes(self.ids.iter().copied().filter(|&id| self.is_behind(id)));
        // Buckets are as large as the parameters; far more is something else that is kept.
        let are_buckets = self.view.places.uses_ddp
            && behind_bytes <= self.trained_bytes.saturating_add(self.trained_bytes / 4);
        let has_own_state = self.view.places.optimizers.contains(&Optimizer::OfItsOwn);
        for &id in &self.ids {
            let is_later = first_empty.is_some_and(|empty| empty < self.view.address_key(id));
            let verdict = match self.is_behind(id) {
                true if are_buckets => Verdict::new(Category::Comm, RuleId::OldBucket),
                true if has_own_state => Verdict::new(Category::OptimizerState, RuleId::OldState),
                _ if is_later && keeps_a_graph => Verdict::new(Category::Activation, RuleId::OldBehindHole),
                _ if is_later && counts.get(&self.view.size(id)) == Some(&1) => single,
                _ => Verdict::new(Category::Parameter, RuleId::OldUnpaired),
            };
            claims.claim(id, verdict);
        }
    }
}
