//! Durations between moments.

use oomscope_model::{Moment, Timeline};

/// The unit of durations between moments: microseconds or events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    has_times: bool,
}

impl Clock {
    /// Microseconds if every event has a time, else events. Reads every event.
    pub fn of(timeline: &Timeline) -> Self {
        let events = &timeline.events;
        Self { has_times: !events.is_empty() && events.indices().all(|ix| events.time_us(ix).is_some()) }
    }

    /// True if durations are microseconds rather than events.
    pub fn has_times(self) -> bool {
        self.has_times
    }

    /// The duration from one moment to a later one, in the clock's unit; never negative. A moment has the
    /// time of the event that led to it, and [`Moment::START`] that of the first event.
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
