//! Retained memory, in words.

use super::Retained;
use super::sites::sites;
use crate::diagnosis::case::Case;
use crate::diagnosis::figure;
use crate::diagnosis::finding::{Finding, MAX_ALLOCATIONS, MAX_SITES, MAX_STACKS};
use crate::diagnosis::sentence::{Sentence, name, say};

/// Describe the retained memory, what keeps it, and how to let it go.
pub(in crate::diagnosis) fn describe(finding: &mut Finding, case: &Case<'_>, retained: &Retained) {
    let evidence = &mut finding.evidence;
    evidence.part("kept_bytes", "held from earlier iterations", retained.bytes, case.live_bytes());
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
        evidence.part(
            "kept_older_bytes",
            "of it from before the recording",
            retained.older_bytes,
            retained.bytes,
        );
    }
    finding.because(left_behind(finding, retained));
    if retained.bytes / 2 <= retained.model_bytes {
        models(finding);
    } else if retained.is_graph() {
        graph(finding, retained);
    } else {
        results(finding, retained);
    }
    let source = if 0 < retained.sizes { "of sizes" } else { "at stacks" };
    let formula = say!("bytes from earlier iterations {} that left some in at least two", source);
    finding.saves(retained.bytes, formula);
    let each = if is_each(retained) { " each time" } else { " from time to time" };
    finding.confirm(say!(
        "Print torch.cuda.memory_allocated() at the end of each iteration: it should rise by about {}{}.",
        figure::bytes(retained.per_repetition_bytes),
        each
    ));
    if 0 < retained.sizes {
        finding.limit("The recording has no stacks: allocations of one size are taken for those of one line, and which line that is, it does not tell.");
        return;
    }
    finding.limit("Keeping a reference allocates nothing, so the line that keeps it is not in the recording; the sites are the lines that allocated what stays.");
}

/// How many repetitions left how much, and below which line.
fn left_behind(finding: &Finding, retained: &Retained) -> Sentence {
    let below = finding.evidence.sites.first().map(|site| say!(" below {}", name(site.label())));
    let older = figure::bytes(retained.older_bytes);
    let each = figure::bytes(retained.per_repetition_bytes);
    let n = figure::count(retained.repetitions).of_count(retained.of_repetitions);
    let of = figure::count(retained.of_repetitions);
    let what = match retained.repetitions {
        1 => say!("One earlier iteration or batch left {} behind{}.", each, below),
        _ if is_each(retained) => {
            say!("Each of {} earlier iterations or batches left about {} behind{}.", n, each, below)
        }
        _ => say!(
            "{} of the {} earlier iterations or batches left about {} each behind{}.",
            n,
            of,
            each,
            below
        ),
    };
    let more = say!(" The same code made {} more before the recording began.", older);
    let older = Some(more).filter(|_| 0 < retained.older_bytes);
    say!("{}{}", what, older)
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
        0 => say!("They were made at {} different lines of the forward pass", figure::count(retained.lines)),
        sizes => {
            say!("Most of them were made in the forward pass, in {} different sizes", figure::count(sizes))
        }
    };
    finding.explain(say!("{}: only the autograd graph keeps so much together. Some tensor that belongs to the graph (a loss or an output with grad_fn) outlives its iteration, as with losses.append(loss) or total += loss, and keeps all of it.", made));
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
    finding.explain(say!("{} results that stay: in a list, a dict or a cache, as an attribute, in a closure, a hook or a stored exception.", from));
    finding.advise_code("Keep results on the CPU, without a graph:", "results.append(out.detach().cpu())");
    finding.advise(
        "Remove hooks and clear caches when they are not needed any more; keep only the last few results.",
    );
}

/// The retained bytes, and how many repetitions left them.
pub(in crate::diagnosis) fn title(retained: &Retained) -> Sentence {
    let bytes = figure::bytes(retained.bytes);
    match retained.repetitions {
        0 | 1 => say!("{} from earlier iterations or batches are still held", bytes),
        n => {
            let older = if retained.older_bytes == 0 { "" } else { "and before " };
            let n = figure::count(n);
            say!("{} from {} earlier iterations or batches {}are still held", bytes, n, older)
        }
    }
}
