//! What a picture shows of a verdict: the blocks that it is about, where they lie, and a few words beside them.

use super::capacity;
use super::named::Named;
use crate::assessment::Assessment;
use crate::case::{Case, Shortage};
use crate::cause::Cause;
use crate::figure;
use crate::finding::{Finding, Mark, MarkStep, Site};
use crate::retained::Retained;
use crate::sentence::{Sentence, name, say};
use oomscope_model::{AllocId, Bytes, EventIx, Moment};
use std::collections::{BTreeMap, BTreeSet};

/// Mark the memory that the verdict about a failed request is about. A request alone, memory outside of PyTorch and free memory
/// have no blocks to mark; the request has words.
pub(super) fn mark(
    finding: &mut Finding,
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    cause: &Cause,
    named: Option<&Named<'_>>,
    site: Option<&Site>,
) {
    let case = assessment.case;
    let place = site.map(|site| say!(", {}", name(site.place())));
    if let Some(named) = named {
        let findings = named.titled();
        let blocks: BTreeSet<AllocId> =
            findings.iter().flat_map(|finding| finding.evidence.about.iter().copied()).collect();
        let kinds = findings.iter().map(|finding| name(finding.id.name().replace('-', " ")).into());
        let label = say!("{}: {}{}", bytes(case, blocks.iter()), Sentence::joined(kinds, ", "), place);
        return set(finding, blocks, label);
    }
    match cause {
        Cause::Capacity => {
            if let Some((blocks, what)) = capacity::blocks(case, shortage, site) {
                let below = site.map(|site| say!(" below {}", name(site.place())));
                let label = say!("{} {}{}", bytes(case, blocks.iter()), what, below);
                set(finding, blocks, label);
            }
        }
        Cause::Fragmentation(_) => {
            let pinning = &assessment.pinning;
            let count = figure::counted(pinning.blocks.len(), "block");
            finding.mark =
                Some(say!("{} around {} free{}", count, figure::bytes(pinning.hole_bytes), place).into());
        }
        Cause::Retained => {
            if let Some(retained) = &assessment.retained {
                finding.mark = Some(kept(case, retained, site));
            }
        }
        Cause::FailedAttempts => {
            if let Some(failed) = &assessment.failed {
                let attempts = figure::counted(failed.ooms.len().max(1), "failed attempt");
                let bytes = figure::bytes(failed.bytes);
                finding.mark = Some(say!("{} kept of {}{}", bytes, attempts, place).into());
            }
        }
        Cause::GrowingTensors => {
            if let Some(growing) = &assessment.growing {
                finding.mark =
                    Some(say!("{} in tensors that grow{}", figure::bytes(growing.bytes), place).into());
            }
        }
        Cause::SingleRequest => {
            let requested = figure::bytes(shortage.oom.requested);
            finding.mark = Some(say!("{} asked for at once{}", requested, place).into());
        }
        Cause::UnevenRanks => {
            let more = case.ranks.map_or(Bytes::ZERO, |excess| excess.bytes);
            finding.mark = Some(say!("{} more than the median rank{}", figure::bytes(more), place).into());
        }
        Cause::FreePiece(_) | Cause::Outside(_) | Cause::Unknown => {}
    }
}

/// What several repetitions left behind.
pub(super) fn kept(case: &Case<'_>, retained: &Retained, site: Option<&Site>) -> Mark {
    let of = site.map(|site| say!(" of {}", name(site.place())));
    let count = figure::count(retained.repetitions);
    let nouns = retained.noun.in_short(retained.repetitions);
    let before = if retained.older_bytes == 0 { "" } else { " and before" };
    let label = say!("{} kept{}, {} {}{}", figure::bytes(retained.bytes), of, count, nouns, before);
    Mark { label, steps: steps(case, &retained.allocations) }
}

/// What each repetition left of some allocations; those of one iteration are one step.
fn steps(case: &Case<'_>, allocations: &[AllocId]) -> Vec<MarkStep> {
    let mut by_repetition: BTreeMap<usize, Bytes> = BTreeMap::new();
    for &id in allocations {
        let event = case.recording.lifetimes.origin(id).event();
        if let Some(index) = event.and_then(|event| case.repetitions.index_of(event)) {
            *by_repetition.entry(index).or_default() += case.recording.size(id);
        }
    }
    let mut steps: Vec<(EventIx, Option<u32>, Bytes)> = Vec::new();
    for (index, bytes) in by_repetition {
        let Some(start) = case.repetitions.start(index) else { continue };
        let iteration = case.phases().position_at(Moment::after(start)).iteration;
        match steps.last_mut().filter(|(_, of, _)| iteration.is_some() && *of == iteration) {
            Some((.., all)) => *all += bytes,
            None => steps.push((start, iteration, bytes)),
        }
    }
    let step = |(start, iteration, bytes): (EventIx, Option<u32>, Bytes)| {
        let iteration = iteration.map(|number| say!(", iteration {}", figure::count(number)));
        MarkStep { start, label: say!("{}{}", figure::bytes(bytes), iteration) }
    };
    steps.into_iter().map(step).collect()
}

fn set(finding: &mut Finding, blocks: BTreeSet<AllocId>, label: Sentence) {
    if !blocks.is_empty() {
        finding.evidence.about = blocks.into_iter().collect();
        finding.mark = Some(label.into());
    }
}

fn bytes<'i>(case: &Case<'_>, blocks: impl Iterator<Item = &'i AllocId>) -> figure::Figure {
    figure::bytes(blocks.map(|&id| case.recording.size(id)).sum::<Bytes>())
}
