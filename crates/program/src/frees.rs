//! Which allocation an event gives back.

use oomscope_model::{AllocId, EventIx, Timeline};

/// Stands for an event that gives nothing back.
const NONE: u32 = u32::MAX;

/// A step of a backward has fewer events than this.
const NEAR_EVENTS: u32 = 10_000;

/// Of each event, the allocation that is gone after it.
#[derive(Debug)]
pub struct Frees(Vec<u32>);

impl Frees {
    /// Look at the frees of a device.
    pub fn of(timeline: &Timeline) -> Self {
        let mut out = vec![NONE; timeline.events.len()];
        for id in timeline.ids() {
            let event = timeline.lifetimes.end(id).and_then(|end| end.event());
            if let Some(slot) = event.and_then(|event| out.get_mut(event.index())) {
                *slot = id.0;
            }
        }
        Self(out)
    }

    /// The allocation that an event gives back.
    #[inline]
    pub fn at(&self, event: u32) -> Option<AllocId> {
        self.0.get(event as usize).filter(|&&id| id != NONE).map(|&id| AllocId(id))
    }

    /// The first event soon after one that gives back an allocation older than another: whatever made the other lets go of
    /// what it needed for that.
    pub fn first_older_after(&self, event: EventIx, than: AllocId) -> Option<EventIx> {
        let from = event.0.saturating_add(1);
        let until = from.saturating_add(NEAR_EVENTS).min(self.0.len() as u32);
        (from..until).find(|&at| self.at(at).is_some_and(|id| id < than)).map(EventIx)
    }
}
