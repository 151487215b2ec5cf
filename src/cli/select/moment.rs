//! Moments and ranges as users name them.

use oomscope_analysis::{At, Attribution, EventRanges, MomentError, Phases, RangeQuery};
use oomscope_model::{Moment, Recording, Timeline};
use oomscope_units as units;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A moment as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum NamedMoment {
    At(At),
    /// The moment within a range at which most bytes are active.
    PeakOf(NamedRange),
}

/// A part of a recording as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct NamedRange {
    /// The user's words, for errors.
    pub(super) text: String,
    pub(super) query: RangeQuery,
}

/// The reason why a device does not have a moment or a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Missing<'a> {
    Moment(MomentError),
    /// There are fewer events than a range names.
    Event {
        last: u32,
        events: usize,
    },
    /// No event lies in it.
    Range(&'a NamedRange),
}

impl Display for Missing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moment(error) => error.fmt(f),
            Self::Event { last, events } => {
                let (last, events) = (units::count(*last), units::count(*events as u64));
                write!(f, "there is no event {last} among {events}")
            }
            Self::Range(range) => write!(f, "no event lies in {:?}", range.text),
        }
    }
}

impl NamedMoment {
    /// Whether it names events by their numbers, which each device counts for itself.
    pub(super) fn is_of_one_device(&self) -> bool {
        match self {
            Self::At(at) => matches!(at, At::Event(_)),
            Self::PeakOf(range) => range.is_of_one_device(),
        }
    }

    /// This moment on a device, as an event where it is the peak of a range. Iterations and phases are only asked for where it
    /// needs them.
    pub(super) fn find(
        &self,
        recording: &Recording,
        attribution: impl FnOnce() -> Arc<Attribution>,
    ) -> Result<At, Missing<'_>> {
        match self {
            Self::At(at) => Ok(*at),
            Self::PeakOf(range) => range.peak(recording, &range.find(recording, attribution)?),
        }
    }

    /// This moment on a device whose iterations and phases are known.
    pub(in crate::cli) fn moment(
        &self,
        recording: &Recording,
        phases: &Phases,
    ) -> Result<Moment, Missing<'_>> {
        let at = match self {
            Self::At(at) => *at,
            Self::PeakOf(range) => range.peak(recording, &range.find_with(recording, phases)?)?,
        };
        at.moment(recording).map_err(Missing::Moment)
    }
}

impl NamedRange {
    /// Whether it names events by their numbers, which each device counts for itself.
    pub(in crate::cli) fn is_of_one_device(&self) -> bool {
        matches!(self.query, RangeQuery::Events(_))
    }

    /// The events of a device that are meant.
    fn find(
        &self,
        recording: &Recording,
        attribution: impl FnOnce() -> Arc<Attribution>,
    ) -> Result<EventRanges, Missing<'_>> {
        let found = self.query.needs_attribution().then(attribution);
        self.find_with(recording, &found.unwrap_or_default().phases)
    }

    fn peak(&self, timeline: &Timeline, events: &EventRanges) -> Result<At, Missing<'_>> {
        let event = events.peak(timeline).and_then(|(moment, _)| moment.event());
        event.map(|event| At::Event(event.0)).ok_or(Missing::Range(self))
    }

    fn find_with(&self, recording: &Recording, phases: &Phases) -> Result<EventRanges, Missing<'_>> {
        let events = recording.events.len();
        if let RangeQuery::Events([_, last]) = self.query
            && last != u32::MAX
            && events <= last as usize
        {
            return Err(Missing::Event { last, events });
        }
        Ok(self.query.find(recording, phases))
    }

    /// The first and the last event of a device that are meant. Iterations and phases are only asked for where it needs them.
    pub(in crate::cli) fn ends(
        &self,
        recording: &Recording,
        attribution: impl FnOnce() -> Arc<Attribution>,
    ) -> Result<[u32; 2], Missing<'_>> {
        let found = self.find(recording, attribution)?;
        let ends = found.all().first().zip(found.all().last());
        ends.map(|(first, last)| [first[0], last[1].saturating_sub(1)]).ok_or(Missing::Range(self))
    }
}
