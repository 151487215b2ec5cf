//! Parameters and optimizer state that are made again and again while the old ones stay: the models of earlier folds, or
//! the optimizers of earlier cycles.

use super::source::Source;
use crate::case::Case;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, EventIx};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::MOST;

/// The live parameters, or the live optimizer state, of a source.
#[derive(Default)]
struct Made<'a> {
    /// The different numbers of optimizer steps that came before the allocations.
    after_steps: HashSet<usize>,
    blocks: Vec<&'a Allocation>,
}

/// The sources that made whole models between steps, or state for the same parameters.
pub(super) fn repeated_models(case: &Case<'_>) -> HashSet<Source> {
    let steps: Vec<EventIx> = case.starts_of(Phase::Optimizer).collect();
    let mut made: HashMap<(bool, Source), Made<'_>> = HashMap::default();
    for a in &case.live {
        let is_state = match case.category(a.id) {
            Category::Parameter => false,
            Category::OptimizerState => true,
            _ => continue,
        };
        if let Some((event, source)) = a.alloc_event().zip(Source::of(case, a)) {
            let made = made.entry((is_state, source)).or_default();
            made.after_steps.insert(steps.partition_point(|&step| step <= event));
            made.blocks.push(a);
        }
    }
    made.retain(|_, made| SEVERAL <= made.after_steps.len());
    // With several models, each may well have an optimizer. State alone must be more than one model needs.
    let has_models = made.keys().any(|&(is_state, _)| !is_state);
    let parameters = case.sizes(case.live_of(Category::Parameter));
    let exceeds_one_each = |made: &Made<'_>| {
        let sizes = case.sizes(made.blocks.iter().copied());
        MOST.is_reached(sizes.bytes() - sizes.shared_bytes(&parameters), sizes.bytes())
    };
    let is_odd = |&(&(is_state, _), made): &(&(bool, Source), &Made<'_>)| {
        !is_state || has_models || exceeds_one_each(made)
    };
    made.iter().filter(is_odd).map(|(&(_, source), _)| source).collect()
}
