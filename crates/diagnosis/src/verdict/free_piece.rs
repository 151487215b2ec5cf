//! A free piece with room for the request that failed, in words.

use crate::case::{Case, FreePiece, Shortage, by_stack};
use crate::figure;
use crate::finding::{Finding, Role, Site};
use crate::sentence::{Sentence, name, say};
use oomscope_analysis::segment_state::{GroupKey, MAX_SLACK_BYTES, OtherHoles, Row};
use oomscope_model::Bytes;

/// The statement: where the memory lay, and whose it is.
pub(super) fn title(shortage: &Shortage, piece: &FreePiece, site: Option<&Site>) -> Sentence {
    let requested = figure::bytes(shortage.oom.requested);
    let free = |bytes: Bytes| figure::bytes(bytes).of(shortage.hole_bytes);
    let by = |words: &'static str| {
        let holds = site.filter(|site| site.role != Role::Requested);
        holds.map(|site| say!(" ({} {})", words, name(site.place())))
    };
    match piece {
        FreePiece::Late { bytes, .. } => say!(
            "Out of memory: {} requested while {} that the program had given back still waited for a stream{}",
            requested,
            free(*bytes),
            by("made by")
        ),
        FreePiece::Unused { bytes } => say!(
            "Cannot tell why a request of {} failed: {} of its own pool and stream lay free in one piece",
            requested,
            free(*bytes)
        ),
        FreePiece::Kept { bytes } => say!(
            "Out of memory: {} requested while max_split_size_mb kept {} for larger requests{}",
            requested,
            free(*bytes),
            by("beside blocks of")
        ),
        FreePiece::OtherPool(other) | FreePiece::OtherStream(other) => {
            let is_one = shortage.fit.requested_bytes <= other.largest_bytes;
            say!(
                "Out of memory: {} requested while {} lay free{} for another {}{}",
                requested,
                free(if is_one { other.largest_bytes } else { other.bytes }),
                if is_one { " in one piece" } else { "" },
                if matches!(piece, FreePiece::OtherStream(_)) { "stream" } else { "pool" },
                by("beside blocks of")
            )
        }
    }
}

/// The lines that made what waited, or whose blocks keep other free memory where it is.
pub(super) fn sites(case: &Case<'_>, shortage: &Shortage, piece: &FreePiece) -> Vec<Site> {
    let is_of: &dyn Fn(GroupKey) -> bool = match piece {
        FreePiece::Late { stacks, .. } => return case.code.sites(stacks, Role::Returned),
        FreePiece::Unused { .. } => return Vec::new(),
        FreePiece::Kept { .. } => &|key| key == shortage.fit.key(),
        FreePiece::OtherPool(other) | FreePiece::OtherStream(other) => &|key| key == other.key,
    };
    let state = &case.state;
    let is_of_group = |row: &&Row| state.groups.get(row.group).is_some_and(|group| is_of(group.key));
    let rows = state.rows.iter().filter(is_of_group).filter(|row| 0 < row.figures.hole_bytes);
    let blocks = rows.flat_map(|row| {
        let each = row.figures.hole_bytes / (row.figures.blocks.max(1) as i64);
        let blocks = state.parts_of(row).iter().filter_map(|part| part.content.allocation());
        blocks.map(move |id| (case.recording.stack(id), each))
    });
    case.code.sites(&by_stack(blocks), Role::KeepsFree)
}

/// Describe why the piece was not used, as far as the file tells, and what would make it useful.
pub(super) fn describe(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage, piece: &FreePiece) {
    match piece {
        FreePiece::Late { .. } => late(finding),
        FreePiece::Unused { .. } => unused(finding, shortage),
        FreePiece::Kept { .. } => kept(finding),
        FreePiece::OtherPool(other) => elsewhere(finding, case, shortage, other, false),
        FreePiece::OtherStream(other) => elsewhere(finding, case, shortage, other, true),
    }
    if shortage.has_slack {
        finding.limit(say!(
            "Before the last event, a free piece may be smaller by up to {} than the events tell.",
            figure::bytes(MAX_SLACK_BYTES)
        ));
    }
}

fn kept(finding: &mut Finding) {
    finding.because("With max_split_size_mb, a free block that is at least as large serves only requests that are as large, too.");
    finding.advise("Raise max_split_size_mb above this request, or leave it out: oomscope simulate FILE --set max_split_size_mb=none says what that gives.");
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

fn elsewhere(
    finding: &mut Finding,
    case: &Case<'_>,
    shortage: &Shortage,
    other: &OtherHoles,
    is_stream: bool,
) {
    // A pool that no other could be taken for has no name.
    let own = shortage.fit.key();
    let own = GroupKey { pool: own.pool.filter(|_| other.key.pool.is_some()), ..own };
    finding.because(say!(
        "It is of the {}; the request was for the {}, and free memory serves only requests of its own pool and stream.",
        name(other.key.to_string()),
        name(own.to_string())
    ));
    finding.evidence.part(
        "elsewhere_hole_bytes",
        "largest hole of another pool or stream",
        other.largest_bytes,
        shortage.hole_bytes,
    );
    if is_stream {
        finding.advise("Make large tensors on one stream, or use those that a stream has given back on that stream again: what it frees serves only its own requests.");
    } else {
        finding.advise(say!("Let go of {} graphs and pools that are not used any more: a pool gives its memory back when nothing is in it.", case.words.api));
    }
    finding.advise("Let go of the blocks beside it before the request: a segment without any block goes back to the device for all pools and streams.");
}
