//! Time as an axis: the time of a moment, and the moment at a time.

use super::{EventIx, EventTable, Moment};

/// Number of moments from one checkpoint to the next: a look-up reads at most that many times, and an
/// event's share of the checkpoints is an eighth of a byte.
const STEP: usize = 64;

/// Relative time of every moment. It never decreases: an event without a time, or after the clock was set
/// back, has the latest time so far.
#[derive(Debug, Default, Clone)]
pub struct TimeIndex {
    /// The time of every `STEP`th moment, in microseconds since the first recorded time.
    checkpoints: Vec<i64>,
    /// First and latest time in microseconds since 1970; `None` if no event has a time.
    range_us: Option<(i64, i64)>,
}

impl TimeIndex {
    /// Read the time of every event.
    pub(super) fn build(events: &EventTable) -> Self {
        let Some(first_us) = events.indices().find_map(|ix| events.time_us(ix)) else {
            return Self::default();
        };
        let mut checkpoints = Vec::with_capacity(events.len() / STEP + 1);
        let mut now = 0;
        for moment in 0..=events.len() {
            now = later(events, Moment(moment as u32), first_us, now);
            if moment.is_multiple_of(STEP) {
                checkpoints.push(now);
            }
        }
        Self { checkpoints, range_us: Some((first_us, first_us.saturating_add(now))) }
    }

    /// True if any event has a time.
    pub fn has_times(&self) -> bool {
        self.range_us.is_some()
    }

    /// The first recorded time, in microseconds since 1970; `None` if no event has a time.
    pub fn first_us(&self) -> Option<i64> {
        self.range_us.map(|(first, _)| first)
    }

    /// Microseconds from the first time to the latest; 0 without times.
    pub fn span_us(&self) -> i64 {
        self.range_us.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// The time of a moment, in microseconds since the first recorded time; 0 before it.
    pub fn at(&self, events: &EventTable, moment: Moment) -> i64 {
        let Some(first_us) = self.first_us() else { return 0 };
        let moment = moment.index().min(events.len());
        let group = moment / STEP;
        let start = self.checkpoints.get(group).copied().unwrap_or_default();
        (group * STEP + 1..=moment).fold(start, |now, m| later(events, Moment(m as u32), first_us, now))
    }

    /// The last moment at or before a time in microseconds since the first recorded time. [`Moment::START`]
    /// if there is none.
    pub fn moment_at(&self, events: &EventTable, time_us: i64) -> Moment {
        let Some(first_us) = self.first_us() else { return Moment::START };
        let Some(group) = self.checkpoints.partition_point(|&start| start <= time_us).checked_sub(1) else {
            return Moment::START;
        };
        let (mut last, mut now) = (group * STEP, self.checkpoints[group]);
        for moment in group * STEP + 1..((group + 1) * STEP).min(events.len() + 1) {
            now = later(events, Moment(moment as u32), first_us, now);
            if time_us < now {
                break;
            }
            last = moment;
        }
        Moment(last as u32)
    }
}

/// The relative time of a moment, given that of the moment before it.
fn later(events: &EventTable, moment: Moment, first_us: i64, before: i64) -> i64 {
    let time = moment.event().and_then(|EventIx(ix)| events.time_us(EventIx(ix)));
    time.map_or(before, |time| time.saturating_sub(first_us).max(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Event};
    use proptest::prelude::*;

    fn table(times: &[Option<i64>]) -> EventTable {
        let mut events = EventTable::default();
        for &time_us in times {
            events.push(&Event { time_us, ..Event::new(Action::Alloc, 512, 1) });
        }
        events
    }

    #[test]
    fn without_times_everything_is_at_zero() {
        let events = table(&[None, None]);
        let times = TimeIndex::build(&events);
        assert!(!times.has_times());
        assert_eq!((times.at(&events, Moment(2)), times.moment_at(&events, 5)), (0, Moment::START));
    }

    proptest! {
        #[test]
        fn times_and_moments_agree_with_a_scan(
            times in proptest::collection::vec(proptest::option::of(1000i64..1400), 1..400),
            asked in -10i64..500,
        ) {
            let events = table(&times);
            let index = TimeIndex::build(&events);
            let first = times.iter().flatten().next().copied();
            let mut naive = vec![0];
            for time in &times {
                let before = *naive.last().expect("the first is there");
                naive.push(time.zip(first).map_or(before, |(time, first)| (time - first).max(before)));
            }
            let read: Vec<i64> = (0..=times.len() as u32).map(|m| index.at(&events, Moment(m))).collect();
            prop_assert_eq!(&read, &naive);
            let last = naive.iter().rposition(|&time| first.is_some() && time <= asked).unwrap_or(0);
            prop_assert_eq!(index.moment_at(&events, asked), Moment(last as u32));
            prop_assert_eq!(index.span_us(), *naive.last().expect("the first is there"));
        }
    }
}
