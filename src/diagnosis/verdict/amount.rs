//! Too much in use, in words: what it is, where it comes from, and what to make smaller.

use crate::analysis::{Category, Phase};
use crate::diagnosis::below::call_of_most;
use crate::diagnosis::code::add_sites;
use crate::diagnosis::inferred::amount;
use crate::diagnosis::{Context, Finding, Role, Shortage, detectors};
use crate::units;

/// A second category with this share of what is in use is named as well.
const LARGE_SHARE: f64 = 0.25;

/// Devices that PyTorch can have less of than this are rare.
const USUAL_DEVICE_BYTES: i64 = 6 << 30;

/// Whether the step at the moment sets up the optimizer's state: none of it is older than this iteration.
fn is_first_step(context: &Context<'_>) -> bool {
    let current = context.rounds.round_at(context.moment);
    let mut state =
        context.live.iter().filter(|a| context.category(a.id) == Category::OptimizerState).peekable();
    if state.peek().is_none() {
        return context.phases().iteration_at(context.moment) == Some(0);
    }
    current.is_some()
        && state.all(|a| a.alloc_event().and_then(|event| context.rounds.round(event)) == current)
}

/// What to make smaller depends on what there is most of.
pub(super) fn advice(finding: &mut Finding, context: &Context<'_>, shortage: &Shortage) {
    if context.phases().phase_at(context.moment) == Phase::Optimizer {
        finding.explain(if is_first_step(context) {
            "It happened in the optimizer's first step, which allocates the optimizer's state, on top of parameters and gradients."
        } else {
            "It happened in the optimizer's step."
        });
    }
    if context.device_memory.is_none()
        && let Some(available) = shortage.available_bytes().filter(|&bytes| bytes < USUAL_DEVICE_BYTES)
    {
        finding.limit(format!(
            "PyTorch could have only {} in all. If the device has more, something else holds the rest, and --capacity with the device's memory tells how much.",
            units::bytes(available)
        ));
    }
    let mut categories: Vec<(Category, i64)> =
        Category::ALL.into_iter().map(|category| (category, context.bytes_of(category))).collect();
    categories.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let [(category, bytes), second, ..] = categories[..] else { return };
    if bytes <= 0 {
        return;
    }
    let named = |(category, bytes): (Category, i64)| {
        format!("{} ({})", category.label(), amount(bytes, context.inferred_bytes_of(category)))
    };
    let second =
        Some(second).filter(|&(_, bytes)| LARGE_SHARE <= Context::share(bytes, context.live_bytes()));
    let then = second.map_or_else(String::new, |second| format!(", then {}", named(second)));
    finding.explain(format!("Most of what is in use is {}{then}.", named((category, bytes))));
    finding.limit_inferred(category.label(), bytes, context.inferred_bytes_of(category));
    let is_fixed = is_there_whatever_the_batch(category);
    if !is_fixed && !detectors::knows_batch(context) {
        finding.limit("How much of it scales with the batch is only known where the recording holds iterations of different size.");
    }
    let (text, confirm) = of_category(category);
    finding.advise(text);
    if let Some((second, _)) = second.filter(|&(second, _)| is_there_whatever_the_batch(second) != is_fixed) {
        finding.advise(of_category(second).0);
    }
    finding.confirm = Some(confirm.to_owned());
}

/// The call below which most of it was made, where one of the program's own lines is.
pub(super) fn call(finding: &mut Finding, context: &Context<'_>, max_sites: usize) {
    let Some((key, below)) = call_of_most(context, &context.live_stacks()) else { return };
    finding.explain(format!(
        "{} of what is in use were made below {}.",
        units::bytes(below.bytes),
        context.code.label(key)
    ));
    let site = context.code.site(key, below.bytes, below.count, Role::Live);
    let sites = &mut finding.evidence.sites;
    if !sites.iter().any(|known| (&known.file, known.line) == (&site.file, site.line)) {
        sites.truncate(max_sites.saturating_sub(1));
        add_sites(sites, vec![site], max_sites);
    }
}

fn is_there_whatever_the_batch(category: Category) -> bool {
    matches!(category, Category::Parameter | Category::OptimizerState | Category::Gradient)
}

/// What to do about much of a category, and how to see that it is that.
fn of_category(category: Category) -> (&'static str, &'static str) {
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
    use crate::analysis::program_fixture::{FOREACH, Program, SIZES, STATE, train};
    use crate::analysis::{At, Attribution, UserRules};
    use crate::diagnosis::{Context, Question};

    /// Whether a program that is trained for so many iterations ends within its first step, of which it allocated
    /// something at some stack.
    fn is_first(iterations: usize, frames: &[&str]) -> bool {
        let mut program = Program::default();
        train(&mut program, iterations, None);
        program.alloc(SIZES[0], frames);
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let attribution = Attribution::of(&snapshot, timeline, &UserRules::default());
        let question = Question { at: Some(At::End), ..Question::default() };
        is_first_step(&Context::new(&snapshot, timeline, &attribution, question).expect("the moment exists"))
    }

    #[test]
    fn only_the_step_that_sets_up_state_is_the_first() {
        assert!(is_first(1, STATE));
        assert!(!is_first(3, FOREACH));
    }
}
