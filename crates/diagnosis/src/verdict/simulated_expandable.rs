//! Expandable segments, simulated, in words.

use crate::case::Shortage;
use crate::expandable::Expandable;
use crate::figure;
use crate::finding::Finding;
use crate::sentence::say;

/// Say whether the request that failed would have been met with expandable segments.
pub(super) fn quote_expandable(finding: &mut Finding, expandable: Expandable, shortage: &Shortage) {
    match expandable {
        Expandable::Met { until, peak_reserved_bytes } => {
            let reaches = if until == shortage.oom.event {
                "this request is met"
            } else {
                "an earlier one that failed is met, and what follows it cannot be told"
            };
            finding.explain(say!(
                "Simulated with expandable_segments:True, the recorded requests reserve {} at most, and {}.",
                figure::bytes(peak_reserved_bytes),
                reaches
            ));
            finding.evidence.bytes(
                "simulated_expandable_reserved_bytes",
                "reserved at most with expandable segments (simulated)",
                peak_reserved_bytes,
            );
        }
        Expandable::Fails { event, requested_bytes } => {
            finding.explain(say!(
                "Simulated with expandable_segments:True, the request of {} for {} fails as well.",
                figure::event(event),
                figure::bytes(requested_bytes)
            ));
        }
    }
}
