//! Parameters and optimizer state that are made again and again while the old ones stay: the models of
//! earlier folds, or the optimizers of earlier cycles.

use super::source::Source;
use crate::analysis::{Category, Phase};
use crate::diagnosis::Context;
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Two models, or a generator and its adversary with an optimizer each, are nothing odd.
const MIN_SETS: usize = 3;

/// What is live of a source.
#[derive(Default)]
struct Made {
    /// How many steps of an optimizer came before each.
    after_steps: HashSet<usize>,
    by_size: BTreeMap<i64, i64>,
}

impl Made {
    fn is_repeated(&self) -> bool {
        MIN_SETS <= self.after_steps.len()
    }

    /// Whether most of the bytes are more than one for each parameter.
    fn exceeds(&self, parameters: &BTreeMap<i64, i64>) -> bool {
        let bytes = |counts: &mut dyn Iterator<Item = (i64, i64)>| {
            counts.fold(0i64, |sum, (size, count)| sum.saturating_add(size.saturating_mul(count)))
        };
        let all = bytes(&mut self.by_size.iter().map(|(&size, &count)| (size, count)));
        let surplus = bytes(&mut self.by_size.iter().filter_map(|(&size, &count)| {
            let one_each = parameters.get(&size)?;
            Some((size, (count - one_each).max(0)))
        }));
        all / 2 < surplus
    }
}

/// What made whole sets of parameters, or of state for the same parameters, between steps.
pub(super) fn renewed(context: &Context<'_>) -> HashSet<Source> {
    let phases = &context.phases().phases;
    let steps: Vec<u32> =
        phases.iter().filter(|start| start.phase == Phase::Optimizer).map(|start| start.event.0).collect();
    let mut parameters: BTreeMap<i64, i64> = BTreeMap::new();
    let mut made: HashMap<(bool, Source), Made> = HashMap::default();
    for a in &context.live {
        let is_state = match context.category(a.id) {
            Category::Parameter => false,
            Category::OptimizerState => true,
            _ => continue,
        };
        if !is_state {
            *parameters.entry(a.size).or_default() += 1;
        }
        if let Some((event, source)) = a.alloc_event().zip(Source::of(context, a)) {
            let made = made.entry((is_state, source)).or_default();
            made.after_steps.insert(steps.partition_point(|&step| step <= event.0));
            *made.by_size.entry(a.size).or_default() += 1;
        }
    }
    made.retain(|_, made| made.is_repeated());
    let has_models = made.keys().any(|&(is_state, _)| !is_state);
    let is_renewed = |&(&(is_state, _), made): &(&(bool, Source), &Made)| {
        !is_state || has_models || made.exceeds(&parameters)
    };
    made.iter().filter(is_renewed).map(|(&(_, source), _)| source).collect()
}
