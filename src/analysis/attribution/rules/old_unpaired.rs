//! Old blocks that nothing pairs with: by where they lie.

use super::old_like_calls;
use super::workspaces;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Act;
use crate::analysis::attribution::knowledge::Optimizer;
use crate::analysis::segments::address_order::AddressKey;
use crate::model::allocator_sizes::SMALL_SIZE;
use crate::model::{AllocId, Origin, Segment};
use foldhash::{HashMap, HashSet};

/// Blocks that nothing pairs with.
pub(super) struct Unpaired<'a> {
    view: &'a View<'a>,
    /// Blocks for each parameter that is trained, with its state.
    each: usize,
    ids: Vec<AllocId>,
    /// Addresses of the last trained parameters: of small blocks, of large ones.
    last: [Option<AddressKey>; 2],
    /// Bytes of trained parameters.
    trained_bytes: i64,
}

impl<'a> Unpaired<'a> {
    pub(super) fn new(view: &'a View<'a>, each: usize) -> Self {
        Self { view, each, ids: Vec::new(), last: [None; 2], trained_bytes: 0 }
    }

    /// Note parameters that are known by their gradients.
    pub(super) fn paired(&mut self, ids: &[AllocId]) {
        for &id in ids {
            self.trained_bytes = self.trained_bytes.saturating_add(self.view.size(id));
            let addr = self.view.address_key(id);
            let last = &mut self.last[usize::from(SMALL_SIZE < self.view.size(id))];
            *last = (*last).max(Some(addr));
        }
    }

    pub(super) fn add(&mut self, ids: &[AllocId]) {
        self.ids.extend_from_slice(ids);
    }

    /// Whether a block lies behind all trained parameters of its kind.
    fn is_behind(&self, id: AllocId) -> bool {
        let last = self.last[usize::from(SMALL_SIZE < self.view.size(id))];
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

    /// When parameters were made hardly anything had been given back yet, so what lies behind segments that are empty by now
    /// came later: what that is nothing tells, unless it is too much to be anything but a model that was loaded late.
    pub(super) fn settle(self, claims: &mut Claims) {
        // Of a model that is trained, the parameters are those that have gradients.
        let is_like_calls =
            0 < self.trained_bytes && old_like_calls::are_whole_calls(self.view, &self.ids, claims);
        if is_like_calls && old_like_calls::settle(self.view, &self.ids, claims) {
            return;
        }
        let mut counts: HashMap<i64, usize> = HashMap::default();
        for &id in &self.ids {
            *counts.entry(self.view.size(id)).or_default() += 1;
        }
        // Parameters that are trained no more keep their state.
        let may_have_state = 1 < self.each && counts.values().all(|count| count.is_multiple_of(self.each));
        if 0 < self.trained_bytes && may_have_state {
            return;
        }
        let first_empty = self.first_empty();
        let is_later = |id: AllocId| first_empty.is_some_and(|empty| empty < self.view.address_key(id));
        let later_bytes = self.bytes(self.ids.iter().copied().filter(|&id| is_later(id)));
        let lifetimes = &self.view.timeline.lifetimes;
        let old_bytes = self.bytes(self.view.ids().filter(|&id| lifetimes.origin(id) == Origin::Before));
        let is_model = !self.may_train() || old_bytes / 2 < later_bytes;
        let behind_bytes = self.bytes(self.ids.iter().copied().filter(|&id| self.is_behind(id)));
        // Buckets are as large as the parameters; far more is something else that is kept.
        let are_buckets = self.view.places.uses_ddp
            && behind_bytes <= self.trained_bytes.saturating_add(self.trained_bytes / 4);
        let clear: HashSet<AllocId> =
            workspaces::without_doubtful(self.view, &self.ids).into_iter().collect();
        let has_own_state = self.view.places.optimizers.contains(&Optimizer::OfItsOwn);
        for &id in self.ids.iter().filter(|id| clear.contains(id)) {
            let is_single = counts.get(&self.view.size(id)) == Some(&1);
            let verdict = match self.is_behind(id) {
                true if are_buckets => Verdict::new(Category::Comm, RuleId::OldBucket),
                // State of sizes of its own.
                true if has_own_state => continue,
                _ if is_later(id) && (!is_model || is_single) => continue,
                _ => Verdict::new(Category::Parameter, RuleId::OldUnpaired),
            };
            claims.claim(id, verdict);
        }
    }

    /// Whether anything may train, as far as stacks show what is going on.
    fn may_train(&self) -> bool {
        let runs = &self.view.flow.acts.runs;
        runs.is_empty() || runs.iter().any(|run| run.act == Act::Backward)
    }
}
