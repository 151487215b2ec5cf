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
    evidence.bytes("kept_per_iteration_bytes", "left by each, on average", kept.per_round_bytes);
    evidence.count("kept_allocations", "allocations", kept.allocations.len());
    if 0 < kept.sizes {
        evidence.count("kept_sizes", "different sizes", kept.sizes);
    } else {
        evidence.count("kept_lines", "lines that made them", kept.lines);
    }
    evidence.sites = kept.sites(context, MAX_SITES);
    evidence.stacks = kept.stacks.iter().take(3).copied().collect();
    evidence.allocations = kept.allocations.iter().take(10).copied().collect();
    if 0 < kept.older_bytes {
        evidence.bytes("kept_older_bytes", "of it from before the recording", kept.older_bytes);
    }
    finding.explain(what_stayed(finding, kept));
    if kept.bytes / 2 <= kept.model_bytes {
        models(finding);
    } else if kept.is_graph() {
        graph(finding, kept);
    } else {
        results(finding, kept);
    }
    let source = if 0 < kept.sizes { "of sizes" } else { "at stacks" };
    let formula = format!("bytes from earlier iterations {source} that left some in at least two");
    finding.saving = Some(Saving { bytes: kept.bytes, formula });
    let each = if is_each(kept) { " each time" } else { " from time to time" };
    finding.confirm = Some(format!(
        "Print torch.cuda.memory_allocated() at the end of each iteration: it should rise by about {}{each}.",
        units::bytes(kept.per_round_bytes)
    ));
    if 0 < kept.sizes {
        finding.limit("The recording has no stacks: allocations of one size are taken for those of one line, and which line that is, it does not tell.");
        return;
    }
    finding.limit("Keeping a reference allocates nothing, so the line that keeps it is not in the recording; the sites are the lines that allocated what stays.");
}

/// Which rounds left how much, and below which line.
fn what_stayed(finding: &Finding, kept: &Kept) -> String {
    let below = finding.evidence.sites.first().map_or_else(String::new, |site| {
        format!(" below {}:{} {}", units::basename(&site.file), site.line, site.name)
    });
    let older = units::bytes(kept.older_bytes);
    let each = units::bytes(kept.per_round_bytes);
    let (rounds, of) = (units::count(kept.rounds as u64), units::count(kept.of_rounds as u64));
    let what = match kept.rounds {
        1 => format!("One earlier iteration or batch left {each} behind{below}."),
        _ if is_each(kept) => {
            format!("Each of {rounds} earlier iterations or batches left about {each} behind{below}.")
        }
        _ => format!(
            "{rounds} of the {of} earlier iterations or batches left about {each} each behind{below}."
        ),
    };
    let older = match kept.older_bytes {
        0 => String::new(),
        _ => format!(" The same code made {older} more before the recording began."),
    };
    format!("{what}{older}")
}

/// Whether nearly every round left something.
fn is_each(kept: &Kept) -> bool {
    kept.of_rounds / 4 * 3 <= kept.rounds
}

fn models(finding: &mut Finding) {
    finding.explain("Most of it is parameters and optimizer state, made again and again: models or optimizers of earlier folds, restarts or rounds are still referenced, as by a list of results, a scheduler or a closure.");
    finding.advise_code(
        "Let the old ones go before the next are made, and keep what is needed of them on the CPU:",
        "best = {k: v.cpu() for k, v in model.state_dict().items()}\ndel model, optimizer, scheduler",
    );
}

fn graph(finding: &mut Finding, kept: &Kept) {
    let made = match kept.sizes {
        0 => format!(
            "They were made at {} different lines of the forward pass",
            units::count(kept.lines as u64)
        ),
        sizes => format!(
            "Most of them were made in the forward pass, in {} different sizes",
            units::count(sizes as u64)
        ),
    };
    finding.explain(format!(
        "{made}: only the autograd graph keeps so much together. Some tensor that belongs to the graph (a loss or an output with grad_fn) outlives its iteration, as with losses.append(loss) or total += loss, and keeps all of it."
    ));
    if !kept.outlives_backward {
        finding.limit("No backward pass came after they were made. If all these calls belong to one training step, nothing leaks, and the step is too large: then call backward() for each part instead of adding up losses (gradients accumulate), or checkpoint.");
    }
    finding.advise_code("Evaluate without a graph:", "with torch.no_grad():");
    finding.advise_code(
        "Keep numbers of what is over, not tensors with a graph:",
        "losses.append(loss.item())   # or loss.detach(), after backward()",
    );
}

fn results(finding: &mut Finding, kept: &Kept) {
    let from =
        if kept.lines == 0 { "As far as sizes tell, it is" } else { "It comes from few lines, so it is" };
    finding.explain(format!("{from} results that stay: in a list, a dict or a cache, as an attribute, in a closure, a hook or a stored exception."));
    finding.advise_code("Keep results on the CPU, without a graph:", "results.append(out.detach().cpu())");
    finding.advise(
        "Remove hooks and clear caches when they are not needed any more; keep only the last few results.",
    );
}

/// What stays of how many rounds.
pub(super) fn title(kept: &Kept) -> String {
    let bytes = units::bytes(kept.bytes);
    match kept.rounds {
        0 | 1 => format!("{bytes} from earlier iterations or batches are still held"),
        rounds => {
            let older = if kept.older_bytes == 0 { "" } else { "and before " };
            let rounds = units::count(rounds as u64);
            format!("{bytes} from {rounds} earlier iterations or batches {older}are still held")
        }
    }
}
