//! Allocations without stacks, told apart by sizes, lifetimes and order.

use super::assign::Scene;
use super::pairing::{Sizes, gradients};
use super::stackless;
use super::{Category, Reason, Verdict};
use crate::analysis::flow::Act;
use crate::model::{AllocId, Origin, Segment, StackId};
use std::collections::BTreeMap;

/// Sizes below this share of all bytes do not speak against a pattern.
const NEGLIGIBLE: i64 = 200;

/// Fill in what no stack could tell.
pub(super) fn fill(scene: &Scene<'_>, verdicts: &mut [Verdict]) {
    let open: Vec<AllocId> =
        scene.ids().filter(|id| verdicts.get(id.index()).is_some_and(|&v| is_open(v))).collect();
    if open.is_empty() {
        return;
    }
    let was_recorded = scene.ids().take(scene.timeline.lifetimes.initial_count()).any(|id| {
        scene.stack(id) != StackId::EMPTY
            && verdicts.get(id.index()).is_some_and(|v| v.0 == Category::Parameter)
    });
    let has_block_stacks = scene.has_stacks_at_end();
    let mut rest = Vec::new();
    for id in open {
        let is_at_end = scene.timeline.lifetimes.end(id).is_none();
        let is_old = scene.timeline.lifetimes.origin(id) == Origin::Before;
        // Where blocks have stacks, one without was allocated by a thread that runs no Python.
        let is_bare = scene.stack(id) == StackId::EMPTY;
        let by_engine = is_at_end && is_bare && has_block_stacks && (!is_old || was_recorded);
        if by_engine {
            set(verdicts, id, (Category::Gradient, Reason::Backward));
        } else {
            rest.push(id);
        }
    }
    let (old, new): (Vec<AllocId>, Vec<AllocId>) =
        rest.into_iter().partition(|&id| scene.timeline.lifetimes.origin(id) == Origin::Before);
    settle_old(scene, &old, verdicts);
    stackless::settle(scene, &new, verdicts);
}

fn is_open(verdict: Verdict) -> bool {
    verdict == (Category::Unknown, Reason::Nothing)
}

pub(super) fn set(verdicts: &mut [Verdict], id: AllocId, verdict: Verdict) {
    if let Some(slot) = verdicts.get_mut(id.index()) {
        *slot = verdict;
    }
}

/// Blocks from before the recording: what stays is parameters and state, by size and address.
fn settle_old(scene: &Scene<'_>, old: &[AllocId], verdicts: &mut [Verdict]) {
    let (stays, goes): (Vec<AllocId>, Vec<AllocId>) =
        old.iter().partition(|&&id| scene.timeline.lifetimes.end(id).is_none());
    let mut by_size: BTreeMap<i64, Vec<AllocId>> = BTreeMap::new();
    for &id in &stays {
        by_size.entry(scene.size(id)).or_default().push(id);
    }
    for ids in by_size.values_mut() {
        ids.sort_by_key(|&id| scene.timeline.lifetimes.addr(id, &scene.timeline.events));
    }
    let with_gradient = gradients(scene, verdicts);
    let copies = if with_gradient.is_empty() { copies(&by_size) } else { 1 };
    for (size, ids) in &by_size {
        let trained = match with_gradient.get(size) {
            Some(&count) => count.min(ids.len()),
            None if 1 < copies && ids.len() % copies == 0 => ids.len() / copies,
            None => 0,
        };
        settle_size(ids, trained, verdicts);
        if trained == 0 {
            settle_alone(scene, ids, verdicts);
        }
    }
    for id in goes {
        set(verdicts, id, gone_old(scene, id, &with_gradient));
    }
}

/// Blocks of one size in address order, of which some number have gradients: parameters come first,
/// as they were there first. With three more of each, one is a copy of the model.
fn settle_size(ids: &[AllocId], trained: usize, verdicts: &mut [Verdict]) {
    let parameters = match ids.len().checked_div(trained) {
        None => return,
        Some(4) => 2 * trained,
        Some(_) => trained,
    };
    for (at, &id) in ids.iter().enumerate() {
        let verdict = match at {
            at if at < parameters => (Category::Parameter, Reason::SizePairing),
            _ => (Category::OptimizerState, Reason::SizePairing),
        };
        set(verdicts, id, verdict);
    }
}

/// Blocks that nothing pairs with. When parameters were made nothing had been given back yet, so
/// what lies behind segments that are empty by now came later.
fn settle_alone(scene: &Scene<'_>, ids: &[AllocId], verdicts: &mut [Verdict]) {
    let segments = &scene.timeline.segments;
    let is_empty = |segment: &&Segment| segments.blocks_of(segment).iter().all(|block| !block.is_active());
    let first_empty = segments.segments.iter().filter(is_empty).map(|segment| segment.addr).min();
    for &id in ids {
        let addr = scene.timeline.lifetimes.addr(id, &scene.timeline.events);
        let verdict = match first_empty {
            Some(empty) if empty < addr => (Category::Activation, Reason::OldButLater),
            _ => (Category::Parameter, Reason::OldAndAlone),
        };
        set(verdicts, id, verdict);
    }
}

/// Old, and given back within the trace.
fn gone_old(scene: &Scene<'_>, id: AllocId, with_gradient: &Sizes) -> Verdict {
    let act = scene.gone(id).map(|gone| scene.flow.acts.at(gone.0));
    match act {
        Some(Act::Backward) => (Category::Activation, Reason::Repeats),
        Some(_) if with_gradient.contains_key(&scene.size(id)) => (Category::Gradient, Reason::PairsAndGoes),
        Some(Act::Main | Act::Data) => (Category::Input, Reason::Repeats),
        _ => (Category::Activation, Reason::Repeats),
    }
}

/// How many blocks there are for each parameter, where the sizes of all that matters say so: three
/// with the two moments of Adam.
fn copies(by_size: &BTreeMap<i64, Vec<AllocId>>) -> usize {
    let bytes = |(size, ids): (&i64, &Vec<AllocId>)| size.saturating_mul(ids.len() as i64);
    let total: i64 = by_size.iter().map(bytes).fold(0, i64::saturating_add);
    let matters = |entry: &(&i64, &Vec<AllocId>)| total / NEGLIGIBLE < bytes((entry.0, entry.1));
    let fits = |copies: usize| by_size.iter().filter(matters).all(|(_, ids)| ids.len() % copies == 0);
    if !by_size.is_empty() && fits(3) { 3 } else { 1 }
}
