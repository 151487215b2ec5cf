//! Activation checkpointing of the repeated blocks of a model.

use super::chosen::{Again, Chosen};
use super::evaluation::keeps_graph;
use super::without_graph::without_graph;
use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::price::Price;
use crate::scene::Scene;
use foldhash::HashMap;
use oomscope_model::{AllocId, EventIx, Moment, SaturatingSum as _};
use oomscope_program::share::NEARLY_ALL;
use oomscope_program::{Dependence, OperationKind, Pass};
use oomscope_simulator::{Point, Program, Row};
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
    /// When the program needs that no more, if only the block itself keeps it for the backward.
    consumed: Option<Point>,
    /// What it is called with, as far as that was made in this pass.
    input: Option<AllocId>,
    /// What it keeps for the backward besides.
    inner: Vec<AllocId>,
    /// Where each of these is gone if nothing is kept for the backward.
    ends: Vec<Point>,
    /// The event after which its backward begins; `None` if the recording does not show it.
    backward: Option<EventIx>,
}

impl Block {
    fn inner_bytes(&self, scene: &Scene<'_>) -> u64 {
        self.inner.iter().map(|&id| scene.run.bytes(id)).saturating_sum()
    }

    /// What is allocated again: up to the last that its backward needs.
    fn made_again(&self) -> Option<Range<u32>> {
        let returned = self.consumed.map(|_| self.output);
        let last = self.inner.last().copied().max(returned)?;
        Some(self.ids.start..last.0 + 1)
    }
}

/// The blocks of each pass.
type Blocks = Vec<Vec<Block>>;

/// `checkpoint-all`, `checkpoint-half`, `checkpoint-largest`, `checkpoint-policy` and each degree of `checkpoint-some`, where stacks show repeated blocks in
/// training.
pub(crate) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let passes = scene.computation().spans.passes();
    let mut blocks: Blocks = passes.map(|pass| find(scene, pass)).collect();
    let with_graph = scene.computation().spans.calls().filter(|events| keeps_graph(scene, events));
    // transformers checkpoints while it trains only.
    let only_in_training = scene.run.stacks_with(|code| code.is_checkpointed_in_training_only());
    let is_checkpointed =
        |block: &Block| !only_in_training.has(scene.run.recording.stack(AllocId(block.ids.start)));
    let in_eval = |events| find(scene, &as_pass(events)).into_iter().filter(is_checkpointed).collect();
    blocks.extend(with_graph.map(in_eval));
    let count = blocks.iter().map(Vec::len).max().unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    let precondition = precondition(scene, &blocks, count);
    let are_alike = are_alike(scene, &blocks, count);
    let blocks = Arc::new(blocks);
    let is_whole = blocks.iter().flatten().any(|block| block.backward.is_some());
    let (work, mut again) = (scene.workload().work(), Again::default());
    for of_pass in blocks.iter() {
        let share = |block: &Block| work.share(block.made_again().into_iter()).unwrap_or(0.0);
        let of_block = |block: &Block| (block.inner_bytes(scene), share(block));
        again.add(&of_pass.iter().map(of_block).collect::<Vec<_>>());
    }
    let offer = |id: &str, title: String, chosen: Chosen| {
        let taken = chosen.blocks(count);
        let blocks = Arc::clone(&blocks);
        let of_blocks = taken as f64 / count as f64;
        let more_work = again.share(chosen).unwrap_or_else(|| work.of_forward(of_blocks));
        let change = move |program: &mut Program<'_>| {
            for of_pass in blocks.iter() {
                let kept: Vec<u64> = of_pass.iter().map(|block| block.inner_bytes(scene)).collect();
                let keeps = |id: AllocId| chosen == Chosen::AllButProducts && work.is_result(id);
                checkpoint(scene, program, of_pass, (&chosen.of_pass(&kept), &keeps));
            }
        };
        let offer = Offer::new(id, title, (Part::Checkpoints, Effort::Time), precondition.clone(), change)
            .degree(taken as u32)
            .price(Price::of_work(more_work))
            .code(chosen.code())
            .cost(format!("{taken} of {count} blocks of the forward are computed a second time"));
        let offer = if are_alike { offer } else { offer.of_unlike_blocks() };
        if is_whole { offer } else { offer.bound() }
    };
    let mut offers = vec![
        offer("checkpoint-all", format!("checkpoint all {count} blocks"), Chosen::All),
        offer("checkpoint-half", format!("checkpoint every second of {count} blocks"), Chosen::EverySecond),
        offer("checkpoint-largest", "checkpoint the largest block".to_owned(), Chosen::Largest),
    ];
    if blocks.iter().flatten().any(|block| block.ids.clone().any(|id| work.is_result(AllocId(id)))) {
        let title = format!("checkpoint all {count} blocks, but keep what their products make");
        let offer = offer("checkpoint-policy", title, Chosen::AllButProducts);
        offers.push(
            offer
                .unknown_work()
                .cost("activation functions, norms, softmax and attention are computed a second time")
                .note("A bound: products that the program writes itself are kept, too. It also works in compiled code.")
                .bound(),
        );
    }
    // Which are the first that are not checkpointed yet, no code can say.
    if are_alike && is_whole && !scene.run.has_frame(|code| code.checkpoints()) {
        offers.extend((1..count).map(|few| {
            let title = format!("checkpoint the first {few} of {count} blocks");
            let first = offer("checkpoint-some", title, Chosen::First(few));
            first.error_of(measured_as(few, count)).rung()
        }));
    }
    offers
}

