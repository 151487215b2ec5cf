//! How long it was from one moment to another.

use crate::model::{Moment, Timeline};

/// How durations between moments are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    has_times: bool,
}

impl Clock {
    /// Microseconds if every event has a time, else events. Looks at every event.
    pub fn of(timeline: &Timeline) -> Self {
        let events = &timeline.events;
        Self { has_times: !events.is_empty() && events.indices().all(|ix| events.time_us(ix).is_some()) }
    }

    /// Whether durations are microseconds rather than events.
    pub fn has_times(self) -> bool {
        self.has_times
    }

    /// From one moment to a later one. A moment is as late as the event that led to it; time does
    /// not run before the first event, and not backwards.
    pub fn between(self, timeline: &Timeline, from: Moment, to: Moment) -> i64 {
        let ends = if self.has_times {
            time_us(timeline, to).zip(time_us(timeline, from))
        } else {
            Some((i64::from(to.0), i64::from(from.0)))
        };
        ends.map_or(0, |(to, from)| to.saturating_sub(from).max(0))
    }
}

fn time_us(timeline: &Timeline, moment: Moment) -> Option<i64> {
    let event = moment.event().or_else(|| timeline.events.indices().next())?;
    timeline.events.time_us(event)
}
