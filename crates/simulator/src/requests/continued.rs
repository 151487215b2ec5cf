//! The requests of a device that goes on.

use super::request::{Op, Request};
use super::{Requests, Until};
use crate::settings::clamped;
use oomscope_model::{Action, EventIx, PoolKey, Timeline};

impl Requests {
    /// The requests before an event, and those of a timeline with the same first events from there on.
    pub(crate) fn continued(&self, timeline: &Timeline, from: EventIx, until: Until) -> Self {
        let events = &timeline.events;
        let mut pool_streams = self.pool_streams.clone();
        let before = self.all.partition_point(|request| request.event < from.0);
        let mut all = self.all[..before].to_vec();
        for event in (from.0..events.len() as u32).map(EventIx) {
            let slot = events.addr_id(event).0;
            let op = match events.action(event) {
                Action::Alloc => {
                    let pool = events.pool(event).unwrap_or(PoolKey::DEFAULT);
                    let pool_stream = pool_streams.add(pool, events.stream(event).unwrap_or(0));
                    Op::Alloc { slot, pool_stream, requested: clamped(events.size(event)) }
                }
                // Which streams would have been done when is not known.
                Action::FreeCompleted => Op::Free { slot },
                _ => continue,
            };
            all.push(Request { event: event.0, op });
        }
        let segments = self.segments.iter().take_while(|segment| segment.event < from.0).copied().collect();
        Self {
            all,
            pool_streams,
            slots: events.address_count(),
            initial: self.initial.clone(),
            segments,
            events: events.len(),
            until,
            ..*self
        }
    }
}
