//! `no-copy`: a second copy of the model, such as a moving average, a reference or a teacher, that is not there.

use super::offer::{Effort, Offer, Part};
use super::scene::Scene;
use crate::analysis::{Category, Phase};
use crate::model::{AllocId, Moment, StackId};
use crate::program::{TrainingStep, training_steps};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// Blocks are a copy of what is trained if they cover this share of its bytes, size by size: buffers and what is frozen
/// in the original may be missing.
const COVERED: f64 = 0.9;

/// Copies are made in the order of what is copied if this share of neighbours agrees: a module's own parameters come before
/// those of its parts in one, and behind them in the other.
const IN_ORDER: f64 = 0.75;

/// `no-copy`, where each trained parameter has a second block of its size that is not trained.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let steps = training_steps(&scene.run);
    let Some(copy) = copy(scene, &steps) else { return Vec::new() };
    let is_inferred = scene.run.are_inferred(&copy);
    let calls = calls(scene, &steps);
    let change = (Part::Copy, Effort::Lines);
    let offer = Offer::new("no-copy", "do without the second copy of the model", change, move |program| {
        program.leave_out_all(&copy);
        program.leave_out_all(&calls);
    });
    let offer = offer
        .code("ema = {k: v.cpu() for k, v in model.state_dict().items()}  # on the host, or no copy at all")
        .cost("the copy's results, or transfers: on the host, it is updated or used more slowly")
        .note("Calls of a model without gradients between a forward and its backward are taken to be those of the copy.");
    vec![offer.inferred(is_inferred)]
}

/// The blocks of the copies: for each size, those beyond one for each gradient. Copies are made last.
fn copy(scene: &Scene<'_>, steps: &[TrainingStep]) -> Option<Vec<AllocId>> {
    let trained = gradient_sizes(scene, steps)?;
    let mut by_size: BTreeMap<u64, Vec<AllocId>> = BTreeMap::new();
    for id in scene.run.of_category(Category::Parameter).into_iter().filter(|&id| is_lasting(scene, id)) {
        by_size.entry(scene.run.bytes(id)).or_default().push(id);
    }
    let (mut originals, mut out) = (Vec::new(), Vec::new());
    let (mut covered, mut all) = (0u64, 0u64);
    for (&size, &count) in &trained {
        let blocks = by_size.get(&size).map(Vec::as_slice).unwrap_or_default();
        let copies = blocks.len() / count.max(1);
        let bytes = size.saturating_mul(count as u64);
        all = all.saturating_add(bytes);
        if 2 <= copies {
            covered = covered.saturating_add(bytes);
            let (first, last) = blocks.split_at(blocks.len() - count * (copies - 1));
            originals.extend_from_slice(&first[first.len() - count..]);
            out.extend_from_slice(last);
        }
    }
    let is_copied = all != 0 && COVERED * all as f64 <= covered as f64;
    (is_copied && are_made_elsewhere(scene, &originals, &out) && is_in_order(scene, originals, &mut out))
        .then_some(out)
}

/// Whether other code made copies than what they are copies of. Else they may be parts of one model that are not trained.
fn are_made_elsewhere(scene: &Scene<'_>, originals: &[AllocId], copies: &[AllocId]) -> bool {
    let known: HashSet<StackId> = originals.iter().map(|&id| scene.run.timeline.stack(id)).collect();
    let is_other = |&id: &AllocId| {
        let stack = scene.run.timeline.stack(id);
        stack != StackId::EMPTY && !known.contains(&stack)
    };
    let bytes =
        |ids: &mut dyn Iterator<Item = AllocId>| ids.map(|id| u128::from(scene.run.bytes(id))).sum::<u128>();
    let all = bytes(&mut copies.iter().copied());
    COVERED * all as f64 <= bytes(&mut copies.iter().copied().filter(is_other)) as f64
}

/// Whether copies were made in the order of what they are copies of. Of memory from before the recording, the order is not
/// known.
fn is_in_order(scene: &Scene<'_>, mut originals: Vec<AllocId>, copies: &mut [AllocId]) -> bool {
    originals.sort_unstable();
    copies.sort_unstable();
    let initial = scene.run.timeline.lifetimes.initial_count();
    if originals.first().is_none_or(|id| id.index() < initial) {
        return !originals.is_empty();
    }
    let of = neighbours(scene, &originals);
    let agreeing: usize = neighbours(scene, copies)
        .iter()
        .filter_map(|(pair, &n)| Some(n.min(of.get(pair)? * copies.len() / originals.len())))
        .sum();
    IN_ORDER * copies.len().saturating_sub(1) as f64 <= agreeing as f64
}

/// How often blocks of two sizes follow each other.
fn neighbours(scene: &Scene<'_>, blocks: &[AllocId]) -> BTreeMap<[u64; 2], usize> {
    let mut out = BTreeMap::new();
    for pair in blocks.windows(2) {
        *out.entry([scene.run.bytes(pair[0]), scene.run.bytes(pair[1])]).or_default() += 1;
    }
    out
}

/// What calls of the copy allocate: calls that train nothing, before the backward of a pass.
fn calls(scene: &Scene<'_>, steps: &[TrainingStep]) -> Vec<AllocId> {
    let (lifetimes, phases) = (&scene.run.timeline.lifetimes, &scene.run.attribution.phases);
    let before = steps.iter().map(|step| (Moment(step.events.start), Moment(step.first_backward.start)));
    let made = before.flat_map(|(from, until)| lifetimes.started_between(from, until));
    made.filter(|&id| phases.phase_at(lifetimes.start(id)) == Phase::Eval).collect()
}

/// Whether a block is there for most of what was recorded after it was made: no temporary that looks like a parameter.
fn is_lasting(scene: &Scene<'_>, id: AllocId) -> bool {
    let lifetimes = &scene.run.timeline.lifetimes;
    let last = scene.run.timeline.events.len() as u32;
    let start = lifetimes.start(id).0;
    lifetimes.end(id).is_none_or(|end| (last - start) / 2 <= end.0.saturating_sub(start))
}

/// How many gradients of each size there are when a backward is over, in the pass with most; `None` if no backward was
/// recorded.
fn gradient_sizes(scene: &Scene<'_>, steps: &[TrainingStep]) -> Option<BTreeMap<u64, usize>> {
    let lifetimes = &scene.run.timeline.lifetimes;
    // One that was recorded from its start on.
    let step = steps.get(1).or(steps.first())?;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for id in lifetimes.live_at(Moment(step.backward_end)) {
        if scene.run.category(id) == Category::Gradient {
            *counts.entry(scene.run.bytes(id)).or_default() += 1;
        }
    }
    Some(counts)
}
