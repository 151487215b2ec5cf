//! Retained memory, in words.

use super::Retained;
use super::remedy::explain_kind;
use super::sites::sites;
use crate::case::Case;
use crate::figure;
use crate::finding::{Finding, MAX_SITES, MAX_STACKS, Site};
use crate::sentence::{Sentence, name, say};
use oomscope_program::share::NEARLY_ALL;

/// Describe the retained memory, what keeps it, and how to let it go.
pub(crate) fn describe(finding: &mut Finding, case: &Case<'_>, retained: &Retained) {
    let evidence = &mut finding.evidence;
    evidence.part("kept_bytes", "held from before", retained.bytes, case.live_bytes());
    evidence.count("kept_iterations", "times that some was left", retained.repetitions);
    evidence.bytes("kept_per_iteration_bytes", "left each time, on average", retained.per_repetition_bytes);
    evidence.count("kept_allocations", "allocations", retained.allocations.len());
    if 0 < retained.sizes {
        evidence.count("kept_sizes", "different sizes", retained.sizes);
    } else {
        evidence.count("kept_lines", "lines that made them", retained.lines);
    }
    evidence.sites = sites(retained, case, MAX_SITES);
    evidence.stacks = retained.stacks.iter().take(MAX_STACKS).copied().collect();
    evidence.about(retained.allocations.iter().copied());
    if 0 < retained.older_bytes {
        evidence.part(
            "kept_older_bytes",
            "of it from before the recording",
            retained.older_bytes,
            retained.bytes,
        );
    }
    finding.because(left_behind(finding, retained));
    explain_kind(finding, retained);
    finding.weighs(retained.bytes);
    let each = if is_each(retained) { " each time" } else { " from time to time" };
    finding.confirm(say!(
        "Print {}.memory_allocated() after each {}: it should rise by about {}{}.",
        case.words.module,
        retained.noun.singular(),
        figure::bytes(retained.per_repetition_bytes),
        each
    ));
    if 0 < retained.sizes {
        finding.limit("The recording has no stacks: allocations of one size are taken for those of one line, and which line that is, it does not tell.");
        return;
    }
    finding.limit("Keeping a reference allocates nothing, so the line that keeps it is not in the recording; the sites are the lines that allocated what stays.");
}

/// The line below which most of it was made.
pub(crate) fn line(retained: &Retained, case: &Case<'_>) -> Option<Site> {
    sites(retained, case, MAX_SITES).into_iter().next()
}

/// How many repetitions left how much, and below which line.
fn left_behind(finding: &Finding, retained: &Retained) -> Sentence {
    let below = finding.evidence.sites.first().map(|site| say!(" below {}", name(site.label())));
    let older = figure::bytes(retained.older_bytes);
    let each = figure::bytes(retained.per_repetition_bytes);
    let n = figure::count(retained.repetitions).of_count(retained.of_repetitions);
    let of = figure::count(retained.of_repetitions);
    let nouns = retained.noun.plural();
    let what = match retained.repetitions {
        1 => say!("One earlier {} left {} behind{}.", retained.noun.singular(), each, below),
        _ if is_each(retained) => {
            say!("Each of {} earlier {} left about {} behind{}.", n, nouns, each, below)
        }
        _ => say!("{} of the {} earlier {} left about {} each behind{}.", n, of, nouns, each, below),
    };
    let more = say!(" The same code made {} more before the recording began.", older);
    let older = Some(more).filter(|_| 0 < retained.older_bytes);
    say!("{}{}", what, older)
}

/// Whether nearly all repetitions left something, which reads as "each".
fn is_each(retained: &Retained) -> bool {
    NEARLY_ALL.is_reached(retained.repetitions, retained.of_repetitions)
}

/// The retained bytes, what they are, and how many repetitions left them.
pub(crate) fn title(retained: &Retained) -> Sentence {
    let (bytes, what) = (figure::bytes(retained.bytes), retained.kind.words());
    let nouns = retained.noun.plural();
    match retained.repetitions {
        0 | 1 => say!("{} of {} from earlier {} are still held", bytes, what, nouns),
        n => {
            let older = if retained.older_bytes == 0 { "" } else { "and before " };
            say!("{} of {} from {} earlier {} {}are still held", bytes, what, figure::count(n), nouns, older)
        }
    }
}
