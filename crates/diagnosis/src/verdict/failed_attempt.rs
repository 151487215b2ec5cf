//! Attempts that ran out of memory before and are still held, in words.

use crate::case::Case;
use crate::failed_attempt::FailedAttempts;
use crate::figure;
use crate::finding::{Finding, MAX_SITES, MAX_STACKS, Role};
use crate::sentence::{Sentence, say};

/// Code that tries again with nothing left of the attempt that failed.
const TRY_AGAIN: &str = "\
try:
    loss = step(batch)
except torch.OutOfMemoryError:
    loss = None                # nothing that refers to the exception
if loss is None:               # outside of the except block, whose frames are gone
    torch.cuda.empty_cache()
    loss = step(smaller_batch)";

/// Code that lets go of what a notebook keeps of the last failure.
const FORGET: &str = "\
import gc, sys
sys.last_exc = sys.last_value = sys.last_traceback = None
gc.collect()
torch.cuda.empty_cache()";

/// Describe what is left of the attempts, what keeps it, and how to let it go.
pub(super) fn describe(finding: &mut Finding, case: &Case<'_>, failed: &FailedAttempts) {
    let evidence = &mut finding.evidence;
    evidence.part("attempt_bytes", "made by attempts that failed", failed.bytes, case.live_bytes());
    evidence.count("attempts", "attempts that failed before", failed.ooms.len());
    evidence.count("attempt_allocations", "allocations", failed.allocations.len());
    evidence.events.extend(&failed.ooms);
    evidence.sites = case.code.sites(&failed.stacks, Role::Retained).into_iter().take(MAX_SITES).collect();
    evidence.stacks = failed.stacks.iter().take(MAX_STACKS).copied().collect();
    evidence.about(failed.allocations.iter().copied());
    finding.because(say!("The program ran out of memory before{} and tried again, but {} of what it had made until then are still in use.", at(failed), figure::bytes(failed.bytes).of(case.live_bytes())));
    finding.explain("Something keeps the frames of the call that failed, with all their variables: the exception, if it is stored or if the next attempt runs within its except block; in a notebook, sys.last_value and sys.last_traceback.");
    finding.advise_code(
        "Let the failed call end before the next attempt, and store no exception:",
        case.words.code(TRY_AGAIN),
    );
    finding.advise_code(
        "In a notebook, let go of the last failure before running a cell again:",
        case.words.code(FORGET),
    );
    finding.weighs(failed.bytes);
    finding.confirm(say!(
        "Print {}.memory_allocated() before each attempt: it should be the same every time.",
        case.words.module
    ));
    finding.limit("Where an attempt began is taken from iterations, calls of models and steps; gradients, parameters and optimizer state do not count as made by it.");
}

/// The failed requests before, by their events.
fn at(failed: &FailedAttempts) -> Sentence {
    if let [one] = failed.ooms[..] {
        say!(" ({})", figure::event(one))
    } else {
        say!(" ({})", figure::counted(failed.ooms.len(), "time"))
    }
}

/// The bytes of the attempts.
pub(super) fn title(failed: &FailedAttempts) -> Sentence {
    let bytes = figure::bytes(failed.bytes);
    match failed.ooms.len() {
        0 | 1 => say!("{} of an attempt that failed before are still held", bytes),
        n => say!("{} of {} attempts that failed before are still held", bytes, figure::count(n)),
    }
}
