//! The events of a range that are kept.

use super::range::DeviceRange;
use foldhash::HashMap;
use oomscope_model::{Action, AllocId, EventIx, Moment};
use oomscope_snapshot::write::EventRows;

/// The events of a range whose allocations match, and those that are about no allocation.
pub(super) fn kept_events(range: &DeviceRange) -> EventRows {
    let Some(matches) = &range.matches else { return EventRows::Range(range.events.clone()) };
    let timeline = range.recording.timeline();
    let events = &timeline.events;
    let live = timeline.lifetimes.live_at(Moment(range.events.start));
    // The allocation at each address.
    let mut holders: HashMap<u64, AllocId> = live.map(|id| (timeline.addr(id), id)).collect();
    let mut is_kept = |event: EventIx| {
        let Some(addr) = events.addr(event) else { return true };
        let holder = match events.action(event) {
            Action::Alloc => {
                let made = timeline.lifetimes.of_alloc_event(event);
                made.inspect(|&id| _ = holders.insert(addr, id))
            }
            Action::FreeCompleted => holders.remove(&addr),
            Action::FreeRequested | Action::Annotate => holders.get(&addr).copied(),
            _ => None,
        };
        holder.is_none_or(|id| matches.contains(id))
    };
    EventRows::Some(range.events.clone().map(EventIx).filter(|&event| is_kept(event)).collect())
}
