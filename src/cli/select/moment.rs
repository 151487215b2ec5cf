//! Moments and ranges as users name them.

use super::opened::Opened;
use crate::analysis::{At, EventRanges, MomentError, RangeQuery};
use crate::model::Timeline;

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

impl NamedMoment {
    /// Whether it names events by their numbers, which each device counts for itself.
    pub(super) fn is_of_one_device(&self) -> bool {
        match self {
            Self::At(at) => matches!(at, At::Event(_)),
            Self::PeakOf(range) => matches!(range.query, RangeQuery::Events(_)),
        }
    }

    /// This moment on a device, as an event where it is the peak of a range.
    pub(super) fn find(&self, recording: &Opened<'_>, timeline: &Timeline) -> Result<At, Missing<'_>> {
        match self {
            Self::At(at) => Ok(*at),
            Self::PeakOf(range) => {
                let peak = range.find(recording, timeline)?.peak(timeline);
                let event = peak.and_then(|(moment, _)| moment.event());
                event.map(|event| At::Event(event.0)).ok_or(Missing::Range(range))
            }
        }
    }
}

impl NamedRange {
    /// The events of a device that are meant.
    fn find(&self, recording: &Opened<'_>, timeline: &Timeline) -> Result<EventRanges, Missing<'_>> {
        let events = timeline.events.len();
        if let RangeQuery::Events([_, last]) = self.query
            && last != u32::MAX
            && events <= last as usize
        {
            return Err(Missing::Event { last, events });
        }
        let found = self.query.needs_attribution().then(|| recording.attribution(timeline));
        let phases = &found.unwrap_or_default().phases;
        Ok(self.query.find(&recording.snapshot, timeline, phases))
    }

    /// The first and the last event of a device that are meant.
    pub(in crate::cli) fn ends(
        &self,
        recording: &Opened<'_>,
        timeline: &Timeline,
    ) -> Result<[u32; 2], Missing<'_>> {
        let found = self.find(recording, timeline)?;
        let ends = found.all().first().zip(found.all().last());
        ends.map(|(first, last)| [first[0], last[1].saturating_sub(1)]).ok_or(Missing::Range(self))
    }
}
