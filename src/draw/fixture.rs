//! Small timelines for tests.

use crate::model::{Action, Anchor, DeviceId, Event, EventTable, SegmentTable, Timeline, TimelineInput};
use std::collections::BTreeMap;

/// One step of a history.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Allocate bytes at an address.
    Alloc(u64, i64),
    /// Give a block back without completing the free.
    Request(u64, i64),
    /// Free a block.
    Free(u64, i64),
    /// Reserve a segment.
    Reserve(u64, i64),
    /// Give a segment back.
    Release(u64, i64),
    /// Map pages of an expandable segment.
    Map(u64, i64),
    /// Unmap pages of an expandable segment.
    Unmap(u64, i64),
    /// Ask for bytes that the device does not have.
    Oom(i64),
}

/// Eight blocks that pile up and are freed, again and again.
pub(crate) fn sawtooth(events: usize) -> Vec<Step> {
    let step = |i: usize| {
        let (slot, size) = ((i % 8) as u64, ((i % 8) as i64 + 1) * 4096);
        if (i / 8).is_multiple_of(2) { Step::Alloc(slot, size) } else { Step::Free(slot, size) }
    };
    (0..events).map(step).collect()
}

/// The address of a slot: slots are 1 MiB apart.
pub(crate) fn address(slot: u64) -> u64 {
    (slot + 1) << 20
}

/// Segments of one to four slots that come and go within 24 slots, and blocks in them. Each pair of raw
/// numbers makes a step that is valid in the state at that point.
pub(crate) fn segments_and_blocks(raw: &[(u64, i64)]) -> Vec<Step> {
    const SLOTS: u64 = 24;
    let mut segments: BTreeMap<u64, u64> = BTreeMap::new();
    let mut blocks: BTreeMap<u64, (i64, bool)> = BTreeMap::new();
    let mut steps = Vec::new();
    for &(random, size) in raw {
        let slot = random % SLOTS;
        let segment = segments.range(..=slot).next_back().map(|(&at, &slots)| (at, slots));
        let holder = segment.filter(|&(at, slots)| slot < at + slots);
        match (holder, blocks.get(&slot).copied()) {
            (None, _) => {
                let room = segments.range(slot..).next().map_or(SLOTS, |(&next, _)| next) - slot;
                let slots = (random / SLOTS % 4 + 1).min(room);
                segments.insert(slot, slots);
                steps.push(Step::Reserve(slot, (slots as i64) << 20));
            }
            (Some((at, slots)), None) if blocks.range(at..at + slots).next().is_none() && size % 3 == 0 => {
                segments.remove(&at);
                steps.push(Step::Release(at, (slots as i64) << 20));
            }
            (Some(_), None) => {
                blocks.insert(slot, (size, false));
                steps.push(Step::Alloc(slot, size));
            }
            (Some(_), Some((size, false))) if (random / SLOTS).is_multiple_of(3) => {
                blocks.insert(slot, (size, true));
                steps.push(Step::Request(slot, size));
            }
            (Some(_), Some((size, _))) => {
                blocks.remove(&slot);
                steps.push(Step::Free(slot, size));
            }
        }
    }
    steps
}

/// The timeline of a history that starts empty.
pub(crate) fn timeline(steps: &[Step]) -> Timeline {
    build(steps.iter().map(|&step| (step, None)))
}

/// The timeline of a history that starts empty, with the time of every step in microseconds.
pub(crate) fn timed(steps: &[Step], times_us: &[i64]) -> Timeline {
    build(steps.iter().copied().zip(times_us.iter().copied().map(Some)))
}

fn build(steps: impl Iterator<Item = (Step, Option<i64>)>) -> Timeline {
    let mut events = EventTable::default();
    for (step, time_us) in steps {
        let (action, slot, size) = match step {
            Step::Alloc(slot, size) => (Action::Alloc, slot, size),
            Step::Request(slot, size) => (Action::FreeRequested, slot, size),
            Step::Free(slot, size) => (Action::FreeCompleted, slot, size),
            Step::Reserve(slot, size) => (Action::SegmentAlloc, slot, size),
            Step::Release(slot, size) => (Action::SegmentFree, slot, size),
            Step::Map(slot, size) => (Action::SegmentMap, slot, size),
            Step::Unmap(slot, size) => (Action::SegmentUnmap, slot, size),
            Step::Oom(size) => (Action::Oom, 0, size),
        };
        events.push(&Event { time_us, stream: Some(0), ..Event::new(action, address(slot), size) });
    }
    let segments = SegmentTable::default();
    Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly })
}
