//! Enough memory, but in pieces, in words.

use super::failed_request::earlier_sizes;
use super::simulated_expandable::quote_expandable;
use crate::assessment::Assessment;
use crate::case::Shortage;
use crate::expandable::Expandable;
use crate::figure;
use crate::finding::{Finding, Role, Site};
use crate::sentence::{Sentence, name, say};
use oomscope_simulator::{ExpandableSegments, Settings};

/// The statement: what lay free, and between whose blocks.
pub(super) fn title(shortage: &Shortage, site: Option<&Site>) -> Sentence {
    let of = site.filter(|site| site.role == Role::KeepsFree);
    say!(
        "Out of memory due to fragmentation: {} requested while {} lay free in pieces{}",
        figure::bytes(shortage.oom.requested),
        figure::bytes(shortage.hole_bytes).of(shortage.reserved_bytes),
        of.map(|site| say!(" between blocks of {}", name(site.place())))
    )
}

/// Describe the holes, what keeps them apart, and what would close them.
pub(super) fn describe(
    finding: &mut Finding,
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    simulated: Option<Expandable>,
) {
    let case = assessment.case;
    let fit = &shortage.fit;
    let requested = figure::bytes(shortage.oom.requested);
    finding.because(say!("{}.", assessment.pinning.sentence()));
    finding.explain(say!("The bytes in use and the {} together are less than PyTorch could have, but {} of what is reserved are holes between blocks in use, and none that this request may use has room for it.", requested, figure::share(shortage.hole_bytes, shortage.reserved_bytes)));
    if 0 < fit.other_bytes {
        finding.explain(say!(
            "{} of the holes are of another pool, stream or size class, which this request must not use.",
            figure::bytes(fit.other_bytes)
        ));
    }
    finding.explain_if(earlier_sizes(case, shortage));
    advise_on_segments(finding, assessment, shortage, simulated);
    finding.advise("Move small results that stay to the CPU, or copy them into a tensor that is allocated once before the loop: blocks that stay keep large segments from being reused.");
    finding.weighs(shortage.hole_bytes);
    finding.confirm("Compare other settings without running again: oomscope simulate FILE --sweep. Then run again with the ones that fit: the run should get further."
            );
    if case.phases().iterations.list.len() < 2 {
        finding.limit("No iteration was complete: without holes this request would have been met, but what would have come next is not known.");
    }
    finding.limit("The blocks next to the holes are what keeps them apart at this moment; which request first split a segment is not told.");
}

/// Advise expandable segments, unless the file shows that they were asked for: then say what became of it.
fn advise_on_segments(
    finding: &mut Finding,
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    simulated: Option<Expandable>,
) {
    match assessment.case.expandable_segments() {
        ExpandableSegments::InEffect => {
            finding.advise("Expandable segments are on already. Allocate what stays before what comes and goes, and keep request sizes constant (pad to a few lengths).");
            return;
        }
        ExpandableSegments::NotInEffect => {
            finding.explain(
                "expandable_segments was asked for, but is not in effect: no segment is expandable.",
            );
        }
        ExpandableSegments::Excluded(what) => {
            finding.explain(say!(
                "The stacks show {}, which does not work with expandable segments, so these are not advised.",
                what
            ));
        }
        ExpandableSegments::Off => {
            if let Some(expandable) = simulated {
                quote_expandable(finding, expandable, shortage);
            }
            if !matches!(simulated, Some(Expandable::Fails { .. })) {
                let recorded = assessment.case.settings();
                finding.advise_remedy(
                    "set:expandable_segments=True",
                    "Let segments grow instead of adding new ones, unless the program uses CUDA IPC, vLLM's sleep mode or a pluggable allocator, with which they do not work:",
                    Settings { expandable_segments: true, ..recorded }.conf_line(),
                );
            }
        }
    }
    finding.advise("Keep sizes constant from step to step: pad to a few lengths, or run the largest batch first, so that later ones fit into its blocks.");
}
