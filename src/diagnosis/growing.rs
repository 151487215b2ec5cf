//! Tensors that are replaced by larger ones in every round, as `queue = torch.cat([queue, keys])` does.

use super::{Context, StackBytes};
use crate::analysis::{Category, Phase};
use crate::model::{AllocId, Allocation, Moment, StackId};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// Smaller ones, as a share of what is in use, are not looked at.
const MIN_SHARE: f64 = 0.01;

/// Fewer rounds show no trend.
const MIN_ROUNDS: usize = 8;

/// Fewer steps of an optimizer may lie within one pass over a sequence, which is meant to grow.
const MIN_STEPS: usize = 4;

/// By how much increments may differ, as a share of their mean.
const REGULAR: f64 = 0.02;

/// What gets larger from round to round, by the same amount each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growing {
    /// Live bytes of the tensors that grow.
    pub bytes: i64,
    /// How many of these were not there in the first of the rounds.
    pub grown_bytes: i64,
    /// How much the first of these grows in a round.
    pub per_round_bytes: i64,
    /// Over how many rounds.
    pub rounds: usize,
    /// What made them: those that stay from round to round first, then fewest bytes first.
    pub stacks: Vec<StackBytes>,
    /// The allocations, in the same order.
    pub allocations: Vec<AllocId>,
}

/// What one stack holds now, and held before.
struct Series {
    stack: StackId,
    id: AllocId,
    sizes: Vec<i64>,
    /// Whether each was still there when the next was made.
    stays: bool,
}

impl Growing {
    /// What grows until a moment in training; `None` where nothing does.
    pub(super) fn of(context: &Context<'_>) -> Option<Self> {
        let candidates = candidates(context);
        let is_input = |series: &Series| context.category(series.id) == Category::Input;
        let constant = candidates.iter().filter(|series| is_input(series)).filter_map(Series::constant);
        let constant = constant.fold(0i64, i64::saturating_add);
        let mut series: Vec<Series> = candidates.into_iter().filter_map(Series::rising).collect();
        // Where batches grow, what is made of them does, too. Where they do not, an input that grows is
        // none of them.
        let grows_with_batch =
            series.iter().any(|series| is_input(series) && constant.saturating_mul(4) < series.first_size());
        if !series.iter().any(|series| series.stays) || grows_with_batch {
            return None;
        }
        let size = |series: &Series| series.sizes.last().copied().unwrap_or(0);
        // What others are made of is smaller than they are.
        series.sort_by_key(|series| (!series.stays, size(series), series.stack));
        let main = series.first()?;
        let sum = |of: &dyn Fn(&Series) -> i64| series.iter().map(of).fold(0, i64::saturating_add);
        Some(Self {
            bytes: sum(&size),
            grown_bytes: sum(&|series| size(series) - series.first_size()),
            per_round_bytes: (size(main) - main.first_size()) / (main.sizes.len() as i64 - 1).max(1),
            rounds: main.sizes.len(),
            stacks: series
                .iter()
                .map(|series| StackBytes { stack: series.stack, bytes: size(series), count: 1 })
                .collect(),
            allocations: series.iter().map(|series| series.id).collect(),
        })
    }
}

impl Series {
    fn first_size(&self) -> i64 {
        self.sizes.first().copied().unwrap_or(0)
    }

    /// The size, where it is the same in all rounds.
    fn constant(&self) -> Option<i64> {
        let is_constant = self.sizes.windows(2).all(|pair| pair[0] == pair[1]);
        (is_constant && MIN_ROUNDS <= self.sizes.len()).then(|| self.first_size())
    }

    /// The last rounds, in all of which it grew by the same amount.
    fn rising(mut self) -> Option<Self> {
        let steps: Vec<i64> = self.sizes.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let last = *steps.last()?;
        let is_regular = |step: &&i64| 0 < **step && ((**step - last) as f64).abs() <= last as f64 * REGULAR;
        let regular = steps.iter().rev().take_while(is_regular).count();
        self.sizes.drain(..steps.len() - regular);
        (MIN_ROUNDS <= self.sizes.len()).then_some(self)
    }
}

/// The sizes that the stacks of large live blocks allocated, the largest of each round.
fn candidates(context: &Context<'_>) -> Vec<Series> {
    let (timeline, rounds) = (context.timeline, &context.rounds);
    let least = (context.live_bytes() as f64 * MIN_SHARE) as i64;
    let mut live: HashMap<StackId, AllocId> = HashMap::default();
    // Inputs are looked at whatever their size: they explain what else grows.
    let counts = |a: &Allocation| least <= a.size || context.category(a.id) == Category::Input;
    for a in context.live.iter().filter(|a| a.stack != StackId::EMPTY && counts(a)) {
        let is_new = a.alloc_event().and_then(|event| rounds.round(event)).is_some();
        let grows = !matches!(
            context.category(a.id),
            Category::Parameter | Category::OptimizerState | Category::KvCache | Category::GraphPool
        );
        if is_new && grows {
            live.entry(a.stack).or_insert(a.id);
        }
    }
    if live.is_empty() || !has_steps(context) {
        return Vec::new();
    }
    // By stack and round: the largest.
    let mut made: HashMap<StackId, BTreeMap<usize, AllocId>> = HashMap::default();
    let size = |id: AllocId| timeline.lifetimes.size(id, &timeline.events);
    for id in timeline.lifetimes.ids() {
        let start = timeline.lifetimes.start(id);
        let stack = timeline.lifetimes.stack(id, &timeline.events);
        if context.moment < start || !live.contains_key(&stack) {
            continue;
        }
        let Some(round) = rounds.round_at(start) else { continue };
        let largest = made.entry(stack).or_default().entry(round).or_insert(id);
        if size(*largest) < size(id) {
            *largest = id;
        }
    }
    let series = |(stack, id): (StackId, AllocId)| {
        let made: Vec<AllocId> = made.remove(&stack).unwrap_or_default().into_values().collect();
        let outlives = |pair: &[AllocId]| {
            let gone = timeline.lifetimes.requested(pair[0]).or(timeline.lifetimes.end(pair[0]));
            gone.is_none_or(|gone| timeline.lifetimes.start(pair[1]) <= gone)
        };
        let stays = made.windows(2).filter(|pair| outlives(pair)).count() * 2 > made.len();
        Series { stack, id, sizes: made.into_iter().map(size).collect(), stays }
    };
    live.into_iter().map(series).collect()
}

/// Whether an optimizer steps again and again until the moment.
fn has_steps(context: &Context<'_>) -> bool {
    let starts = context.phases().phases.iter();
    let before = starts.filter(|start| Moment::after(start.event) <= context.moment);
    MIN_STEPS <= before.filter(|start| start.phase == Phase::Optimizer).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(sizes: &[i64]) -> Option<Vec<i64>> {
        let series = Series { stack: StackId(1), id: AllocId(0), sizes: sizes.to_vec(), stays: true };
        series.rising().map(|series| series.sizes)
    }

    #[test]
    fn what_grows_by_the_same_amount_rises() {
        let sizes: Vec<i64> = (0..9).map(|round| 100 + round * 10).collect();
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
