//! A rank that has more than the others of its job, in words.

use super::named::Named;
use crate::answered::Answered;
use crate::case::{Case, Shortage};
use crate::cause::Cause;
use crate::figure;
use crate::finding::{Finding, Role, Site, StackBytes};
use crate::rank_excess::{LineChange, RankExcess};
use crate::sentence::{Sentence, name, say};
use oomscope_model::Bytes;

/// Lines of code in the verdict's reason.
const LINES: usize = 3;

/// The least bytes above the median of the ranks that are the cause of a failure. Memory that nothing needs says more, and memory outside
/// of the process, of another pool or in a free piece is no matter of what the rank computes.
pub(super) fn least_bytes(shortage: &Shortage, cause: &Cause, named: Option<&Named<'_>>) -> Option<Bytes> {
    let is_open = matches!(cause, Cause::Capacity | Cause::SingleRequest | Cause::Fragmentation(_));
    let is_named = named.is_some_and(|named| named.says_more_than(cause));
    shortage.lacking_bytes().filter(|&lacking| is_open && !is_named && 0 < lacking)
}

/// The question, where the other ranks are known.
pub(super) fn ask(case: &Case<'_>, shortage: &Shortage, least: Option<Bytes>) -> Option<Answered> {
    let excess = case.ranks?;
    Some(Answered {
        asks: "Would it have been met with as much at the peak as the median of the ranks?",
        figures: say!(
            "{} more than {}, and {} were missing",
            figure::bytes(excess.bytes),
            name(&excess.median),
            figure::bytes(shortage.lacking_bytes().unwrap_or_default())
        ),
        is_yes: least.is_some_and(|least| least <= excess.bytes),
    })
}

/// Say which lines have more, and how ranks are given as much.
pub(super) fn describe(finding: &mut Finding, shortage: &Shortage, excess: &RankExcess) {
    let lines = excess.lines.iter().take(LINES);
    let lines = lines.map(|line| {
        say!(
            "{} ({} against {})",
            name(&line.line),
            figure::bytes(line.bytes),
            figure::bytes(line.median_bytes)
        )
    });
    let lines = (!excess.lines.is_empty()).then(|| say!(": {}", Sentence::joined(lines, ", ")));
    finding.because(say!(
        "The request lacked {}, less than this rank has more than {}{}.",
        figure::bytes(shortage.lacking_bytes().unwrap_or_default()),
        name(&excess.median),
        lines
    ));
    finding.evidence.bytes("rank_excess_bytes", "more at its peak than the median rank", excess.bytes);
    finding.advise("Give each rank as much: share samples out by their length in place of their number (a batch sampler by tokens), pad or cut them to one length, and let no rank do more than the others, as logging, evaluation, or a larger part of the model.");
    finding.weighs(excess.bytes);
    finding.confirm("Print the shape of each rank's batch just before the call of the model.");
    finding.limit("Each rank is compared at its own peak, which need not be of the same iteration.");
}

/// The lines that have more, of what is live: first that of the title.
pub(super) fn sites(case: &Case<'_>, excess: &RankExcess) -> Vec<Site> {
    let live: Vec<StackBytes> = case.live_stacks();
    let at = |line: &LineChange| {
        let is_there = |row: &&StackBytes| {
            case.code.lines(row.stack).iter().any(|&key| line.line == case.code.label(key))
        };
        let there: Vec<StackBytes> = live.iter().filter(is_there).copied().collect();
        case.code.sites(&there, Role::Live).into_iter().find(|site| line.line.starts_with(&site.place()))
    };
    excess.lines.iter().take(LINES).filter_map(at).collect()
}
