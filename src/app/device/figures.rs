//! Figures of a device that never change, and events and lifetimes as text.

use crate::analysis::capacity;
use crate::model::{Allocation, Anchor, EventIx, Moment, Snapshot, Timeline};
use crate::report::{headline, non_default_settings};
use crate::units;

/// Figures of a device's timeline, computed when the file is opened.
pub(in crate::app) struct Figures {
    /// The active peak.
    pub(in crate::app) peak: (Moment, i64),
    /// The reserved peak.
    pub(in crate::app) reserved_peak: (Moment, i64),
    /// Bytes that were active before the first event, where that is known.
    pub(in crate::app) baseline: Option<i64>,
    /// The most that could be reserved, as an OOM showed.
    pub(in crate::app) capacity: Option<i64>,
    /// Settings that differ from the default.
    pub(in crate::app) settings: Vec<String>,
    /// What happened, in a sentence.
    pub(in crate::app) verdict: String,
    /// Time of the first event that has one.
    first_time_us: Option<i64>,
}

impl Figures {
    pub(in crate::app) fn new(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self {
            peak: timeline.active.peak(),
            reserved_peak: timeline.reserved.peak(),
            baseline: (timeline.anchor == Anchor::EndState).then(|| timeline.active.at(Moment::START)),
            capacity: capacity(timeline),
            settings: non_default_settings(snapshot),
            verdict: headline(timeline, snapshot.damage.is_some()),
            first_time_us: timeline.events.time_range_us().map(|(first, _)| first),
        }
    }

    /// Time since the first event.
    pub(in crate::app) fn time_of(&self, timeline: &Timeline, event: EventIx) -> Option<i64> {
        timeline.events.time_us(event).zip(self.first_time_us).map(|(time, first)| time.saturating_sub(first))
    }

    /// `event 1,234, 3.412 s`.
    pub(in crate::app) fn event_text(&self, timeline: &Timeline, event: EventIx) -> String {
        let time = self.time_of(timeline, event).map(|us| format!(", {}", units::duration_us(us)));
        format!("event {}{}", units::count(event.0), time.unwrap_or_default())
    }

    /// How long an allocation lives.
    pub(in crate::app) fn lifetime(&self, timeline: &Timeline, allocation: &Allocation) -> String {
        let Some(end) = allocation.end else { return "until the end of the recording".to_owned() };
        let Some((start, end)) = allocation.alloc_event().zip(end.event()) else {
            return "from before the recording".to_owned();
        };
        let events = i64::from(end.0) - i64::from(start.0);
        let time = self.time_of(timeline, end).zip(self.time_of(timeline, start));
        let events = units::counted(events.max(0) as usize, "event");
        match time {
            Some((end, start)) => format!("{}, {events}", units::duration_us(end.saturating_sub(start))),
            None => events,
        }
    }
}
