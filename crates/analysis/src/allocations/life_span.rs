//! Lifetimes and ages of allocations.

use oomscope_model::{AllocId, EventIx, Moment, Timeline};

/// A stretch of time, in events and on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifeSpan {
    /// Number of events from its start to its end.
    pub events: u32,
    /// Microseconds from its start to its end; `None` if either time was not recorded.
    pub us: Option<i64>,
    /// True if it began before the recording or went on after it, so that its length is a lower bound.
    pub is_open: bool,
}

impl LifeSpan {
    /// The life of an allocation, as far as it was recorded.
    pub fn of(timeline: &Timeline, id: AllocId) -> Self {
        let end = timeline.lifetimes.end(id);
        let last = timeline.end();
        Self::between(timeline, timeline.lifetimes.start(id), end.unwrap_or(last), end.is_none())
    }

    /// The age of an allocation at a moment; `None` before it was allocated.
    pub fn age(timeline: &Timeline, id: AllocId, at: Moment) -> Option<Self> {
        let start = timeline.lifetimes.start(id);
        (start <= at).then(|| Self::between(timeline, start, at, false))
    }

    fn between(timeline: &Timeline, start: Moment, end: Moment, is_open: bool) -> Self {
        // An allocation from before the first event is at least as old as that event.
        let from = start.event().unwrap_or(EventIx(0));
        let time = |event: EventIx| {
            (event.index() < timeline.events.len()).then(|| timeline.events.time_us(event)).flatten()
        };
        let us = end.event().and_then(time).zip(time(from)).map(|(end, start)| end.saturating_sub(start));
        Self { events: end.0.saturating_sub(start.0), us, is_open: is_open || start == Moment::START }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::tables::{TestEvent, snapshot};
    use oomscope_model::{Action, StackId};

    #[test]
    fn spans_end_where_the_recording_ends_and_say_so() {
        let event = |action, addr, time_us| TestEvent {
            action,
            addr,
            size: 8,
            stream: None,
            pool: None,
            time_us,
            stack: StackId(1),
        };
        let snapshot = snapshot(&[
            event(Action::Alloc, 0, Some(100)),
            event(Action::FreeCompleted, 512, Some(110)),
            event(Action::Alloc, 1024, Some(130)),
            event(Action::FreeCompleted, 0, Some(170)),
            event(Action::Alloc, 0, None),
        ]);
        let timeline = &snapshot.timelines[0];
        let spans: Vec<(u32, Option<i64>, bool)> = (0..timeline.lifetimes.len() as u32)
            .map(|id| LifeSpan::of(timeline, AllocId(id)))
            .map(|span| (span.events, span.us, span.is_open))
            .collect();
        // The first is the block that is freed and was never allocated.
        assert_eq!(spans, [(2, Some(10), true), (3, Some(70), false), (2, None, true), (0, None, true)]);
        let age = |id, at| LifeSpan::age(timeline, AllocId(id), Moment(at)).map(|age| (age.us, age.is_open));
        assert_eq!(age(1, 3), Some((Some(30), false)));
        assert_eq!(age(0, 1), Some((Some(0), true)));
        assert_eq!(age(0, 0), Some((None, true)));
        assert_eq!(age(2, 2), None);
    }
}
