//! Retained memory, where it is not why memory ran out.

use crate::assessment::Assessment;
use crate::case::Shortage;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::retained;
use crate::sentence::say;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some(retained) = &assessment.retained else { return Vec::new() };
    // A leak is the verdict, which says all of it.
    if !retained.is_worth_a_word(case) || assessment.is_leak() {
        return Vec::new();
    }
    let title = say!(
        "{} stay from {} earlier {}",
        figure::bytes(retained.bytes).of(case.live_bytes()),
        figure::count(retained.repetitions),
        retained.noun.plural()
    );
    let mut finding = Finding::new(FindingId::MemoryGrowth, Severity::Info, title);
    retained::describe(&mut finding, case, retained);
    let available = case.shortage.as_ref().and_then(Shortage::available_bytes);
    if let Some(room) = available.or(case.device_memory).map(|most| most - case.state.total.reserved_bytes)
        && let Some(more) = room.checked_div(retained.per_repetition_bytes)
    {
        finding.explain(match more {
            0 => say!("The {} of room that are left are less than one more adds.", figure::bytes(room)),
            more => say!(
                "At this rate {} of room are used up after {} more.",
                figure::bytes(room),
                figure::count(more)
            ),
        });
    }
    finding.limit("A program may keep results on purpose, and a cache of limited size stops growing.");
    vec![finding]
}
