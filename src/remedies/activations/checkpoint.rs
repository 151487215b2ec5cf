//! Activation checkpointing of the repeated blocks of a model.

use super::evaluation::keeps_graph;
use crate::model::{AllocId, EventIx, Moment};
use crate::remedies::offer::{Effort, Offer, Part};
use crate::remedies::scene::Scene;
use crate::remedies::training::{Pass, Role, Training};
use crate::simulator::{Point, Program, Row};
use foldhash::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A block of one pass.
#[derive(Debug, Clone)]
struct Block {
    /// What is allocated from its start to its end.
    ids: Range<u32>,
    /// Its events in the forward.
    events: Range<u32>,
    /// What it returns.
    output: AllocId,
    /// What it keeps for the backward besides.
    inner: Vec<AllocId>,
    /// Where each of these is gone if nothing is kept for the backward.
    ends: Vec<Point>,
    /// The event after which its backward begins; `None` if the recording does not show it.
    backward: Option<EventIx>,
}

impl Block {
    fn inner_bytes(&self, scene: &Scene<'_>) -> u64 {
        self.inner.iter().fold(0, |sum: u64, &id| sum.saturating_add(scene.bytes(id)))
    }
}

/// The blocks of each pass.
type Blocks = Vec<Vec<Block>>;

/// `checkpoint-all`, `checkpoint-half` and `checkpoint-largest`, where stacks show repeated blocks in training.
pub(super) fn offers<'a>(scene: &'a Scene<'a>, training: &Arc<Training>) -> Vec<Offer<'a>> {
    let passes = training.spans.passes();
    let mut blocks: Blocks = passes.map(|pass| find(scene, training, pass)).collect();
    let with_graph = training.spans.evals().filter(|events| keeps_graph(scene, training, events));
    // transformers checkpoints while it trains only.
    let only_in_training = scene.stacks_with(|file, _| file.ends_with("transformers/modeling_layers.py"));
    let is_checkpointed =
        |block: &Block| !only_in_training.has(scene.timeline.stack(AllocId(block.ids.start)));
    let in_eval =
        |events| find(scene, training, &as_pass(events)).into_iter().filter(is_checkpointed).collect();
    blocks.extend(with_graph.map(in_eval));
    let count = blocks.iter().map(Vec::len).max().unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    let blocks = Arc::new(blocks);
    let is_whole = blocks.iter().flatten().any(|block| block.backward.is_some());
    let offer = |id: &str, title: String, chosen: fn(&[Block], &Scene<'_>) -> Vec<bool>| {
        let (blocks, training) = (Arc::clone(&blocks), Arc::clone(training));
        let change = move |program: &mut Program<'_>| {
            for of_pass in blocks.iter() {
                checkpoint(scene, &training, program, of_pass, &chosen(of_pass, scene));
            }
        };
        let offer = Offer::new(id, title, (Part::Checkpoints, Effort::Time), change)
            .code("x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)")
            .cost("the forward of these blocks is computed twice, about a third more time for all");
        if is_whole { offer.error(0.02) } else { offer.bound() }
    };
    let all = offer("checkpoint-all", format!("checkpoint all {count} blocks"), |blocks, _| {
        vec![true; blocks.len()]
    });
    let half = offer("checkpoint-half", format!("checkpoint every second of {count} blocks"), |blocks, _| {
        (0..blocks.len()).map(|index| index % 2 == 0).collect()
    });
    let largest = offer("checkpoint-largest", "checkpoint the largest block".to_owned(), |blocks, scene| {
        // Of equal ones, the first: what it keeps is in the way of all others.
        let largest = (0..blocks.len()).rev().max_by_key(|&index| blocks[index].inner_bytes(scene));
        (0..blocks.len()).map(|index| Some(index) == largest).collect()
    });
    vec![all, half, largest]
}

/// An evaluation that keeps a graph, as a pass whose backward never comes.
fn as_pass(events: &Range<u32>) -> Pass {
    Pass { events: events.clone(), backward: events.end }
}

/// The blocks of a pass, with what they keep.
fn find(scene: &Scene<'_>, training: &Training, pass: &Pass) -> Vec<Block> {
    let blocks = training.blocks(scene, pass.events.start..pass.backward);
    let mut blocks: Vec<Block> =
        blocks.into_iter().filter_map(|ids| block(scene, training, pass, ids)).collect();
    let forward = pass.events.start..pass.backward;
    let ends: HashMap<AllocId, Point> = training.without_graph(scene, &forward).into_iter().collect();
    for block in &mut blocks {
        let over = Point::before(EventIx(block.events.end), 0);
        let end = |id| ends.get(id).map_or(over, |&end| over.min(end));
        block.ends = block.inner.iter().map(end).collect();
    }
    blocks
}

