//! Everything that rules look at, with the questions that many of them ask.

use super::facts::{Activity, Announced, DeviceFacts, Facts, FactsByStack, Labels, StackFacts, free_event};
use super::structure::Phases;
use super::thresholds::MIN_AGREEING;
use crate::segments::address_order::{AddressKey, AddressOrder};
use crate::segments::pools::PoolPlaces;
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, Bytes, EventIx, PoolKey, Recording, StackId, Timeline};
use std::collections::BTreeMap;

/// How many blocks there are of each size.
pub(super) type CountBySize = HashMap<Bytes, usize>;

/// Blocks by size.
pub(super) type BlocksBySize = BTreeMap<Bytes, Vec<AllocId>>;

/// Facts, structure and labels of one device.
pub(super) struct View<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) stacks: &'a FactsByStack,
    pub(super) device: &'a DeviceFacts,
    pub(super) course: &'a Phases,
    pub(super) announced: &'a Announced,
    /// Categories that were declared.
    pub(super) labels: Labels<'a>,
    /// Which addresses are older.
    pub(super) order: AddressOrder,
    /// Whether any pool is private.
    pub(super) has_private_pools: bool,
    /// Pools by address, where events do not say theirs and some are private.
    pools: Option<PoolPlaces<'a>>,
    /// Whether blocks that are live at the end have stacks.
    pub(super) has_block_stacks: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        facts: &'a Facts,
        course: &'a Phases,
        announced: &'a Announced,
    ) -> Self {
        let mut blocks = recording.segments.blocks.iter();
        let has_private =
            recording.ranges.all().iter().filter_map(|range| range.pool).any(PoolKey::is_private);
        let is_hidden = recording.events.contexts().iter().any(|context| context.pool.is_none());
        Self {
            timeline: recording,
            stacks: &facts.stacks,
            device: facts.of_device(recording),
            course,
            announced,
            labels: Labels::of(recording, &facts.user_labels),
            order: AddressOrder::of(recording),
            has_private_pools: has_private || recording.events.distinct_pools().any(PoolKey::is_private),
            pools: (has_private && is_hidden).then(|| PoolPlaces::new(recording)),
            has_block_stacks: blocks.any(|block| block.is_active() && block.stack != StackId::EMPTY),
        }
    }

    /// All allocations, in the order in which they were made.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = AllocId> + use<> {
        self.timeline.ids()
    }

    /// The allocations that are older than the recording.
    pub(super) fn old_ids(&self) -> impl Iterator<Item = AllocId> + use<> {
        self.ids().take(self.timeline.lifetimes.initial_count())
    }

    /// The allocations that were made within the recording, each with its event.
    pub(super) fn new_ids(&self) -> impl Iterator<Item = (AllocId, EventIx)> {
        let recorded = self.ids().skip(self.timeline.lifetimes.initial_count());
        recorded.filter_map(|id| Some((id, self.alloc_event(id)?)))
    }

    /// Whether an allocation is older than the recording.
    pub(super) fn is_old(&self, id: AllocId) -> bool {
        id.index() < self.timeline.lifetimes.initial_count()
    }

    /// The event that made an allocation; `None` if it is older than the recording.
    #[inline]
    pub(super) fn alloc_event(&self, id: AllocId) -> Option<EventIx> {
        self.timeline.lifetimes.start(id).event()
    }

    /// The event at which the program frees an allocation.
    #[inline]
    pub(super) fn free_event(&self, id: AllocId) -> Option<EventIx> {
        free_event(&self.timeline.lifetimes, id)
    }

    /// Whether the program frees an allocation only at an event or after it, or never.
    #[inline]
    pub(super) fn is_live_until(&self, id: AllocId, event: u32) -> bool {
        self.free_event(id).is_none_or(|freed| event <= freed.0)
    }

    /// Whether a backward frees an allocation.
    pub(super) fn is_freed_by_backward(&self, id: AllocId) -> bool {
        let freed = self.free_event(id);
        freed.is_some_and(|freed| self.device.activities.at(freed.0) == Activity::Backward)
    }

    /// Whether an allocation is live after the last event.
    pub(super) fn is_live_at_end(&self, id: AllocId) -> bool {
        self.timeline.lifetimes.end(id).is_none()
    }

    pub(super) fn size(&self, id: AllocId) -> Bytes {
        self.timeline.size(id)
    }

    /// The bytes of several allocations.
    pub(super) fn bytes(&self, ids: impl IntoIterator<Item = AllocId>) -> Bytes {
        // Sizes of a damaged file may add up to more than any number holds.
        ids.into_iter().map(|id| self.size(id)).sum::<Bytes>()
    }

    /// How many of some allocations have each size.
    pub(super) fn count_by_size(&self, ids: impl IntoIterator<Item = AllocId>) -> CountBySize {
        let mut out = CountBySize::default();
        for id in ids {
            *out.entry(self.size(id)).or_default() += 1;
        }
        out
    }

    /// Some allocations by size, older addresses first.
    pub(super) fn blocks_by_size(&self, ids: &[AllocId]) -> BlocksBySize {
        let mut out = BlocksBySize::new();
        for &id in ids {
            out.entry(self.size(id)).or_default().push(id);
        }
        for ids in out.values_mut() {
            ids.sort_by_key(|&id| self.address_key(id));
        }
        out
    }

    /// The stacks that make some allocations in several sizes, which few but those of parameters do by chance.
    pub(super) fn stacks_of_several_sizes(&self, ids: impl Iterator<Item = AllocId>) -> HashSet<StackId> {
        let mut sizes: HashMap<StackId, HashSet<Bytes>> = HashMap::default();
        for id in ids {
            sizes.entry(self.stack(id)).or_default().insert(self.size(id));
        }
        sizes.into_iter().filter(|(_, of)| MIN_AGREEING <= of.len()).map(|(stack, _)| stack).collect()
    }

    /// The stack of an allocation: its event's, else that of its block at the end.
    pub(super) fn stack(&self, id: AllocId) -> StackId {
        self.timeline.stack(id)
    }

    /// The facts about a stack.
    #[inline]
    pub(super) fn facts_of(&self, stack: StackId) -> StackFacts {
        self.stacks.get(stack)
    }

    /// A key by which allocations with older addresses come first.
    pub(super) fn address_key(&self, id: AllocId) -> AddressKey {
        self.order.key(self.timeline.addr(id))
    }

    /// Whether an allocation lies in a private pool.
    pub(super) fn is_in_private_pool(&self, id: AllocId) -> bool {
        let pool = match (self.alloc_event(id), &self.pools) {
            (Some(event), None) => self.timeline.events.pool(event),
            (_, pools) => {
                let allocation = self.timeline.allocation(id);
                pools.as_ref().map_or(allocation.pool, |pools| pools.pool_of(&allocation))
            }
        };
        pool.is_some_and(PoolKey::is_private)
    }
}
