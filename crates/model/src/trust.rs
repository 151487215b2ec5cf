//! How far the figures of a device can be trusted. It is decided once, when its timeline is built; whoever shows a figure
//! asks here.

use super::{Anomalies, Anomaly};
use serde::{Deserialize, Serialize};

/// Why a figure is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// Memory was reserved before the first event: what happened until then is not recorded.
    StartsLate,
    /// No allocations were recorded, only the state at the end.
    NoHistory,
    /// The file is damaged, and what comes behind the damage is missing.
    Damaged,
    /// The state after the last event is missing, and with it what no event mentions.
    EndMissing,
    /// Allocations lie outside of all segments, and no event says that a segment came or went.
    SegmentEventsMissing,
    /// Sizes, events or blocks of the file could not be used.
    LeftOut,
    /// Events and segments cannot all be true.
    Contradicts,
}

impl Why {
    /// Whether something is wrong with the file. Otherwise it shows all that was recorded.
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::StartsLate | Self::NoHistory)
    }
}

/// How far a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// It follows from the file.
    Known,
    /// The truth may be more.
    AtLeast(Why),
    /// The file does not tell.
    Unknown(Why),
}

impl Trust {
    /// The lesser trust of two; the first of two that are alike.
    pub fn and(self, other: Self) -> Self {
        let rank = |trust| match trust {
            Self::Known => 0,
            Self::AtLeast(_) => 1,
            Self::Unknown(_) => 2,
        };
        if rank(self) < rank(other) { other } else { self }
    }

    /// Its name in documents and tables.
    pub fn key(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::AtLeast(_) => "at_least",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Whether the figure follows from the file.
    pub fn is_known(self) -> bool {
        self == Self::Known
    }

    /// Whether the file does not tell the figure.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// What is missing, where something is.
    pub fn why(self) -> Option<Why> {
        match self {
            Self::Known => None,
            Self::AtLeast(why) | Self::Unknown(why) => Some(why),
        }
    }
}

/// How far each kind of figure of a device can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTrust {
    /// Bytes in use at any moment from the first event on, the end included.
    pub in_use: Trust,
    /// The most bytes in use.
    pub peak_in_use: Trust,
    /// Bytes reserved at any moment from the first event on, the end included.
    pub reserved: Trust,
    /// The most bytes reserved.
    pub peak_reserved: Trust,
    /// The requests that failed.
    pub failed_requests: Trust,
}

impl DeviceTrust {
    /// The trust in a whole recording.
    pub const KNOWN: Self = Self::all(Trust::Known);

    /// The trust in a file of which parts could not be used.
    pub const LEFT_OUT: Self = Self::all(Trust::Unknown(Why::LeftOut));

    const fn all(trust: Trust) -> Self {
        Self {
            in_use: trust,
            peak_in_use: trust,
            reserved: trust,
            peak_reserved: trust,
            failed_requests: trust,
        }
    }

    /// The trust in a device by its contradictions, by its end, which may be missing, and by its history, which may begin late.
    pub(super) fn of(anomalies: &Anomalies, end: Trust, history: Trust, has_segment_events: bool) -> Self {
        let is_about_reserved =
            |kind| matches!(kind, Anomaly::AllocOutsideOfSegments | Anomaly::MoreInUseThanReserved);
        let base = Self::all(end).with_history(history);
        if anomalies.total() == 0 {
            base
        } else if !has_segment_events && anomalies.iter().all(|(kind, _)| is_about_reserved(kind)) {
            let missing = Trust::Unknown(Why::SegmentEventsMissing);
            Self { reserved: missing, peak_reserved: missing, ..base }
        } else {
            Self::all(Trust::Unknown(Why::Contradicts))
        }
    }

    /// The trust where the history has only a part of what happened.
    fn with_history(self, history: Trust) -> Self {
        Self {
            peak_in_use: self.peak_in_use.and(history),
            peak_reserved: self.peak_reserved.and(history),
            failed_requests: self.failed_requests.and(history),
            ..self
        }
    }

    /// The same in a damaged file.
    pub fn of_damaged_file(self) -> Self {
        self.with_history(Trust::AtLeast(Why::Damaged))
    }

    /// The least trust of all kinds of figures.
    pub fn least(&self) -> Trust {
        self.kinds().into_iter().fold(Trust::Known, |least, (_, trust)| least.and(trust))
    }

    /// Whether nothing is wrong with the file.
    pub fn is_sound(&self) -> bool {
        !self.whys().into_iter().any(Why::is_fault)
    }

    /// All kinds of figures, by the names that documents use.
    pub fn kinds(&self) -> [(&'static str, Trust); 5] {
        [
            ("in_use", self.in_use),
            ("peak_in_use", self.peak_in_use),
            ("reserved", self.reserved),
            ("peak_reserved", self.peak_reserved),
            ("failed_requests", self.failed_requests),
        ]
    }

    /// Everything that keeps a figure from being known, each once.
    pub fn whys(&self) -> Vec<Why> {
        let mut whys = Vec::new();
        for why in self.kinds().into_iter().filter_map(|(_, trust)| trust.why()) {
            if !whys.contains(&why) {
                whys.push(why);
            }
        }
        whys
    }
}