fn block(scene: &Scene<'_>, training: &Training, pass: &Pass, ids: Range<u32>) -> Option<Block> {
    let lifetimes = &scene.timeline.lifetimes;
    let start = lifetimes.start(AllocId(ids.start)).event()?.0;
    let next = lifetimes.first_after(lifetimes.start(AllocId(ids.end - 1)));
    let after = next.and_then(|id| lifetimes.start(id).event()).map_or(pass.backward, |event| event.0);
    let events = start..after.min(pass.backward);
    let is_kept = |id: &AllocId| {
        matches!(training.role(*id), Role::Batch | Role::EvalBatch)
            && lifetimes.end(*id).is_none_or(|end| events.end < end.0)
    };
    let kept: Vec<AllocId> = ids.clone().map(AllocId).filter(is_kept).collect();
    let output = output(scene, &kept)?;
    // What lives on after the pass is returned by the model, with or without checkpoints.
    let goes = |id: &AllocId| {
        lifetimes.end(*id).is_some_and(|end| end.0 <= pass.events.end) || pass.backward == pass.events.end
    };
    let inner: Vec<AllocId> = kept.into_iter().filter(|&id| id != output).filter(goes).collect();
    let backward = backward_start(scene, training, pass, &ids, &inner);
    Some(Block { ids, events, output, inner, ends: Vec::new(), backward })
}

/// The largest of what its last operation keeps.
fn output(scene: &Scene<'_>, kept: &[AllocId]) -> Option<AllocId> {
    let stack = scene.timeline.stack(*kept.last()?);
    let of_last = kept.iter().rev().take_while(|&&id| scene.timeline.stack(id) == stack);
    of_last.copied().max_by_key(|&id| (scene.bytes(id), id))
}

/// The event after which the backward of a block begins: the last at which the backward of what comes after it gave back
/// something that the forward had kept.
fn backward_start(
    scene: &Scene<'_>,
    training: &Training,
    pass: &Pass,
    ids: &Range<u32>,
    inner: &[AllocId],
) -> Option<EventIx> {
    if pass.backward == pass.events.end {
        return None;
    }
    let lifetimes = &scene.timeline.lifetimes;
    let ends = inner.iter().filter_map(|&id| lifetimes.end(id)?.event());
    let first = ends.filter(|end| pass.backward <= end.0).min()?;
    let is_of_later = |event: &u32| {
        let id = training.frees.at(*event);
        id.is_some_and(|id| {
            let made = lifetimes.start(id).0;
            !ids.contains(&id.0) && pass.events.start < made && made <= pass.backward
        })
    };
    let last = (pass.backward..first.0).rev().find(is_of_later);
    Some(EventIx(last.unwrap_or(pass.backward)))
}

/// Keep of some blocks only what they return, and compute the rest again right before their backward.
fn checkpoint(
    scene: &Scene<'_>,
    training: &Training,
    program: &mut Program<'_>,
    blocks: &[Block],
    chosen: &[bool],
) {
    for (index, block) in blocks.iter().enumerate().filter(|&(index, _)| chosen[index]) {
        if let Some(backward) = block.backward {
            compute_again(scene, training, program, block, backward);
            // The input of a block is kept until its backward: it is what the block before returned.
            if let Some(before) = index.checked_sub(1).map(|before| &blocks[before]) {
                program.keep_until(before.output, Point::after(backward, block.events.len() as u32 + 1));
            }
        }
        for (&id, &end) in block.inner.iter().zip(&block.ends) {
            program.free_at(id, end);
        }
    }
}

/// Allocate again what a block allocated, up to the last that its backward needs.
fn compute_again(
    scene: &Scene<'_>,
    training: &Training,
    program: &mut Program<'_>,
    block: &Block,
    backward: EventIx,
) {
    let Some(&last) = block.inner.last() else { return };
    let again = |moment: Moment| {
        let event = moment.event().map_or(0, |event| event.0);
        Point::after(backward, event.saturating_sub(block.events.start) + 1)
    };
    let lifetimes = &scene.timeline.lifetimes;
    for id in (block.ids.start..=last.0).map(AllocId).filter(|&id| id != block.output) {
        let row = program.row(id);
        let start = again(lifetimes.start(id));
        let end = match lifetimes.end(id) {
            Some(end) if end.0 <= block.events.end => again(end),
            _ if training.role(id) == Role::Fixed => continue,
            _ => row.end,
        };
        program.add(id, Row { bytes: row.bytes, start, end });
    }
}
