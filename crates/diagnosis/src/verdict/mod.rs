//! The verdict in words: why memory ran out, or what can be said where it did not.

mod capacity;
mod composition;
mod failed_attempt;
mod failed_request;
mod fragmentation;
mod free_piece;
mod growing_tensors;
mod holder;
mod holder_advice;
mod mark;
mod named;
mod nothing_failed;
mod out_of_memory;
mod outside;
mod simulated_expandable;
mod single_request;
mod uneven_ranks;

use super::answered::Answered;
use super::assessment::Assessment;
use super::case::{Case, own_tree};
use super::finding::{Finding, Role, Severity};
use super::findings::FindingId;
use super::retained::{self, Retained};
use crate::figure;
use crate::sentence::say;
use nothing_failed::{growth, nothing_failed};
use out_of_memory::out_of_memory;

/// The verdict about the moment, knowing what else was found, and the questions that were asked of that.
pub(super) fn verdict(assessment: &Assessment<'_>, others: &[Finding]) -> (Finding, Vec<Answered>) {
    if assessment.case.recording.trust.in_use.is_unknown() {
        return (contradictory(), Vec::new());
    }
    let (mut verdict, asked) = stated(assessment, others);
    holder::name_holder(&mut verdict, assessment);
    (if verdict.is_refused() { contradictory() } else { verdict }, asked)
}

/// The file states more of something than there is of the whole.
fn contradictory() -> Finding {
    let title = "Cannot tell: the figures of the recording contradict each other";
    let mut finding = Finding::new(FindingId::Nothing, Severity::Warning, title);
    finding.explain(
        "A part is larger there than its whole, as where events are missing or the file was changed.",
    );
    finding
}

fn stated(assessment: &Assessment<'_>, others: &[Finding]) -> (Finding, Vec<Answered>) {
    let case = assessment.case;
    if let Some((shortage, cause)) = case.shortage.as_ref().zip(assessment.cause.as_ref()) {
        return out_of_memory(assessment, shortage, cause, others);
    }
    let verdict = match assessment.leaked() {
        Some(retained) => leaking(case, retained),
        None => nothing_failed(case, assessment.retained.as_ref()),
    };
    (verdict, Vec::new())
}

/// Nothing has failed, but the memory of earlier iterations piles up.
fn leaking(case: &Case<'_>, retained: &Retained) -> Finding {
    let growth = growth(case, retained).filter(|_| !retained.is_graph());
    let title = if let Some(growth) = growth {
        say!(
            "No request failed, but {}: {} of {} in use are left by earlier ones",
            growth,
            figure::bytes(retained.bytes).of(case.live_bytes()),
            figure::bytes(case.recording.active.at(case.moment))
        )
    } else {
        say!("A leak: {}", retained::title(retained))
    };
    let mut finding = Finding::new(FindingId::Leak, Severity::Warning, title);
    retained::describe(&mut finding, case, retained);
    finding.mark = Some(mark::kept(case, retained, finding.evidence.sites.first()));
    finding.evidence.tree = Some(own_tree(&case.code, "Kept", Role::Retained, &retained.stacks));
    finding
}
