//! Retained memory, in words.

use super::Retained;
use super::sites::sites;
use crate::diagnosis::case::Case;
use crate::diagnosis::finding::{Finding, MAX_ALLOCATIONS, MAX_SITES, MAX_STACKS, Saving};
use crate::units;

/// Describe the retained memory, what keeps it, and how to let it go.
pub(in crate::diagnosis) fn describe(finding: &mut Finding, case: &Case<'_>, retained: &Retained) {
    let evidence = &mut finding.evidence;
    evidence.bytes("kept_bytes", "held from earlier iterations", retained.bytes);
    evidence.count("kept_iterations", "iterations that left it", retained.repetitions);
    evidence.bytes("kept_per_iteration_bytes", "left by each, on average", retained.per_repetition_bytes);
    evidence.count("kept_allocations", "allocations", retained.allocations.len());
    if 0 < retained.sizes {
        evidence.count("kept_sizes", "different sizes", retained.sizes);
    } else {
        evidence.count("kept_lines", "lines that made them", retained.lines);
    }
    evidence.sites = sites(retained, case, MAX_SITES);
    evidence.stacks = retained.stacks.iter().take(MAX_STACKS).copied().collect();
    evidence.allocations = retained.allocations.iter().take(MAX_ALLOCATIONS).copied().collect();
    if 0 < retained.older_bytes {
        evidence.bytes("kept_older_bytes", "of it from before the recording", retained.older_bytes);
    }
    finding.explain(left_behind(finding, retained));
    if retained.bytes / 2 <= retained.model_bytes {
        models(finding);
    } else if retained.is_graph() {
        graph(finding, retained);
    } else {
        results(finding, retained);
    }
    let source = if 0 < retained.sizes { "of sizes" } else { "at stacks" };
    let formula = format!("bytes from earlier iterations {source} that left some in at least two");
    finding.saving = Some(Saving { bytes: retained.bytes, formula });
    let each = if is_each(retained) { " each time" } else { " from time to time" };
    finding.confirm = Some(format!(
        "Print torch.cuda.memory_allocated() at the end of each iteration: it should rise by about {}{each}.",
        units::bytes(retained.per_repetition_bytes)
    ));
    if 0 < retained.sizes {
        finding.limit("The recording has no stacks: allocations of one size are taken for those of one line, and which line that is, it does not tell.");
        return;
    }
    finding.limit("Keeping a reference allocates nothing, so the line that keeps it is not in the recording; the sites are the lines that allocated what stays.");
}

/// How many repetitions left how much, and below which line.
fn left_behind(finding: &Finding, retained: &Retained) -> String {
    let below = finding.evidence.sites.first().map_or_else(String::new, |site| {
        format!(" below {}:{} {}", units::basename(&site.file), site.line, site.name)
    });
    let older = units::bytes(retained.older_bytes);
    let each = units::bytes(retained.per_repetition_bytes);
    let n = units::count(retained.repetitions as u64);
    let of = units::count(retained.of_repetitions as u64);
    let what = match retained.repetitions {
        1 => format!("One earlier iteration or batch left {each} behind{below}."),
        _ if is_each(retained) => {
            format!("Each of {n} earlier iterations or batches left about {each} behind{below}.")
        }
        _ => format!("{n} of the {of} earlier iterations or batches left about {each} each behind{below}."),
    };
    let older = match retained.older_bytes {
        0 => String::new(),
        _ => format!(" The same code made {older} more before the recording began."),
    };
    format!("{what}{older}")
}

/// Whether at least three of four repetitions left something, which reads as "each".
fn is_each(retained: &Retained) -> bool {
    retained.of_repetitions / 4 * 3 <= retained.repetitions
}

fn models(finding: &mut Finding) {
    finding.explain("Most of it is parameters and optimizer state, made again and again: models or optimizers of earlier folds, restarts or rounds are still referenced, as by a list of results, a scheduler or a closure.");
    finding.advise_code(
        "Let the old ones go before the next are made, and keep what is needed of them on the CPU:",
        "best = {k: v.cpu() for k, v in model.state_dict().items()}\ndel model, optimizer, scheduler",
    );
}

fn graph(finding: &mut Finding, retained: &Retained) {
    let made = match retained.sizes {
        0 => format!(
            "They were made at {} different lines of the forward pass",
            units::count(retained.lines as u64)
        ),
        sizes => format!(
            "Most of them were made in the forward pass, in {} different sizes",
            units::count(sizes as u64)
        ),
    };
    finding.explain(format!(
        "{made}: only the autograd graph keeps so much together. Some tensor that belongs to the graph (a loss or an output with grad_fn) outlives its iteration, as with losses.append(loss) or total += loss, and keeps all of it."
    ));
    if !retained.outlives_backward {
        finding.limit("No backward pass came after they were made. If all these calls belong to one training step, nothing leaks, and the step is too large: then call backward() for each part instead of adding up losses (gradients accumulate), or checkpoint.");
    }
    finding.advise_code("Evaluate without a graph:", "with torch.no_grad():");
    finding.advise_code(
        "Keep numbers of what is over, not tensors with a graph:",
        "losses.append(loss.item())   # or loss.detach(), after backward()",
    );
}

fn results(finding: &mut Finding, retained: &Retained) {
    let from =
        if retained.lines == 0 { "As far as sizes tell, it is" } else { "It comes from few lines, so it is" };
    finding.explain(format!("{from} results that stay: in a list, a dict or a cache, as an attribute, in a closure, a hook or a stored exception."));
    finding.advise_code("Keep results on the CPU, without a graph:", "results.append(out.detach().cpu())");
    finding.advise(
        "Remove hooks and clear caches when they are not needed any more; keep only the last few results.",
    );
}

/// The retained bytes, and how many repetitions left them.
pub(in crate::diagnosis) fn title(retained: &Retained) -> String {
    let bytes = units::bytes(retained.bytes);
    match retained.repetitions {
        0 | 1 => format!("{bytes} from earlier iterations or batches are still held"),
        n => {
            let older = if retained.older_bytes == 0 { "" } else { "and before " };
            let n = units::count(n as u64);
            format!("{bytes} from {n} earlier iterations or batches {older}are still held")
        }
    }
}
