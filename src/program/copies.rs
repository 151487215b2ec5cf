//! Second copies of a model, such as a moving average, a reference or a teacher.

use super::run::Run;
use super::training_steps::{TrainingStep, training_steps};
use crate::analysis::Category;
use crate::model::{AllocId, Moment, StackId};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// Blocks are a copy of what is trained if they cover this share of its bytes, size by size: buffers and what is frozen
/// in the original may be missing.
const COVERED: f64 = 0.9;

/// Copies are made in the order of what is copied if this share of neighbours agrees: a module's own parameters come before
/// those of its parts in one, and behind them in the other.
const IN_ORDER: f64 = 0.75;

/// A copy of what is trained, which is not trained itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelCopy {
    /// Its blocks, in their order.
    pub blocks: Vec<AllocId>,
}

/// The copies of a run, in the order in which they were made: where each trained parameter has further blocks of its size.
pub fn copies(run: &Run<'_>) -> Vec<ModelCopy> {
    find(run).unwrap_or_default()
}

/// For each size, the blocks beyond one for each gradient. Copies are made last.
fn find(run: &Run<'_>) -> Option<Vec<ModelCopy>> {
    let trained = gradient_sizes(run, &training_steps(run))?;
    let mut by_size: BTreeMap<u64, Vec<AllocId>> = BTreeMap::new();
    for id in run.of_category(Category::Parameter).into_iter().filter(|&id| is_lasting(run, id)) {
        by_size.entry(run.bytes(id)).or_default().push(id);
    }
    let (mut originals, mut copies) = (Vec::new(), Vec::<ModelCopy>::new());
    let (mut covered, mut all) = (0u64, 0u64);
    for (&size, &count) in &trained {
        let blocks = by_size.get(&size).map(Vec::as_slice).unwrap_or_default();
        let number = (blocks.len() / count.max(1)).saturating_sub(1);
        let bytes = size.saturating_mul(count as u64);
        all = all.saturating_add(bytes);
        if 1 <= number {
            covered = covered.saturating_add(bytes);
            let (first, last) = blocks.split_at(blocks.len() - count * number);
            originals.extend_from_slice(&first[first.len() - count..]);
            copies.resize(copies.len().max(number), ModelCopy::default());
            copies.iter_mut().zip(last.chunks(count)).for_each(|(copy, of_size)| copy.blocks.extend(of_size));
        }
    }
    let mut blocks: Vec<AllocId> = copies.iter().flat_map(|copy| copy.blocks.iter().copied()).collect();
    let is_copied = all != 0 && COVERED * all as f64 <= covered as f64;
    for copy in &mut copies {
        copy.blocks.sort_unstable();
    }
    (is_copied && are_made_elsewhere(run, &originals, &blocks) && is_in_order(run, originals, &mut blocks))
        .then_some(copies)
}

/// Whether other code made copies than what they are copies of. Else they may be parts of one model that are not trained.
fn are_made_elsewhere(run: &Run<'_>, originals: &[AllocId], copies: &[AllocId]) -> bool {
    let known: HashSet<StackId> = originals.iter().map(|&id| run.timeline.stack(id)).collect();
    let is_other = |&id: &AllocId| {
        let stack = run.timeline.stack(id);
        stack != StackId::EMPTY && !known.contains(&stack)
    };
    let bytes =
        |ids: &mut dyn Iterator<Item = AllocId>| ids.map(|id| u128::from(run.bytes(id))).sum::<u128>();
    let all = bytes(&mut copies.iter().copied());
    COVERED * all as f64 <= bytes(&mut copies.iter().copied().filter(is_other)) as f64
}

/// Whether copies were made in the order of what they are copies of. Of memory from before the recording, the order is not
/// known.
fn is_in_order(run: &Run<'_>, mut originals: Vec<AllocId>, copies: &mut [AllocId]) -> bool {
    originals.sort_unstable();
    copies.sort_unstable();
    let initial = run.timeline.lifetimes.initial_count();
    if originals.first().is_none_or(|id| id.index() < initial) {
        return !originals.is_empty();
    }
    let of = neighbours(run, &originals);
    let agreeing: usize = neighbours(run, copies)
        .iter()
        .filter_map(|(pair, &n)| Some(n.min(of.get(pair)? * copies.len() / originals.len())))
        .sum();
    IN_ORDER * copies.len().saturating_sub(1) as f64 <= agreeing as f64
}

/// How often blocks of two sizes follow each other.
fn neighbours(run: &Run<'_>, blocks: &[AllocId]) -> BTreeMap<[u64; 2], usize> {
    let mut out = BTreeMap::new();
    for pair in blocks.windows(2) {
        *out.entry([run.bytes(pair[0]), run.bytes(pair[1])]).or_default() += 1;
    }
    out
}

/// Whether a block is there for most of what was recorded after it was made: no temporary that looks like a parameter.
fn is_lasting(run: &Run<'_>, id: AllocId) -> bool {
    let lifetimes = &run.timeline.lifetimes;
    let last = run.timeline.events.len() as u32;
    let start = lifetimes.start(id).0;
    lifetimes.end(id).is_none_or(|end| (last - start) / 2 <= end.0.saturating_sub(start))
}

/// How many gradients of each size there are when a backward is over, in the pass with most; `None` if no backward was
/// recorded.
fn gradient_sizes(run: &Run<'_>, steps: &[TrainingStep]) -> Option<BTreeMap<u64, usize>> {
    let lifetimes = &run.timeline.lifetimes;
    // One that was recorded from its start on.
    let step = steps.get(1).or(steps.first())?;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for id in lifetimes.live_at(Moment(step.backward_end)) {
        if run.category(id) == Category::Gradient {
            *counts.entry(run.bytes(id)).or_default() += 1;
        }
    }
    Some(counts)
}
