//! From a place to the recording that it is about.

use super::place::{BlockRef, Place, PlaceMoment, Selected};
use oomscope_model::{AllocId, EventIx, Moment, Origin, StackId, Timeline};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// A selection, in the terms of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// An allocation.
    Allocation(AllocId),
    /// Everything with a stack.
    Stack(StackId),
    /// The segment at an address.
    Segment(u64),
}

/// Finds places on one device.
#[derive(Debug)]
pub struct Resolver<'a> {
    timeline: &'a Timeline,
    /// Allocations from before the first event by their address, once one is looked for.
    initial: OnceCell<FxHashMap<u64, AllocId>>,
}

impl<'a> Resolver<'a> {
    /// For places on a device.
    pub fn new(timeline: &'a Timeline) -> Self {
        Self { timeline, initial: OnceCell::new() }
    }

    /// The moment; `None` if the recording has no such event.
    pub fn moment(&self, moment: PlaceMoment) -> Option<Moment> {
        let last = self.timeline.end();
        match moment {
            PlaceMoment::Start => Some(Moment::START),
            PlaceMoment::Event(event) => (event < last.0).then(|| Moment::after(EventIx(event))),
            PlaceMoment::Peak => Some(self.timeline.active.peak().0),
            PlaceMoment::Oom => self.timeline.ooms.last().map(|oom| Moment::after(oom.event)),
            PlaceMoment::End => Some(last),
        }
    }

    /// The selection; `None` if the recording has nothing like it.
    pub fn selection(&self, selected: Selected) -> Option<Found> {
        match selected {
            Selected::Allocation(block) => self.block(block).map(Found::Allocation),
            Selected::StackOf(block) => self.block(block).map(|id| Found::Stack(self.timeline.stack(id))),
            Selected::Segment(addr) => Some(Found::Segment(addr)),
        }
    }

    fn block(&self, block: BlockRef) -> Option<AllocId> {
        match block {
            BlockRef::Event(event) => self.timeline.lifetimes.of_alloc_event(EventIx(event)),
            BlockRef::Address(addr) => {
                let lifetimes = &self.timeline.lifetimes;
                let initial = || (0..lifetimes.initial_count() as u32).map(AllocId);
                let addr_of = |id| lifetimes.addr(id, &self.timeline.events);
                let by_addr = self.initial.get_or_init(|| initial().map(|id| (addr_of(id), id)).collect());
                by_addr.get(&addr).copied()
            }
        }
    }
}

impl BlockRef {
    /// The name of an allocation.
    pub fn of(timeline: &Timeline, id: AllocId) -> Self {
        match timeline.lifetimes.origin(id) {
            Origin::Event(event) => Self::Event(event.0),
            Origin::Before => Self::Address(timeline.lifetimes.addr(id, &timeline.events)),
        }
    }
}

impl Place {
    /// The number of the event that the place is at, where it names one.
    pub fn event(&self) -> Option<u32> {
        match self.moment {
            Some(PlaceMoment::Event(event)) => Some(event),
            _ => None,
        }
    }
}