/// The remedy whose error that of some blocks is as large as: of up to a half of them, and of more.
fn measured_as(few: usize, count: usize) -> &'static str {
    if few * 2 <= count { "checkpoint-some" } else { "checkpoint-all" }
}

/// Whether the blocks of a whole pass keep about as much each, those of one stage of layers of one kind: nearly as much as if all
/// kept what the largest does.
fn are_alike(scene: &Scene<'_>, blocks: &Blocks, count: usize) -> bool {
    blocks.iter().filter(|of_pass| of_pass.len() == count).any(|of_pass| {
        let bytes = || of_pass.iter().map(|block| block.inner_bytes(scene));
        let largest = bytes().max().unwrap_or(0);
        NEARLY_ALL.is_reached(bytes().saturating_sum(), largest.saturating_mul(count as u64))
    })
}

/// That blocks keep something for the backward, and the line that runs the first of them.
fn precondition(scene: &Scene<'_>, blocks: &Blocks, count: usize) -> Precondition {
    let inner: Vec<AllocId> = blocks.iter().flatten().flat_map(|block| block.inner.iter().copied()).collect();
    let fact = format!("{count} blocks keep {} for the backward", most(scene, &inner));
    let first = blocks.iter().flatten().next().map_or(0..0, |block| block.ids.clone());
    Precondition::new(fact).at(scene, scene.workload().way(first.map(AllocId)))
}

/// An evaluation that keeps a graph, as a pass whose backward never comes.
fn as_pass(events: &Range<u32>) -> Pass {
    Pass { events: events.clone(), backward: events.end }
}

/// The blocks of a pass, with what they keep.
fn find(scene: &Scene<'_>, pass: &Pass) -> Vec<Block> {
    let blocks = scene.computation().blocks(&(pass.events.start..pass.backward));
    let mut blocks: Vec<Block> = blocks.into_iter().filter_map(|ids| block(scene, pass, ids)).collect();
    let forward = pass.events.start..pass.backward;
    let ends: HashMap<AllocId, Point> = without_graph(scene, &forward).into_iter().collect();
    for index in 0..blocks.len() {
        blocks[index].input = input(scene, pass, &blocks[..=index]);
    }
    for block in &mut blocks {
        let over = Point::before(EventIx(block.events.end), 0);
        let end = |id| ends.get(id).map_or(over, |&end| over.min(end));
        block.ends = block.inner.iter().map(end).collect();
    }
    blocks
}

fn block(scene: &Scene<'_>, pass: &Pass, ids: Range<u32>) -> Option<Block> {
    let lifetimes = &scene.run.recording.lifetimes;
    let start = lifetimes.start(AllocId(ids.start)).event()?.0;
    let next = lifetimes.first_after(lifetimes.start(AllocId(ids.end - 1)));
    let after = next.and_then(|id| lifetimes.start(id).event()).map_or(pass.backward, |event| event.0);
    let events = start..after.min(pass.backward);
    let is_kept = |id: &AllocId| {
        scene.computation().depends_on_batch(*id) && lifetimes.end(*id).is_none_or(|end| events.end < end.0)
    };
    let kept: Vec<AllocId> = ids.clone().map(AllocId).filter(is_kept).collect();
    let output = output(scene, &kept)?;
    // What lives on after the pass is returned by the model, with or without checkpoints.
    let goes = |id: &AllocId| {
        lifetimes.end(*id).is_some_and(|end| end.0 <= pass.events.end) || pass.backward == pass.events.end
    };
    let inner: Vec<AllocId> = kept.into_iter().filter(|&id| id != output).filter(goes).collect();
    let (ends, input) = (Vec::new(), None);
    let mut block = Block { ids, events, output, consumed: None, input, inner, ends, backward: None };
    block.backward = backward_start(scene, pass, &block);
    block.consumed = next.and_then(|next| consumed(scene, &block, next));
    Some(block)
}

