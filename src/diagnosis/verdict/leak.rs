//! Memory that stays from iteration to iteration, in words.

use crate::diagnosis::{Context, Finding, Kept, Saving};
use crate::units;

/// Lines of code that are named.
const MAX_SITES: usize = 8;

/// What is kept, what keeps it, and how to let it go.
pub(in crate::diagnosis) fn describe(finding: &mut Finding, context: &Context<'_>, kept: &Kept) {
    let evidence = &mut finding.evidence;
    evidence.bytes("kept_bytes", "held from earlier iterations", kept.bytes);
    evidence.count("kept_iterations", "iterations that left it", kept.rounds);
    evidence.bytes("kept_per_iteration_bytes", "left by each, the median", kept.per_round_bytes);
    evidence.count("kept_allocations", "allocations", kept.allocations.len());
    evidence.count("kept_lines", "lines that made them", kept.lines);
    evidence.sites = kept.sites(context, MAX_SITES);
    evidence.stacks = kept.stacks.iter().take(3).copied().collect();
    evidence.allocations = kept.allocations.iter().take(10).copied().collect();
    let below = evidence.sites.first().map_or_else(String::new, |site| {
        format!(" below {}:{} {}", units::basename(&site.file), site.line, site.name)
    });
    finding.explain(format!(
        "Each of {} earlier iterations or batches left about {} behind{below}.",
        units::count(kept.rounds as u64),
        units::bytes(kept.per_round_bytes)
    ));
    if kept.is_graph() {
        graph(finding, kept);
    } else {
        results(finding);
    }
    let formula = "bytes from earlier iterations at stacks that left some in at least two".to_owned();
    finding.saving = Some(Saving { bytes: kept.bytes, formula });
    finding.confirm = Some(format!(
        "Print torch.cuda.memory_allocated() at the end of each iteration: it should rise by about {} each time.",
        units::bytes(kept.per_round_bytes)
    ));
    finding.limit("Keeping a reference allocates nothing, so the line that keeps it is not in the recording; the sites are the lines that allocated what stays.");
}

fn graph(finding: &mut Finding, kept: &Kept) {
    finding.explain(format!(
        "They were made at {} different lines of the forward pass: only the autograd graph keeps so much together. Some tensor that belongs to the graph (a loss or an output with grad_fn) outlives its iteration, as with losses.append(loss) or total += loss, and keeps all of it.",
        units::count(kept.lines as u64)
    ));
    finding.advise_code(
        "Keep numbers, not tensors with a graph:",
        "losses.append(loss.item())   # or loss.detach()",
    );
    finding.advise_code("Evaluate without a graph:", "with torch.no_grad():");
}

fn results(finding: &mut Finding) {
    finding.explain("They come from few lines, so it is their results that stay: in a list or a dict, as an attribute, in a closure or a hook.");
    finding.advise_code("Keep results on the CPU, without a graph:", "results.append(out.detach().cpu())");
    finding.advise(
        "Remove hooks and clear caches when they are not needed any more; keep only the last few results.",
    );
}

/// By how much the shortage would have been met.
pub(super) fn title(kept: &Kept) -> String {
    format!(
        "{} from {} earlier iterations or batches are still held",
        units::bytes(kept.bytes),
        units::count(kept.rounds as u64)
    )
}
