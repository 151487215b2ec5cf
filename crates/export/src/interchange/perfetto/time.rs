//! The time of every event in nanoseconds.

use oomscope_model::{EventIx, Timeline};

/// Times of events in their order. PyTorch records microseconds: events of the same one are a nanosecond apart, so that their
/// order shows. Times never go back. Without times, events are a microsecond apart, from 0.
pub(super) struct EventTimes<'a> {
    timeline: &'a Timeline,
    /// The time of the latest event, and how many of the same microsecond came before it.
    now_us: i64,
    same: u64,
}

/// The most nanoseconds that can be added within a microsecond.
const MOST: u64 = 999;

impl<'a> EventTimes<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        Self { timeline, now_us: i64::MIN, same: 0 }
    }

    /// The time of an event; events have to be asked for in their order.
    pub(super) fn of(&mut self, ix: EventIx) -> u64 {
        let time_us = if self.timeline.times.has_times() {
            self.timeline.events.time_us(ix).or(self.timeline.times.first_us()).unwrap_or_default()
        } else {
            i64::from(ix.0)
        };
        if self.now_us < time_us {
            (self.now_us, self.same) = (time_us, 0);
        } else {
            self.same += 1;
        }
        nanoseconds(self.now_us).saturating_add(self.same.min(MOST))
    }
}

/// A time in microseconds since 1970 as nanoseconds; 0 before 1970.
pub(super) fn nanoseconds(time_us: i64) -> u64 {
    time_us.max(0).unsigned_abs().saturating_mul(1000)
}
