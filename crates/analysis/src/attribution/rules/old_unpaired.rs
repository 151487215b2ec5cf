//! Old blocks that no other block pairs with: by where they lie.

use super::old_like_calls;
use super::workspaces;
use crate::attribution::RuleId;
use crate::attribution::claims::Claims;
use crate::attribution::knowledge::Optimizer;
use crate::attribution::thresholds::SIMILAR_PART;
use crate::attribution::view::View;
use crate::segments::address_order::AddressKey;
use foldhash::HashSet;
use oomscope_model::allocator_sizes::SMALL_SIZE;
use oomscope_model::{AllocId, Bytes, Segment};

/// Blocks that no other block pairs with.
pub(super) struct Unpaired<'a> {
    view: &'a View<'a>,
    /// Blocks for each parameter that is trained, with its state.
    blocks_with_state: usize,
    ids: Vec<AllocId>,
    /// Addresses of the last trained parameters: of small blocks, and of large ones.
    last_parameters: [Option<AddressKey>; 2],
    /// Bytes of trained parameters.
    trained_bytes: Bytes,
}

impl<'a> Unpaired<'a> {
    /// Blocks beside some trained parameters, which are known by their gradients.
    pub(super) fn new(
        view: &'a View<'a>,
        blocks_with_state: usize,
        trained: &[AllocId],
        ids: Vec<AllocId>,
    ) -> Self {
        let mut last_parameters = [None; 2];
        for &id in trained {
            let last: &mut Option<AddressKey> = &mut last_parameters[size_class(view.size(id))];
            *last = (*last).max(Some(view.address_key(id)));
        }
        Self {
            view,
            blocks_with_state,
            ids,
            last_parameters,
            trained_bytes: view.bytes(trained.iter().copied()),
        }
    }

    /// Claim the blocks. When parameters were made hardly anything had been freed yet, so blocks behind segments that are
    /// empty by now came later: nothing tells what these are, unless it is too much to be anything but a model that was
    /// loaded late.
    pub(super) fn claim(self, claims: &mut Claims) {
        let is_trained = 0 < self.trained_bytes;
        if is_trained
            && old_like_calls::are_whole_calls(self.view, &self.ids, claims)
            && old_like_calls::claim(self.view, &self.ids, claims)
        {
            return;
        }
        let counts = self.view.count_by_size(self.ids.iter().copied());
        // Parameters that are trained no more keep their state.
        let come_with_state = counts.values().all(|count| count.is_multiple_of(self.blocks_with_state));
        if is_trained && 1 < self.blocks_with_state && come_with_state {
            return;
        }
        let first_empty = self.first_empty_segment();
        let is_later = |id: AllocId| first_empty.is_some_and(|empty| empty < self.view.address_key(id));
        let is_late_model = !self.may_train() || self.are_most_bytes(is_later);
        let are_buckets = self.are_buckets_behind();
        let clear: HashSet<AllocId> =
            workspaces::without_possible_workspaces(self.view, &self.ids).into_iter().collect();
        let has_states_of_own_size = self.view.stacks.optimizers.contains(&Optimizer::StatesOfOwnSize);
        for &id in self.ids.iter().filter(|id| clear.contains(id)) {
            let is_single = counts.get(&self.view.size(id)) == Some(&1);
            let verdict = match self.is_behind_parameters(id) {
                true if are_buckets => RuleId::OldBucket.verdict(),
                true if has_states_of_own_size => continue,
                _ if is_later(id) && (!is_late_model || is_single) => continue,
                _ => RuleId::OldUnpaired.verdict(),
            };
            claims.claim(id, verdict);
        }
    }

    /// The first segment that is empty by now.
    fn first_empty_segment(&self) -> Option<AddressKey> {
        let segments = &self.view.timeline.segments;
        let is_empty =
            |segment: &&Segment| segments.blocks_of(segment).iter().all(|block| !block.is_active());
        segments.segments.iter().filter(is_empty).map(|segment| self.view.order.key(segment.addr)).min()
    }

    /// Whether some of the blocks are more than half of the bytes that are older than the recording.
    fn are_most_bytes(&self, is_chosen: impl Fn(AllocId) -> bool) -> bool {
        let chosen_bytes = self.view.bytes(self.ids.iter().copied().filter(|&id| is_chosen(id)));
        self.view.bytes(self.view.old_ids()) / 2 < chosen_bytes
    }

    /// Whether the blocks behind the parameters are buckets: about as large as these.
    fn are_buckets_behind(&self) -> bool {
        let behind = self.ids.iter().copied().filter(|&id| self.is_behind_parameters(id));
        let most = self.trained_bytes + self.trained_bytes / SIMILAR_PART as i64;
        self.view.stacks.uses_ddp && self.view.bytes(behind) <= most
    }

    /// Whether a block lies behind all trained parameters of its size class.
    fn is_behind_parameters(&self, id: AllocId) -> bool {
        let last = self.last_parameters[size_class(self.view.size(id))];
        last.is_some_and(|last| last < self.view.address_key(id))
    }

    /// Whether anything may train, as far as stacks show what is going on.
    fn may_train(&self) -> bool {
        self.view.device.activities.runs.is_empty() || self.view.device.has_backward()
    }
}

/// Small blocks come from segments of their own: their order says nothing of that of large ones.
fn size_class(size: Bytes) -> usize {
    usize::from(SMALL_SIZE < size)
}
