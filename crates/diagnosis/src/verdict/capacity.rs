//! Too much memory in use, in words: what it is, where it comes from, and what to make smaller.

use super::failed_request::{extension, request_stack, with_rounding};
use crate::assessment::Assessment;
use crate::case::{Among, Case, Shortage, add_sites, by_stack, callers_of, main_caller};
use crate::cause::{USUAL_DEVICE_BYTES, larger_device};
use crate::figure;
use crate::finding::{Finding, MAX_SITES, Role, Site, StackBytes};
use crate::inferred::amount;
use crate::sentence::{Sentence, name, say};
use crate::words::Words;
use oomscope_analysis::{Category, CategoryBytes, Phase};
use oomscope_model::{AllocId, Bytes, CONF_VARIABLES};
use oomscope_program::share::{MOST, MUCH};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The statement: what the memory consists of, and below which line most of it was made.
pub(super) fn title(case: &Case<'_>, shortage: &Shortage) -> Sentence {
    let requested = figure::bytes(shortage.oom.requested);
    let [first, second] = largest(case);
    let named = |of: CategoryBytes| say!("{} {}", words(of.category), amount(of.bytes, of.inferred_bytes));
    let Some(first) = first else {
        return say!("Out of memory: a request of {} does not fit", requested);
    };
    let place = |site: Site| name(site.place());
    let asked = case.code.sites(&[request(case, shortage)], Role::Requested).into_iter().next();
    if let Some(asked) = asked.filter(|_| extension(case, shortage).is_some()) {
        return say!(
            "Out of memory: extending a tensor to {} needs the old and the new one at once ({}), beside {}",
            requested,
            place(asked),
            named(first)
        );
    }
    let line = site_of(case, shortage, first.category).map(|site| {
        if MOST.is_exceeded(site.bytes, first.bytes) {
            return say!(", most below {}", place(site));
        }
        say!(", {} below {}", figure::bytes(site.bytes).of(first.bytes), place(site))
    });
    let second = second.map(|second| say!(", and {}", named(second)));
    let of = if shortage.is_refused_by_limit() { "exceed the limit on this process" } else { "do not fit" };
    say!("Out of memory: {}{}{}; {} more {}", named(first), line, second, requested, of)
}

/// The line that the title names.
pub(super) fn site(case: &Case<'_>, shortage: &Shortage) -> Option<Site> {
    if extension(case, shortage).is_some() {
        let stacks: Vec<StackBytes> = case.live_stacks();
        let stack = request(case, shortage).stack;
        let of_request: Vec<StackBytes> = stacks.into_iter().filter(|row| row.stack == stack).collect();
        return case.code.sites(&of_request, Role::Live).into_iter().next();
    }
    let [first, _] = largest(case);
    site_of(case, shortage, first?.category)
}

/// The blocks of the largest category that were made below the line that the title names, or all of it, and what they are.
/// None where the title is about one tensor that is extended.
pub(super) fn blocks(
    case: &Case<'_>,
    shortage: &Shortage,
    site: Option<&Site>,
) -> Option<(BTreeSet<AllocId>, &'static str)> {
    let [first, _] = largest(case);
    let category = first.filter(|_| extension(case, shortage).is_none())?.category;
    let lines = site.map(|site| case.code.lines_at(site));
    let is_below = |stack| lines.as_ref().is_none_or(|lines| case.code.passes(stack, lines));
    let blocks = case.live_of(category).filter(|a| is_below(a.stack)).map(|a| a.id).collect();
    Some((blocks, words(category)))
}

fn request(case: &Case<'_>, shortage: &Shortage) -> StackBytes {
    StackBytes { stack: request_stack(case, shortage), bytes: shortage.oom.requested, count: 1 }
}

/// The innermost line below which more than half of a category was made, else the line that made most of it. Of lines that
/// made about as much, as of keys and of values, the one that asked for more.
fn site_of(case: &Case<'_>, shortage: &Shortage, category: Category) -> Option<Site> {
    let stacks = by_stack(case.live_of(category).map(|a| (a.stack, a.size)));
    let all = stacks.iter().map(|row| row.bytes).sum::<Bytes>();
    let callers = callers_of(case, &stacks, Among::Made)
        .into_iter()
        .filter(|caller| MOST.is_exceeded(caller.bytes, all));
    let caller = callers.min_by_key(|caller| (caller.depth, Reverse(caller.bytes), caller.key));
    let site = caller.map(|caller| case.code.site(caller.key, caller.bytes, caller.count, Role::Live));
    let sites = case.code.sites(&stacks, Role::Live);
    let best = site.or_else(|| sites.first().cloned())?;
    let asked = case.code.sites(&[request(case, shortage)], Role::Requested);
    let has_asked = |site: &&Site| asked.iter().any(|asked| asked.place() == site.place());
    let is_alike = |site: &&Site| MOST.is_reached(site.bytes, best.bytes);
    Some(sites.iter().find(|site| has_asked(site) && is_alike(site)).cloned().unwrap_or(best))
}

