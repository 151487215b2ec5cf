//! The two sides that the user chooses.

use super::others::Other;
use crate::device::attributing::AttributionCell;
use oomscope_analysis::Attribution;
use oomscope_analysis::comparison::Side;
use oomscope_model::{Moment, Recording};
use tr::tr;

/// The moment of a side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SideMoment {
    /// The peak of active memory.
    #[default]
    Peak,
    /// The last request that failed.
    Oom,
    /// The cursor.
    Cursor,
    /// The start of the recording.
    Start,
    /// Its end.
    End,
}

impl SideMoment {
    pub(super) const ALL: [Self; 5] = [Self::Peak, Self::Oom, Self::Cursor, Self::Start, Self::End];

    pub(super) fn name(self) -> String {
        match self {
            Self::Peak => tr!("the peak"),
            Self::Oom => tr!("the OOM"),
            Self::Cursor => tr!("the cursor"),
            Self::Start => tr!("the start"),
            Self::End => tr!("the end"),
        }
    }

    /// The moment of a recording; `None` if it has none of this kind.
    pub(super) fn of(self, recording: &Recording, cursor: Moment) -> Option<Moment> {
        Some(match self {
            Self::Peak => recording.active.peak().0,
            Self::Oom => Moment::after(recording.ooms.last()?.event),
            Self::Cursor => cursor,
            Self::Start => Moment::START,
            Self::End => Moment(recording.moments().saturating_sub(1) as u32),
        })
    }
}

/// A device at a moment.
#[derive(Clone)]
pub(super) struct ComparedSide {
    pub(super) title: String,
    pub(super) recording: Recording,
    pub(super) attribution: AttributionCell,
    pub(super) moment: Moment,
}

impl PartialEq for ComparedSide {
    fn eq(&self, other: &Self) -> bool {
        // Rules make new recordings, so the same one has the same categories.
        (&self.title, &self.recording, self.moment) == (&other.title, &other.recording, other.moment)
    }
}

impl ComparedSide {
    /// A device at a moment of a kind; `None` if it has none.
    pub(super) fn new(of: &Other, at: SideMoment) -> Option<Self> {
        let moment = at.of(&of.recording, of.cursor)?;
        let Other { title, recording, attribution, .. } = of.clone();
        Some(Self { title, recording, attribution, moment })
    }

    /// The side with its categories.
    pub(super) fn with<'a>(&'a self, attribution: &'a Attribution) -> Side<'a> {
        Side { recording: &self.recording, attribution, moment: self.moment }
    }
}
