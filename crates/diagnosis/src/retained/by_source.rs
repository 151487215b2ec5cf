//! The live memory of earlier repetitions, by its source.

use super::finished_caches::FinishedCaches;
use super::needed_later::NeededLater;
use super::repeated_models::repeated_models;
use super::source::Source;
use crate::case::Case;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, Bytes};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::MOST;
use std::collections::BTreeMap;

/// Memory of a source is settled if a repetition made it that is at least this many before the present one: the result of
/// the last repetition may well be in use.
pub(super) const SETTLED_AGE: usize = 2;

/// Memory from before the recording shows earlier repetitions if there are at least this many times as many allocations as
/// one repetition of the recording left: a layer or two more of the same line are no repetition.
const OLDER_REPETITIONS: usize = 2;

/// The live memory of one source, without that of the present repetition.
#[derive(Default)]
pub(super) struct FromSource<'a> {
    /// Bytes by the repetition that made them.
    pub(super) by_repetition: BTreeMap<usize, Bytes>,
    /// Number of allocations of the recording.
    recorded: usize,
    /// The allocations, those from before the recording included.
    pub(super) allocations: Vec<&'a Allocation>,
    /// Bytes from before the recording.
    pub(super) older_bytes: Bytes,
    /// Whether some are activations.
    pub(super) has_activations: bool,
    /// Whether some of those activations are from before the recording, so that their backward pass must be over.
    is_left_over: bool,
}

impl<'a> FromSource<'a> {
    /// Add an allocation of a repetition; `None` is before the recording.
    fn add(&mut self, a: &'a Allocation, repetition: Option<usize>, category: Category) {
        match repetition {
            Some(index) => {
                let bytes = self.by_repetition.entry(index).or_default();
                *bytes += a.size;
                self.recorded += 1;
            }
            None => self.older_bytes += a.size,
        }
        self.allocations.push(a);
        self.has_activations |= category == Category::Activation;
    }

    /// Whether several repetitions before the `current` one left something.
    pub(super) fn is_repeated(&self, current: usize) -> bool {
        let is_settled = self.by_repetition.keys().any(|&index| index + SETTLED_AGE <= current);
        self.is_left_over
            || (2 <= self.by_repetition.len() && is_settled)
            || self.continues_from_before(OLDER_REPETITIONS)
    }

    /// Whether repetitions of the recording go on with what at least `times` before it did.
    fn continues_from_before(&self, times: usize) -> bool {
        let each = self.recorded.div_ceil(self.by_repetition.len().max(1));
        0 < each && each.saturating_mul(times) <= self.allocations.len() - self.recorded
    }

    /// All its bytes.
    pub(super) fn bytes(&self) -> Bytes {
        self.allocations.iter().map(|a| a.size).sum::<Bytes>()
    }
}

/// The live memory of repetitions before `current`, by source. Memory from before the recording counts if repetitions of
/// the recording left something of the same stack, or if a backward pass has outdated it.
pub(super) fn by_source<'a>(case: &'a Case<'_>, current: usize) -> HashMap<Source, FromSource<'a>> {
    let has_trained = has_trained(case);
    let models = repeated_models(case);
    let needed_later = NeededLater::of(case);
    let finished_caches = FinishedCaches::of(case, current);
    // Blocks that wait for a stream were given back, so the program does not retain them.
    let given_back = case.awaiting();
    let mut by_source: HashMap<Source, FromSource<'a>> = HashMap::default();
    let counts = |a: &&Allocation| !given_back.contains(&a.id) && !needed_later.contains(case, a);
    for a in case.live.iter().filter(counts) {
        let Some(source) = Source::of(case, a) else { continue };
        let category = case.category(a.id);
        let piles_up = can_pile_up(category) || models.contains(&source) || finished_caches.contains(case, a);
        let repetition = match a.alloc_event() {
            Some(_) if !piles_up => continue,
            Some(event) => match case.repetitions.index_of(event) {
                Some(index) if index < current => Some(index),
                _ => continue,
            },
            // A size alone does not tie it to the code of the recording.
            None if source.stack().is_none() => continue,
            None => None,
        };
        let from = by_source.entry(source).or_default();
        from.add(a, repetition, category);
        from.is_left_over |= repetition.is_none() && has_trained && category == Category::Activation;
    }
    let copied = copied_parameters(case, &by_source);
    by_source.retain(|source, _| !copied.contains(source) || models.contains(source));
    by_source
}

/// Without stacks: the sizes of parameters, if memory of at least half of them stays. That may be gradients, copies or
/// averages, which stay for many reasons, unless it gets more and more.
fn copied_parameters(case: &Case<'_>, by_source: &HashMap<Source, FromSource<'_>>) -> HashSet<Source> {
    if !case.goes_by_size() {
        return HashSet::default();
    }
    let parameters = case.live_of(Category::Parameter);
    let mut sizes: HashSet<Source> = parameters.filter_map(|a| Source::of(case, a)).collect();
    let all = sizes.len();
    sizes.retain(|source| by_source.contains_key(source));
    let are_copied = SEVERAL <= sizes.len() && MOST.is_reached(sizes.len(), all);
    let pile_up = sizes.iter().filter(|size| by_source[*size].by_repetition.len() >= SEVERAL).count();
    if are_copied && !MOST.is_reached(pile_up, sizes.len()) { sizes } else { HashSet::default() }
}

/// Whether a step of the optimizer, and a forward pass after it, lie between the start of the recording
/// and the moment.
fn has_trained(case: &Case<'_>) -> bool {
    let step = case.starts_of(Phase::Optimizer).next();
    step.is_some() && step < case.starts_of(Phase::Forward).next_back()
}

/// Whether it is odd when repetitions leave memory of a category. Caches of keys and values are meant to grow.
fn can_pile_up(category: Category) -> bool {
    !matches!(
        category,
        Category::Parameter
            | Category::OptimizerState
            | Category::Comm
            | Category::KvCache
            | Category::GraphPool
    )
}