/// The largest category, and the next if it is large as well.
fn largest(case: &Case<'_>) -> [Option<CategoryBytes>; 2] {
    let mut categories = case.largest_categories().into_iter();
    let is_large = |of: &CategoryBytes| MUCH.is_reached(of.bytes, case.live_bytes());
    [categories.next(), categories.next().filter(is_large)]
}

/// What is in use and was requested, beside what there is.
fn too_much(case: &Case<'_>, shortage: &Shortage) -> Sentence {
    let requested = figure::bytes(shortage.oom.requested);
    let rounding = with_rounding(case, shortage);
    let active = shortage.active_bytes;
    let had = if shortage.is_refused_by_limit() { None } else { shortage.available_bytes() };
    let had = had.unwrap_or(shortage.reserved_bytes);
    let (active, had) = (figure::bytes(active).of(had), figure::bytes(had));
    if shortage.excess_bytes().is_none_or(|excess| 0 < excess) {
        let of = if shortage.is_refused_by_limit() {
            "the limit on this process"
        } else {
            "what PyTorch could have"
        };
        say!("{} in use{} plus the requested {} exceed {}.", active, rounding, requested, of)
    } else {
        say!("{} of {} are in use{}, and no piece of {} is left.", active, had, rounding, requested)
    }
}

/// Describe how much is too much, what it is for, and how to make it smaller.
pub(super) fn describe(finding: &mut Finding, assessment: &Assessment<'_>, shortage: &Shortage) {
    let case = assessment.case;
    let excess = shortage.excess_bytes().unwrap_or_default();
    let requested = figure::bytes(shortage.oom.requested);
    if 0 < excess {
        finding.explain(say!("Even if what is reserved had no holes, {} less would have to be in use at this moment for the {} to fit.", figure::bytes(excess), requested));
    } else {
        finding.explain(in_pieces(shortage));
    }
    if case.phases().phase_at(case.moment) == Phase::Optimizer {
        finding.explain(if is_first_step(case) {
            "It happened in the optimizer's first step, which allocates the optimizer's state, on top of parameters and gradients."
        } else {
            "It happened in the optimizer's step."
        });
    }
    if let Some(available) = shortage.available_bytes().filter(|_| case.device_memory.is_none()) {
        held_elsewhere(finding, case.words, available);
    }
    if let Some(free) = shortage.free_bytes().filter(|_| shortage.is_refused_by_limit()) {
        advise_on_limit(finding, case, free);
    }
    advise_by_category(finding, assessment, shortage);
}

/// Code that lets PyTorch take all of the device.
const RAISE_LIMIT: &str = "torch.cuda.set_per_process_memory_fraction(1.0)   # and no per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF";

/// Say that the device had more, and how to get it.
fn advise_on_limit(finding: &mut Finding, case: &Case<'_>, free: Bytes) {
    finding.because(say!(
        "The device had {} free, but a limit kept this process from taking more.",
        figure::bytes(free)
    ));
    finding.advise_code(
        "Raise the limit of this process, if nothing else needs that memory:",
        case.words.code(RAISE_LIMIT).replace(CONF_VARIABLES[0], case.recording.snapshot().conf_variable()),
    );
}

/// Say what may be held outside of PyTorch if the device is larger than what PyTorch could have.
fn held_elsewhere(finding: &mut Finding, words: Words, available: Bytes) {
    let had = figure::bytes(available);
    if let Some(device) = larger_device(available) {
        finding.limit(say!("PyTorch could have {} in all, and few devices have so little. If this one has {}, something else holds {} of it: {} shows who, and --capacity with the device's memory takes it into account.", had, figure::bytes(device), figure::bytes(device - available).of(device), words.monitor));
    } else if available < USUAL_DEVICE_BYTES {
        finding.limit(say!("PyTorch could have only {} in all. If the device has more, something else holds the rest, and --capacity with the device's memory tells how much.", had));
    }
}

/// That there was enough memory for the request, but no piece of its size; as many holes as this every program has.
fn in_pieces(shortage: &Shortage) -> Sentence {
    let holes = figure::bytes(shortage.hole_bytes).of(shortage.reserved_bytes);
    let share = figure::share(shortage.hole_bytes, shortage.reserved_bytes);
    let free = shortage.free_bytes().filter(|_| !shortage.is_refused_by_limit());
    let free = free.map(|free| say!(" and the {} free on the device", figure::bytes(free)));
    say!(
        "In one piece, the {} in holes{} would have been just enough. With {} of what is reserved in holes, which is usual, there is too little memory rather than too little order.",
        holes,
        free,
        share
    )
}

