//! What rules look at.

use super::facts::{Act, Announced, Facts, Flow, Labels, Places};
use super::structure::Phases;
use crate::analysis::segments::address_order::{AddressKey, AddressOrder};
use crate::analysis::segments::pools::PoolPlaces;
use crate::model::{AllocId, EventIx, Moment, PoolKey, Snapshot, StackId, Timeline};

/// Everything that rules look at.
pub(super) struct View<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) places: &'a Places,
    pub(super) flow: &'a Flow,
    pub(super) phases: &'a Phases,
    pub(super) announced: &'a Announced,
    /// What was declared.
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
        snapshot: &Snapshot,
        timeline: &'a Timeline,
        facts: &'a Facts,
        phases: &'a Phases,
        announced: &'a Announced,
    ) -> Self {
        let mut blocks = timeline.segments.blocks.iter();
        let has_private =
            timeline.ranges.all().iter().filter_map(|range| range.pool).any(PoolKey::is_private);
        let is_hidden = timeline.events.contexts().iter().any(|context| context.pool.is_none());
        Self {
            timeline,
            places: &facts.places,
            flow: facts.flow(timeline),
            phases,
            announced,
            labels: Labels::of(snapshot, timeline, &facts.user_labels),
            order: AddressOrder::of(timeline),
            has_private_pools: has_private || timeline.events.distinct_pools().any(PoolKey::is_private),
            pools: (has_private && is_hidden).then(|| PoolPlaces::new(timeline)),
            has_block_stacks: blocks.any(|block| block.is_active() && block.stack != StackId::EMPTY),
        }
    }

    /// Whether an allocation lies in a private pool.
    pub(super) fn is_in_private_pool(&self, id: AllocId) -> bool {
        let pool = match (self.timeline.lifetimes.start(id).event(), &self.pools) {
            (Some(event), None) => self.timeline.events.pool(event),
            (_, pools) => {
                let allocation = self.timeline.lifetimes.get(id, &self.timeline.events);
                pools.as_ref().map_or(allocation.pool, |pools| pools.pool_of(&allocation))
            }
        };
        pool.is_some_and(PoolKey::is_private)
    }

    /// The stack of an allocation: its event's, else that of its block at the end.
    pub(super) fn stack(&self, id: AllocId) -> StackId {
        self.timeline.lifetimes.stack(id, &self.timeline.events)
    }

    /// The event at which the program gave an allocation back.
    pub(super) fn gone(&self, id: AllocId) -> Option<EventIx> {
        let lifetimes = &self.timeline.lifetimes;
        lifetimes.requested(id).or(lifetimes.end(id)).and_then(Moment::event)
    }

    /// Whether a backward gave it back.
    pub(super) fn is_given_back_by_backward(&self, id: AllocId) -> bool {
        self.gone(id).is_some_and(|gone| self.flow.acts.at(gone.0) == Act::Backward)
    }

    /// A key by which allocations with older addresses come first.
    pub(super) fn address_key(&self, id: AllocId) -> AddressKey {
        self.order.key(self.timeline.lifetimes.addr(id, &self.timeline.events))
    }

    pub(super) fn size(&self, id: AllocId) -> i64 {
        self.timeline.lifetimes.size(id, &self.timeline.events)
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = AllocId> + use<> {
        (0..self.timeline.lifetimes.len() as u32).map(AllocId)
    }
}
