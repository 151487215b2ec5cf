//! Parameters and optimizer state that are made again and again while the old ones stay: the models of earlier folds, or
//! the optimizers of earlier cycles.

use super::source::Source;
use crate::analysis::{Category, Phase};
use crate::diagnosis::case::Case;
use crate::diagnosis::numbers::SEVERAL;
use crate::diagnosis::share::MOST;
use crate::diagnosis::sum::SaturatingSum as _;
use crate::model::EventIx;
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// The live parameters, or the live optimizer state, of a source.
#[derive(Default)]
struct Made {
    /// The different numbers of optimizer steps that came before the allocations.
    after_steps: HashSet<usize>,
    /// Number of allocations by size.
    by_size: BTreeMap<i64, i64>,
}

impl Made {
    fn is_repeated(&self) -> bool {
        SEVERAL <= self.after_steps.len()
    }

    /// Whether most of the bytes exceed one allocation for each parameter.
    fn exceeds(&self, parameters: &BTreeMap<i64, i64>) -> bool {
        let bytes = |counts: &mut dyn Iterator<Item = (i64, i64)>| {
            counts.map(|(size, count)| size.saturating_mul(count)).saturating_sum()
        };
        let all = bytes(&mut self.by_size.iter().map(|(&size, &count)| (size, count)));
        let surplus = bytes(&mut self.by_size.iter().filter_map(|(&size, &count)| {
            let one_each = parameters.get(&size)?;
            Some((size, (count - one_each).max(0)))
        }));
        MOST.is_reached(surplus, all)
    }
}

/// The sources that made whole models between steps, or state for the same parameters.
pub(super) fn repeated_models(case: &Case<'_>) -> HashSet<Source> {
    let steps: Vec<EventIx> = case.starts_of(Phase::Optimizer).collect();
    let mut parameters: BTreeMap<i64, i64> = BTreeMap::new();
    let mut made: HashMap<(bool, Source), Made> = HashMap::default();
    for a in &case.live {
        let is_state = match case.category(a.id) {
            Category::Parameter => false,
            Category::OptimizerState => true,
            _ => continue,
        };
        if !is_state {
            *parameters.entry(a.size).or_default() += 1;
        }
        if let Some((event, source)) = a.alloc_event().zip(Source::of(case, a)) {
            let made = made.entry((is_state, source)).or_default();
            made.after_steps.insert(steps.partition_point(|&step| step <= event));
            *made.by_size.entry(a.size).or_default() += 1;
        }
    }
    made.retain(|_, made| made.is_repeated());
    // With several models, each may well have an optimizer. State alone must be more than one model needs.
    let has_models = made.keys().any(|&(is_state, _)| !is_state);
    let is_odd = |&(&(is_state, _), made): &(&(bool, Source), &Made)| {
        !is_state || has_models || made.exceeds(&parameters)
    };
    made.iter().filter(is_odd).map(|(&(_, source), _)| source).collect()
}
