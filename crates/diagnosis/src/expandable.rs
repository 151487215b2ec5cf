//! Expandable segments, simulated with the recorded requests: what would have happened with next to no fragmentation.

use super::case::Case;
use oomscope_model::{Bytes, EventIx};
use oomscope_program::share::SAME;
use oomscope_simulator::{ExpandableSegments, Outcome, Reach, Subject};

/// What happens to the recorded requests with expandable segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expandable {
    /// All are met until a request that failed in the recording.
    Met {
        /// That request, which is met as well.
        until: EventIx,
        /// Reserved at most until then.
        peak_reserved_bytes: Bytes,
    },
    /// A request fails.
    Fails {
        /// The request.
        event: EventIx,
        /// Its size.
        requested_bytes: Bytes,
    },
}

impl Expandable {
    /// Replay the recording; `None` if the segments are expandable already, or the simulation does not show it.
    pub(super) fn simulate(case: &Case<'_>) -> Option<Self> {
        if case.expandable_segments() == ExpandableSegments::InEffect {
            return None;
        }
        let subject = Subject::new(case.recording);
        // A reader cannot judge how far to trust it, so it has to reproduce the recording.
        let fidelity = subject.fidelity();
        if !SAME.is_reached(fidelity.identical, fidelity.events) {
            return None;
        }
        let mut settings = subject.recorded_settings().clone();
        settings.expandable_segments = true;
        Self::of(&subject.simulate(&settings, &subject.device()))
    }

    fn of(outcome: &Outcome) -> Option<Self> {
        match (&outcome.oom, outcome.reach) {
            (Some(oom), _) => {
                Some(Self::Fails { event: oom.event, requested_bytes: Bytes::of_size(oom.requested_bytes) })
            }
            (None, Reach::RecordedOom(until)) => {
                Some(Self::Met { until, peak_reserved_bytes: Bytes::of_size(outcome.peak_reserved_bytes()) })
            }
            (None, _) => None,
        }
    }
}
