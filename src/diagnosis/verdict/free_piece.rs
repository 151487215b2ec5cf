//! A free piece with room for the request that failed, in words.

use crate::analysis::segment_state::{GroupKey, MAX_SLACK_BYTES, OtherHoles};
use crate::diagnosis::case::{Case, FreePiece, Shortage};
use crate::diagnosis::figure;
use crate::diagnosis::finding::Finding;
use crate::diagnosis::sentence::{Sentence, name, say};

/// The statement: where the piece lay.
pub(super) fn title(shortage: &Shortage, piece: FreePiece) -> Sentence {
    let requested = figure::bytes(shortage.oom.requested);
    let free = |bytes: i64| figure::bytes(bytes).of(shortage.hole_bytes);
    match piece {
        FreePiece::Late { bytes } => say!(
            "Out of memory: {} requested while {} that the program had given back still waited for a stream",
            requested,
            free(bytes)
        ),
        FreePiece::Unused { bytes } => say!(
            "Cannot tell why a request of {} failed: {} of its own pool and stream lay free in one piece",
            requested,
            free(bytes)
        ),
        FreePiece::Elsewhere(other) => say!(
            "Out of memory: {} requested while {} lay free in one piece of another {}",
            requested,
            free(other.largest_bytes),
            kind(shortage, &other)
        ),
    }
}

/// In what the piece differs from the request: what separates them first, by the order of the allocator's keys.
fn kind(shortage: &Shortage, other: &OtherHoles) -> &'static str {
    let own = shortage.fit.key();
    let differs = |a: Option<i64>, b: Option<i64>| a.zip(b).is_some_and(|(a, b)| a != b);
    if other.key.class != own.class || !differs(other.key.stream, own.stream) { "pool" } else { "stream" }
}

/// Describe why the piece was not used, as far as the file tells, and what would make it useful.
pub(super) fn describe(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage, piece: FreePiece) {
    match piece {
        FreePiece::Late { .. } => late(finding),
        FreePiece::Unused { .. } => unused(finding, shortage),
        FreePiece::Elsewhere(other) => elsewhere(finding, case, shortage, &other),
    }
    if shortage.has_slack {
        finding.limit(say!(
            "Before the last event, a free piece may be smaller by up to {} than the events tell.",
            figure::bytes(MAX_SLACK_BYTES)
        ));
    }
}

fn late(finding: &mut Finding) {
    finding.because("It became free only while the request was failing: the allocator waits for streams when it has found nothing, and then asks the device alone.");
    finding.advise("Give large blocks back earlier, or wait for the stream that uses them before the next large request (current_stream().wait_stream(side), torch.cuda.synchronize()), instead of record_stream() alone.");
    finding.advise("Let the host run ahead less: prefetch fewer batches, and synchronise now and then.");
}

fn unused(finding: &mut Finding, shortage: &Shortage) {
    finding.because("By the allocator's rules, the piece would have served the request; nothing in the file says why it did not.");
    if shortage.fit.is_pool_unknown {
        finding.explain("The file has private pools, and does not say for which pool the request was: it may have been one of these.");
    }
    if shortage.fit.stream.is_none() {
        finding.explain("The file does not say for which stream the request was.");
    }
}

fn elsewhere(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage, other: &OtherHoles) {
    // A pool that no other could be taken for has no name.
    let own = shortage.fit.key();
    let own = GroupKey { pool: own.pool.filter(|_| other.key.pool.is_some()), ..own };
    finding.because(say!(
        "The piece is of the {}; the request was for the {}, and a free piece serves only requests of its own pool and stream.",
        name(other.key.to_string()),
        name(own.to_string())
    ));
    finding.evidence.part(
        "elsewhere_hole_bytes",
        "largest hole of another pool or stream",
        other.largest_bytes,
        shortage.hole_bytes,
    );
    if kind(shortage, other) == "stream" {
        finding.advise("Make large tensors on one stream, or use those that a stream has given back on that stream again: what it frees serves only its own requests.");
    } else {
        finding.advise(say!("Let go of {} graphs and pools that are not used any more: a pool gives its memory back when nothing is in it.", case.words.api));
    }
    finding.advise("Let go of the blocks beside the piece before the request: a segment without any block goes back to the device for all pools and streams.");
}
