//! What a program noted of single allocations with `torch.cuda.memory._annotate_tensor`.

use foldhash::{HashMap, HashSet};
use oomscope_model::{Action, AllocId, Moment, StrId, Timeline};

/// The allocations that notes are about, with their texts, in the order of events.
pub(crate) fn annotated(timeline: &Timeline) -> Vec<(AllocId, StrId)> {
    let events = &timeline.events;
    let notes = events.indices().filter(|&event| events.action(event) == Action::Annotate);
    let noted: HashSet<u64> = notes.filter_map(|event| events.addr(event)).collect();
    if noted.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // The allocation at each of their addresses.
    let live = timeline.lifetimes.live_at(Moment(0)).map(|id| (timeline.addr(id), id));
    let mut holders: HashMap<u64, AllocId> = live.filter(|(addr, _)| noted.contains(addr)).collect();
    for event in events.indices() {
        let Some(addr) = events.addr(event).filter(|addr| noted.contains(addr)) else { continue };
        match events.action(event) {
            Action::Alloc => {
                let made = timeline.lifetimes.of_alloc_event(event);
                holders.extend(made.map(|id| (addr, id)));
            }
            Action::FreeCompleted => _ = holders.remove(&addr),
            Action::Annotate => {
                let context = events.contexts().get(events.context_index(event));
                let text = context.and_then(|context| context.user_metadata);
                found.extend(holders.get(&addr).copied().zip(text));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::{Anchor, DeviceId, Event, EventTable, SegmentTable, TimelineInput};

    #[test]
    fn a_note_is_about_what_is_live_at_its_address() {
        let mut events = EventTable::default();
        let note = |text| Event { user_metadata: Some(StrId(text)), ..Event::new(Action::Annotate, 512, 0) };
        for event in [
            note(0),
            Event::new(Action::Alloc, 512, 100),
            note(1),
            Event::new(Action::FreeRequested, 512, 100),
            Event::new(Action::FreeCompleted, 512, 100),
            note(2),
            Event::new(Action::Alloc, 512, 7),
            note(3),
            note(4),
        ] {
            events.push(&event);
        }
        let segments = SegmentTable::default();
        let input = TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly };
        let found = annotated(&Timeline::build(input));
        assert_eq!(found, [(0, 1), (1, 3), (1, 4)].map(|(id, text)| (AllocId(id), StrId(text))));
    }
}
