//! Tensors that are replaced by larger ones in every repetition, as `queue = torch.cat([queue, keys])` does.

use super::case::{Case, Noun, largest_by_repetition};
use super::finding::StackBytes;
use foldhash::HashMap;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{AllocId, Allocation, Bytes, StackId};
use oomscope_program::numbers::{MANY, SEVERAL};
use oomscope_program::share::{MOST, MUCH, SAME, TRACE};

/// The tensors that get larger in every repetition, by the same amount each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GrowingTensors {
    /// Their live bytes.
    pub(super) bytes: Bytes,
    /// Bytes that they had not in the first of the repetitions.
    pub(super) grown_bytes: Bytes,
    /// Bytes by which the first of them grows in a repetition.
    pub(super) per_repetition_bytes: Bytes,
    /// What a repetition is called.
    pub(super) noun: Noun,
    /// Number of repetitions.
    pub(super) repetitions: usize,
    /// Their stacks: those of tensors that stay from one repetition to the next first, then fewest bytes first.
    pub(super) stacks: Vec<StackBytes>,
    /// The tensors, in the order of their stacks.
    pub(super) allocations: Vec<AllocId>,
}

/// The largest allocation of a stack in each repetition.
struct Series {
    stack: StackId,
    /// The one that is live at the moment.
    id: AllocId,
    /// Sizes in the order of the repetitions, of which there is at least one.
    sizes: Vec<Bytes>,
    /// Whether most of them were still there when the next was made.
    stays: bool,
}

impl GrowingTensors {
    /// The tensors that grow until the moment of a case in training or evaluation; `None` if there are none.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let candidates = candidates(case);
        let is_input = |series: &Series| case.category(series.id) == Category::Input;
        let constant = candidates.iter().filter(|series| is_input(series)).filter_map(Series::constant);
        let constant = constant.sum::<Bytes>();
        let mut series: Vec<Series> = candidates.into_iter().filter_map(Series::rising).collect();
        // If batches grow, everything that is computed from them grows as well, and nothing is wrong. If most of the
        // inputs stay the same, an input that grows is no batch.
        let grows_with_batch =
            series.iter().any(|series| is_input(series) && !MUCH.is_reached(constant, series.first_size()));
        if !series.iter().any(|series| series.stays) || grows_with_batch {
            return None;
        }
        // Smaller tensors come first, since larger ones are made of them.
        series.sort_by_key(|series| (!series.stays, series.last_size(), series.stack));
        let main = series.first()?;
        let sum = |of: &dyn Fn(&Series) -> Bytes| series.iter().map(of).sum::<Bytes>();
        Some(Self {
            bytes: sum(&Series::last_size),
            grown_bytes: sum(&|series| series.last_size() - series.first_size()),
            per_repetition_bytes: (main.last_size() - main.first_size())
                / (main.sizes.len() as i64 - 1).max(1),
            repetitions: main.sizes.len(),
            noun: case
                .repetitions
                .noun(series.iter().filter_map(|one| case.recording.allocation(one.id).alloc_event())),
            stacks: series
                .iter()
                .map(|series| StackBytes { stack: series.stack, bytes: series.last_size(), count: 1 })
                .collect(),
            allocations: series.iter().map(|series| series.id).collect(),
        })
    }
}

impl Series {
    fn first_size(&self) -> Bytes {
        self.sizes.first().copied().unwrap_or_default()
    }

    fn last_size(&self) -> Bytes {
        self.sizes.last().copied().unwrap_or_default()
    }

    /// The size, if it is the same in all repetitions.
    fn constant(&self) -> Option<Bytes> {
        let is_constant = self.sizes.windows(2).all(|pair| pair[0] == pair[1]);
        (is_constant && MANY <= self.sizes.len()).then(|| self.first_size())
    }

    /// The last repetitions, in all of which it grew by the same amount.
    fn rising(mut self) -> Option<Self> {
        let steps: Vec<Bytes> = self.sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let last = *steps.last()?;
        let is_regular = |step: &&Bytes| SAME.is_reached((**step).min(last), (**step).max(last));
        let regular = steps.iter().rev().take_while(is_regular).count();
        self.sizes.drain(..steps.len() - regular);
        (MANY <= self.sizes.len()).then_some(self)
    }
}

/// The sizes that the stacks of live blocks allocated over the repetitions.
fn candidates(case: &Case<'_>) -> Vec<Series> {
    let live = growable(case);
    let has_steps = SEVERAL <= case.starts_of(Phase::Optimizer).count();
    if live.is_empty() || !(has_steps || has_loads(case)) {
        return Vec::new();
    }
    let mut largest = largest_by_repetition(case, |stack| live.contains_key(&stack));
    let timeline = case.recording.timeline();
    let outlives = |pair: &[AllocId]| {
        timeline.gone(pair[0]).is_none_or(|gone| timeline.lifetimes.start(pair[1]) <= gone)
    };
    let series = |(stack, id): (StackId, AllocId)| {
        let made: Vec<AllocId> = largest.remove(&stack).unwrap_or_default().into_values().collect();
        debug_assert!(!made.is_empty(), "the live block is of a repetition");
        let stays = MOST.is_reached(made.windows(2).filter(|pair| outlives(pair)).count(), made.len());
        Series { stack, id, sizes: made.into_iter().map(|id| timeline.size(id)).collect(), stays }
    };
    live.into_iter().map(series).collect()
}

/// The largest live block of each stack, of those that are large and may not grow on purpose.
fn growable(case: &Case<'_>) -> HashMap<StackId, AllocId> {
    let mut live: HashMap<StackId, AllocId> = HashMap::default();
    // Small inputs are needed, too: they show whether the batch grows.
    let counts = |a: &Allocation| {
        TRACE.is_reached(a.size, case.live_bytes()) || case.category(a.id) == Category::Input
    };
    for a in case.live.iter().filter(|a| a.stack != StackId::EMPTY && counts(a)) {
        let grows_on_purpose = matches!(
            case.category(a.id),
            Category::Parameter | Category::OptimizerState | Category::KvCache | Category::GraphPool
        );
        if case.repetition_of(a).is_some() && !grows_on_purpose {
            // Live blocks are ordered by size, so the first of a stack is its largest.
            live.entry(a.stack).or_insert(a.id);
        }
    }
    live
}

/// Whether a batch is loaded for each call of a model: then these are no steps of one generation, which grows by design.
fn has_loads(case: &Case<'_>) -> bool {
    let calls = case.phases().calls.iter().filter(|call| call.event.0 < case.moment.0).count();
    MANY.max(calls) <= case.starts_of(Phase::Data).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(sizes: &[i64]) -> Option<Vec<i64>> {
        let series = Series {
            stack: StackId(1),
            id: AllocId(0),
            sizes: sizes.iter().copied().map(Bytes).collect(),
            stays: true,
        };
        series.rising().map(|series| series.sizes.iter().map(|size| size.0).collect())
    }

    #[test]
    fn what_grows_by_the_same_amount_rises() {
        let sizes: Vec<i64> = (0..9).map(|n| 100 + n * 10).collect();
        assert_eq!(rising(&sizes), Some(sizes.clone()));
        let before = [vec![300, 90], sizes.clone()].concat();
        assert_eq!(rising(&before), Some([vec![90], sizes.clone()].concat()));
        assert_eq!(rising(&sizes[..5]), None);
    }

    #[test]
    fn batches_sorted_by_length_do_not() {
        assert_eq!(rising(&[10, 13, 15, 21, 22, 30, 31, 38, 44, 52]), None);
        assert_eq!(rising(&[10; 20]), None);
    }
}