/// When what a block returns is needed no more, though it stays until the backward: the last operation of the block, an activation
/// function, keeps it, and what follows it in the program's own code, as `x + block(x)` does, makes something of its size from it.
fn consumed(scene: &Scene<'_>, block: &Block, next: AllocId) -> Option<Point> {
    let kind = |id| scene.computation().operation_kind(id);
    let keeps_result = matches!(kind(block.output), OperationKind::Same | OperationKind::Fp32);
    let is_arithmetic =
        kind(next) == OperationKind::Own && scene.run.bytes(next) == scene.run.bytes(block.output);
    let made = scene.run.recording.lifetimes.start(next).event();
    made.filter(|_| keeps_result && is_arithmetic).map(|made| Point::after(made, 0))
}

/// What the last of some blocks is called with: the newest that is there when it begins, and was made since the block before it or
/// is what that block returned.
fn input(scene: &Scene<'_>, pass: &Pass, blocks: &[Block]) -> Option<AllocId> {
    let lifetimes = &scene.run.recording.lifetimes;
    let (block, before) = blocks.split_last()?;
    let before = before.last();
    let pass_start = lifetimes.first_after(Moment(pass.events.start))?.0;
    let is_there = |id: &AllocId| {
        scene.computation().depends_on_batch(*id)
            && lifetimes.end(*id).is_none_or(|end| block.events.start < end.0)
    };
    let between = before.map_or(pass_start, |before| before.ids.end)..block.ids.start;
    between.rev().map(AllocId).find(is_there).or(before.map(|before| before.output))
}

/// The largest of what its last operation keeps.
fn output(scene: &Scene<'_>, kept: &[AllocId]) -> Option<AllocId> {
    let stack = scene.run.recording.stack(*kept.last()?);
    let of_last = kept.iter().rev().take_while(|&&id| scene.run.recording.stack(id) == stack);
    of_last.copied().max_by_key(|&id| (scene.run.bytes(id), id))
}

/// The event after which the backward of a block begins: the last at which the backward of what comes after it gave back
/// something that the forward had kept.
fn backward_start(scene: &Scene<'_>, pass: &Pass, block: &Block) -> Option<EventIx> {
    if pass.backward == pass.events.end {
        return None;
    }
    let lifetimes = &scene.run.recording.lifetimes;
    let ends = block.inner.iter().filter_map(|&id| lifetimes.end(id)?.event());
    let first = ends.filter(|end| pass.backward <= end.0).min()?;
    // What comes after a block keeps what the block returned.
    let is_of_later = |event: &u32| {
        scene.computation().frees.at(*event).is_some_and(|id| {
            let made = lifetimes.start(id).0;
            (id == block.output || !block.ids.contains(&id.0))
                && pass.events.start < made
                && made <= pass.backward
        })
    };
    let last = (pass.backward..first.0).rev().find(is_of_later);
    Some(EventIx(last.unwrap_or(pass.backward)))
}

/// Keep of some blocks only what they return, and compute the rest again right before their backward.
fn checkpoint(
    scene: &Scene<'_>,
    program: &mut Program<'_>,
    blocks: &[Block],
    (chosen, keeps): (&[bool], &dyn Fn(AllocId) -> bool),
) {
    for (block, _) in blocks.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
        if let Some(backward) = block.backward {
            compute_again(scene, program, block, (backward, keeps));
            // The input of a block is kept until its backward, as is what it keeps besides.
            let end = Point::after(backward, block.events.len() as u32 + 1);
            let kept = block.ids.clone().map(AllocId).filter(|&id| keeps(id));
            for id in block.input.into_iter().chain(kept) {
                program.keep_until(id, end);
            }
        }
        if let Some(consumed) = block.consumed {
            program.free_at(block.output, consumed);
        }
        for (&id, &end) in block.inner.iter().zip(&block.ends).filter(|(id, _)| !keeps(**id)) {
            program.free_at(id, end);
        }
    }
}

/// Allocate again what a block allocated, up to the last that its backward needs.
fn compute_again(
    scene: &Scene<'_>,
    program: &mut Program<'_>,
    block: &Block,
    (backward, keeps): (EventIx, &dyn Fn(AllocId) -> bool),
) {
    let is_made_again = |id: AllocId| (id != block.output || block.consumed.is_some()) && !keeps(id);
    let Some(made_again) = block.made_again() else { return };
    let again = |moment: Moment| {
        let event = moment.event().map_or(0, |event| event.0);
        Point::after(backward, event.saturating_sub(block.events.start) + 1)
    };
    let lifetimes = &scene.run.recording.lifetimes;
    for id in made_again.map(AllocId).filter(|&id| is_made_again(id)) {
        let row = program.row(id);
        let start = again(lifetimes.start(id));
        let end = match lifetimes.end(id) {
            Some(end) if end.0 <= block.events.end => again(end),
            _ if scene.computation().dependence(id) == Dependence::Fixed => continue,
            _ => row.end,
        };
        program.add(id, Row { bytes: row.bytes, start, end });
    }
}
