//! Small timelines for tests.

use crate::model::{
    Action, Anchor, DeviceId, Event, EventTable, SegmentTable, StackId, Timeline, TimelineInput,
};

/// One step of a history.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Allocate bytes at an address.
    Alloc(u64, i64),
    /// Give a block back, without completing.
    Request(u64, i64),
    /// Free a block.
    Free(u64, i64),
}

/// Blocks that pile up by eight and go again.
pub(crate) fn sawtooth(events: usize) -> Vec<Step> {
    let step = |i: usize| {
        let (slot, size) = ((i % 8) as u64, ((i % 8) as i64 + 1) * 4096);
        if (i / 8).is_multiple_of(2) { Step::Alloc(slot, size) } else { Step::Free(slot, size) }
    };
    (0..events).map(step).collect()
}

/// The timeline of a history that starts with nothing.
pub(crate) fn timeline(steps: &[Step]) -> Timeline {
    build(steps.iter().map(|&step| (step, None)))
}

/// The same with the time of every step, in microseconds.
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
        };
        events.push(&Event {
            action,
            addr: Some((slot + 1) << 20),
            size,
            time_us,
            stream: Some(0),
            stack: StackId::EMPTY,
            pool: None,
            compile_context: None,
            user_metadata: None,
            internal_metadata: None,
            category: None,
            forward_stack: StackId::EMPTY,
            device_free: None,
        });
    }
    let segments = SegmentTable::default();
    Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly })
}
