//! `no-copy`: a second copy of the model, such as a moving average, a reference or a teacher, that is not there.

use super::offer::{Effort, Offer, Part};
use super::passes::{Pass, passes};
use super::scene::Scene;
use crate::analysis::{Category, Phase};
use crate::model::{AllocId, Moment};
use std::collections::BTreeMap;

/// Blocks are a copy of what is trained if they cover this share of its bytes, size by size: buffers and what is frozen
/// in the original may be missing.
const COVERED: f64 = 0.9;

/// `no-copy`, where each trained parameter has a second block of its size that is not trained.
pub(super) fn offers<'a>(scene: &'a Scene<'a>) -> Vec<Offer<'a>> {
    let passes = passes(scene);
    let Some(copy) = copy(scene, &passes) else { return Vec::new() };
    let is_inferred = scene.are_inferred(&copy);
    let calls = calls(scene, &passes);
    let change = (Part::Copy, Effort::Lines);
    let offer = Offer::new("no-copy", "do without the second copy of the model", change, move |program| {
        program.leave_out_all(&copy);
        program.leave_out_all(&calls);
    });
    let offer = offer
        .code("ema = {k: v.cpu() for k, v in model.state_dict().items()}  # on the host, or no copy at all")
        .cost("the copy's results, or transfers: on the host, it is updated or used more slowly")
        .note("Calls of a model without gradients between a forward and its backward are taken to be those of the copy.")
        .error(0.05);
    vec![offer.inferred(is_inferred)]
}

/// The blocks of the copies: for each size, those beyond one for each gradient. Copies are made last.
fn copy(scene: &Scene<'_>, passes: &[Pass]) -> Option<Vec<AllocId>> {
    let trained = gradient_sizes(scene, passes)?;
    let mut by_size: BTreeMap<u64, Vec<AllocId>> = BTreeMap::new();
    for id in scene.of_category(Category::Parameter).into_iter().filter(|&id| is_lasting(scene, id)) {
        by_size.entry(scene.bytes(id)).or_default().push(id);
    }
    let (mut out, mut covered, mut all) = (Vec::new(), 0u64, 0u64);
    for (&size, &count) in &trained {
        let blocks = by_size.get(&size).map(Vec::as_slice).unwrap_or_default();
        let copies = blocks.len() / count.max(1);
        let bytes = size.saturating_mul(count as u64);
        all = all.saturating_add(bytes);
        if 2 <= copies {
            covered = covered.saturating_add(bytes);
            out.extend_from_slice(&blocks[blocks.len() - count * (copies - 1)..]);
        }
    }
    (all != 0 && COVERED * all as f64 <= covered as f64).then_some(out)
}

/// What calls of the copy allocate: calls that train nothing, before the backward of a pass.
fn calls(scene: &Scene<'_>, passes: &[Pass]) -> Vec<AllocId> {
    let (lifetimes, phases) = (&scene.timeline.lifetimes, &scene.attribution.phases);
    let before = passes.iter().map(|pass| (Moment(pass.events.start), Moment(pass.first_backward.start)));
    let made = before.flat_map(|(from, until)| lifetimes.started_between(from, until));
    made.filter(|&id| phases.phase_at(lifetimes.start(id)) == Phase::Eval).collect()
}

/// Whether a block is there for most of what was recorded after it was made: no temporary that looks like a parameter.
fn is_lasting(scene: &Scene<'_>, id: AllocId) -> bool {
    let lifetimes = &scene.timeline.lifetimes;
    let last = scene.timeline.events.len() as u32;
    let start = lifetimes.start(id).0;
    lifetimes.end(id).is_none_or(|end| (last - start) / 2 <= end.0.saturating_sub(start))
}

/// How many gradients of each size there are when a backward is over, in the pass with most; `None` if no backward was
/// recorded.
fn gradient_sizes(scene: &Scene<'_>, passes: &[Pass]) -> Option<BTreeMap<u64, usize>> {
    let lifetimes = &scene.timeline.lifetimes;
    // One that was recorded from its start on.
    let pass = passes.get(1).or(passes.first())?;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for id in lifetimes.live_at(Moment(pass.backward_end)) {
        if scene.category(id) == Category::Gradient {
            *counts.entry(scene.bytes(id)).or_default() += 1;
        }
    }
    Some(counts)
}
