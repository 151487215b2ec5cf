//! Figures of a device that never change, and events and lifetimes as text.

use crate::texts;
use oomscope_analysis::capacity;
use oomscope_model::{Allocation, Bytes, EventIx, Moment, Recording, Timeline, TrustedBytes};
use oomscope_report::{headline, non_default_settings};
use oomscope_units as units;
use tr::tr;

/// Figures of a device's timeline, computed when the file is opened.
pub(crate) struct Figures {
    /// Whether allocations were recorded, not only the state at the end.
    pub(crate) has_history: bool,
    /// Whether some memory is of private pools.
    pub(crate) has_private_pools: bool,
    /// The active peak.
    pub(crate) peak: (Moment, TrustedBytes),
    /// The reserved peak.
    pub(crate) reserved_peak: (Moment, TrustedBytes),
    /// Bytes that were active before the first event, where that is known.
    pub(crate) baseline: Option<Bytes>,
    /// The most that PyTorch could reserve, as an OOM showed.
    pub(crate) capacity: Option<Bytes>,
    /// All memory of the device, if the recorder noted it.
    pub(crate) device_memory: Option<Bytes>,
    /// Settings that differ from the default.
    pub(crate) settings: Vec<String>,
    /// One sentence on what happened, until the diagnosis has a better one.
    pub(crate) headline: String,
    /// Time of the first event that has one.
    first_time_us: Option<i64>,
}

fn has_private_pools(timeline: &Timeline) -> bool {
    timeline.pools().iter().any(|pool| pool.is_private())
}

impl Figures {
    pub(crate) fn new(recording: &Recording) -> Self {
        let snapshot = recording.snapshot();
        Self {
            has_history: recording.has_history(),
            has_private_pools: has_private_pools(recording),
            peak: recording.peak_active(),
            reserved_peak: recording.peak_reserved(),
            baseline: recording.active_at(Moment::START).known(),
            capacity: capacity(recording),
            device_memory: snapshot.device_memory(recording.device),
            settings: non_default_settings(snapshot),
            headline: headline(recording, snapshot.damage.is_some()),
            first_time_us: recording.events.time_range_us().map(|(first, _)| first),
        }
    }

    /// Time of an event in µs since the first event that has a time.
    pub(crate) fn time_of(&self, timeline: &Timeline, event: EventIx) -> Option<i64> {
        timeline.events.time_us(event).zip(self.first_time_us).map(|(time, first)| time.saturating_sub(first))
    }

    /// `event 1,234, 3.412 s`.
    pub(crate) fn event_text(&self, timeline: &Timeline, event: EventIx) -> String {
        let number = units::count(event.0);
        match self.time_of(timeline, event) {
            Some(us) => tr!("event {number}, {time}", number, time = units::duration_us(us)),
            None => tr!("event {number}", number),
        }
    }

    /// The lifetime of an allocation in words, and whether it is waiting for a stream.
    pub(crate) fn lives(&self, timeline: &Timeline, allocation: &Allocation, is_awaiting: bool) -> String {
        let lives = tr!("lives {}", self.lifetime(timeline, allocation));
        if is_awaiting { format!("{lives} · {}", tr!("freed, waiting for a stream")) } else { lives }
    }

    /// The lifetime of an allocation, as in `lives …`.
    pub(crate) fn lifetime(&self, timeline: &Timeline, allocation: &Allocation) -> String {
        let Some(end) = allocation.end else { return tr!("until the end of the recording") };
        let Some((start, end)) = allocation.alloc_event().zip(end.event()) else {
            return tr!("from before the recording");
        };
        let events = i64::from(end.0) - i64::from(start.0);
        let time = self.time_of(timeline, end).zip(self.time_of(timeline, start));
        let events = texts::events(events.max(0) as usize);
        match time {
            Some((end, start)) => format!("{}, {events}", units::duration_us(end.saturating_sub(start))),
            None => events,
        }
    }
}