/// Whether the step at the moment sets up the optimizer's state: none of it is older than this iteration.
fn is_first_step(case: &Case<'_>) -> bool {
    let current = case.repetitions.index_at(case.moment);
    let mut state = case.live_of(Category::OptimizerState).peekable();
    if state.peek().is_none() {
        return case.phases().iteration_at(case.moment) == Some(0);
    }
    current.is_some() && state.all(|a| case.repetition_of(a) == current)
}

/// Say what is too much, and advise on how to make the largest categories smaller.
fn advise_by_category(finding: &mut Finding, assessment: &Assessment<'_>, shortage: &Shortage) {
    let case = assessment.case;
    let limit = finding.why.take().map(|why| say!("{} ", why));
    finding.because(say!("{}{}", limit, too_much(case, shortage)));
    let [Some(largest), second] = largest(case) else { return };
    finding.limit_inferred(largest.category.label(), largest.bytes, largest.inferred_bytes);
    let is_fixed = is_there_whatever_the_batch(largest.category);
    if !is_fixed {
        finding.limit("How much of it scales with the batch is not in the recording.");
    }
    let (text, confirm) = advice_for(largest.category);
    finding.advise(text);
    // The advice for two categories of the same kind would be much the same.
    if let Some(second) = second.filter(|of| is_there_whatever_the_batch(of.category) != is_fixed) {
        finding.advise(advice_for(second.category).0);
    }
    finding.confirm(confirm);
}

/// Name the call below which most of the live memory was made, if the user's own code has one.
pub(super) fn name_caller(finding: &mut Finding, case: &Case<'_>) {
    let Some(caller) = main_caller(case, &case.live_stacks()) else { return };
    finding.explain(say!(
        "{} of what is in use were made below {}.",
        figure::bytes(caller.bytes).of(case.live_bytes()),
        name(case.code.label(caller.key))
    ));
    let site = case.code.site(caller.key, caller.bytes, caller.count, Role::Live);
    let sites = &mut finding.evidence.sites;
    if !sites.iter().any(|known| (&known.file, known.line) == (&site.file, site.line)) {
        sites.truncate(MAX_SITES - 1);
        add_sites(sites, vec![site], MAX_SITES);
    }
}

/// A category in a sentence.
fn words(category: Category) -> &'static str {
    match category {
        Category::Other => "tensors that the program keeps",
        Category::Unknown => "memory of unknown purpose",
        _ => category.label(),
    }
}

/// Whether a category does not depend on the batch.
fn is_there_whatever_the_batch(category: Category) -> bool {
    matches!(category, Category::Parameter | Category::OptimizerState | Category::Gradient)
}

/// Advice on how to make a category smaller, and a test that shows whether it is the reason.
fn advice_for(category: Category) -> (&'static str, &'static str) {
    match category {
        Category::Parameter => (
            "Make the model itself smaller: a lower precision (bfloat16, 8 or 4 bits), sharding it over several devices (FSDP, tensor or pipeline parallelism), offloading, or a smaller model.",
            "Count the parameters and multiply by the bytes of each.",
        ),
        Category::OptimizerState | Category::Gradient => (
            "Make smaller what training adds to each parameter: an optimizer with less state (8 bits, Adafactor, SGD), sharding it (FSDP, ZeRO), offloading, or training fewer parameters (LoRA). A smaller batch does not change this part.",
            "Halve the batch: the memory at the step should stay the same.",
        ),
        Category::KvCache => (
            "The cache grows with every token and every sequence: limit the length or the number of sequences, allocate it once at its final size instead of concatenating (which needs the old and the new one at once), use fewer or quantised heads, or a paged cache.",
            "Generate half as many tokens: the cache should be half as large.",
        ),
        _ => (
            "Make what is in use at this moment smaller. The lines named here hold most of it: a smaller batch or sequence length, activation checkpointing, a lower precision, or fewer copies.",
            "Half the batch should need about half of the activations; what stays is weights, gradients and optimizer state.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::is_first_step;
    use crate::case::{Case, DiagnosisRequest};
    use oomscope_analysis::{At, Attribution, UserRules};
    use oomscope_fixtures::programs::{FOREACH, Program, SIZES, STATE, train};
    use oomscope_program::{Run, Workload};

    /// Whether a program that allocates something after some iterations of training is in its first step then.
    fn is_first(iterations: usize, frames: &[&str]) -> bool {
        let mut program = Program::default();
        train(&mut program, iterations, None);
        program.alloc(SIZES[0], frames);
        let recording = program.finish();
        let attribution = Attribution::of(&recording, &UserRules::default());
        let request = DiagnosisRequest { at: Some(At::End), ..DiagnosisRequest::default() };
        let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
        is_first_step(&Case::new(&workload, request).expect("the moment exists"))
    }

    #[test]
    fn only_the_step_that_sets_up_state_is_the_first() {
        assert!(is_first(1, STATE));
        assert!(!is_first(3, FOREACH));
    }
}
