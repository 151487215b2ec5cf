//! Expandable segments, simulated with the recorded requests.

use crate::diagnosis::case::{Case, Shortage};
use crate::diagnosis::figure;
use crate::diagnosis::finding::Finding;
use crate::diagnosis::sentence::say;
use crate::simulator::{Reach, Subject};

/// The simulation is only quoted if it reproduces at least this share of the recorded events: a reader cannot judge how
/// far to trust it.
const LEAST_SHARE: f64 = 0.99;

/// Say whether the request that failed would have been met with expandable segments. Returns whether it would, or `None`
/// if the simulation does not show it.
pub(super) fn quote_expandable(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage) -> Option<bool> {
    let subject = Subject::new(case.snapshot, case.timeline);
    let fidelity = subject.fidelity();
    if fidelity.events == 0 || fidelity.share() < LEAST_SHARE {
        return None;
    }
    let mut settings = subject.recorded_settings().clone();
    settings.expandable_segments = true;
    let outcome = subject.simulate(&settings, &subject.device());
    let peak = i64::try_from(outcome.peak_reserved_bytes()).unwrap_or(i64::MAX);
    let failed = shortage.oom.event;
    match (outcome.oom, outcome.reach) {
        (None, Reach::RecordedOom(event)) => {
            let reaches = if event == failed {
                "this request is met"
            } else {
                "an earlier one that failed is met, and what follows it cannot be told"
            };
            finding.explain(say!(
                "Simulated with expandable_segments:True, the recorded requests reserve {} at most, and {}.",
                figure::bytes(peak),
                reaches
            ));
            finding.evidence.bytes(
                "simulated_expandable_reserved_bytes",
                "reserved at most with expandable segments (simulated)",
                peak,
            );
            Some(true)
        }
        (Some(oom), _) => {
            finding.explain(say!(
                "Simulated with expandable_segments:True, the request of {} for {} fails as well.",
                figure::event(oom.event),
                figure::bytes(i64::try_from(oom.requested_bytes).unwrap_or(i64::MAX))
            ));
            Some(false)
        }
        (None, _) => None,
    }
}
