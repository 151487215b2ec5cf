//! The pass before an announced step, where it shows no rise and fall: gradients that stay until the step tell where
//! its backward begins, and the blocks that are live then are those of its forward.

use super::alignment::{self, MIN_COMPARED};
use super::lifetimes_by_event::LifetimesByEvent;
use crate::attribution::structure::phase::{Phase, PhaseStart};
use oomscope_model::{AllocId, Bytes, EventIx};

/// The phases of what is made from an event on until a step; empty if they do not show.
pub(super) fn phases_of_flat_pass(lifetimes: &LifetimesByEvent<'_>, from: u32, step: u32) -> Vec<PhaseStart> {
    let made: Vec<AllocId> = lifetimes.allocated_in(from, step).collect();
    let Some((mut out, end)) = first_pass(lifetimes, &made, step) else { return Vec::new() };
    // Further batches before the same step go like the first.
    let count = made.partition_point(|&id| lifetimes.alloc_event(id) < end);
    let (first, mut rest) = made.split_at(count);
    while MIN_COMPARED <= rest.len() {
        let (next, others) = rest.split_at(rest.len().min(first.len()));
        let Some(found) = alignment::phases_of_repeated_batch(lifetimes, &out, next, first) else {
            let event = next.first().map_or(end, |&id| lifetimes.alloc_event(id));
            out.push(PhaseStart { event: EventIx(event), phase: Phase::Unknown });
            break;
        };
        out.extend(found);
        rest = others;
    }
    out
}

/// The phases of the first pass, and the event at which it is over.
fn first_pass(
    lifetimes: &LifetimesByEvent<'_>,
    made: &[AllocId],
    step: u32,
) -> Option<(Vec<PhaseStart>, u32)> {
    let gradient = first_gradient(lifetimes, made, step).or_else(|| peak(lifetimes, made, step))?;
    let gradient_event = lifetimes.alloc_event(*made.get(gradient)?);
    // The last scalar before the gradient that is still live is the gradient of the loss: the backward begins after it.
    let loss = made
        .get(..gradient)?
        .iter()
        .rposition(|&id| lifetimes.is_scalar(id) && gradient_event <= lifetimes.free_event(id));
    let turn = loss.map_or(gradient, |at| at + 1);
    let backward = lifetimes.alloc_event(*made.get(turn)?);
    let end = loss.and_then(|at| made.get(at)).map_or(step, |&id| lifetimes.free_event(id)).min(step);
    let is_for_backward = |&id: &AllocId| backward <= lifetimes.free_event(id) && !lifetimes.is_scalar(id);
    let before = made.get(..turn)?;
    let first = before.iter().position(is_for_backward)?;
    // A batch outlives the backward; activations do not.
    let data = before.get(first..)?.iter().take_while(|&&id| end <= lifetimes.free_event(id)).count();
    let start = |at: usize, phase| {
        made.get(at).map(|&id| PhaseStart { event: EventIx(lifetimes.alloc_event(id)), phase })
    };
    let unknown = (MIN_COMPARED <= first).then(|| start(0, Phase::Unknown)).flatten();
    let begins = if unknown.is_some() { first } else { 0 };
    let data_start = (0 < data).then(|| start(begins, Phase::Data)).flatten();
    let forward = start(if 0 < data { first + data } else { begins }, Phase::Forward);
    let backward = PhaseStart { event: EventIx(backward), phase: Phase::Backward };
    let optimizer = PhaseStart { event: EventIx(end), phase: Phase::Optimizer };
    let starts = [unknown, data_start, forward, Some(backward), Some(optimizer)];
    Some((starts.into_iter().flatten().collect(), end))
}

/// The first gradient that stays until the step. Data may be as large as a parameter, and stay; but a gradient is made while
/// something of the forward is still to be freed.
fn first_gradient(lifetimes: &LifetimesByEvent<'_>, made: &[AllocId], step: u32) -> Option<usize> {
    let mut last_free = 0;
    let mut follows_forward = |id: AllocId| {
        let follows = lifetimes.alloc_event(id) <= last_free;
        if !lifetimes.is_scalar(id) && lifetimes.free_event(id) < step {
            last_free = last_free.max(lifetimes.free_event(id));
        }
        follows
    };
    let is_gradient = |id: AllocId| {
        lifetimes.is_parameter_sized(id) && !lifetimes.is_scalar(id) && step <= lifetimes.free_event(id)
    };
    // The order of the two conditions matters: every allocation has to be followed.
    made.iter().position(|&id| follows_forward(id) && is_gradient(id))
}

/// The allocation that is made when most bytes are live that are freed before the step.
fn peak(lifetimes: &LifetimesByEvent<'_>, made: &[AllocId], step: u32) -> Option<usize> {
    let (mut live, mut most, mut out) = (Bytes::ZERO, Bytes::ZERO, None);
    let mut frees: Vec<(u32, Bytes)> =
        made.iter().map(|&id| (lifetimes.free_event(id), lifetimes.size(id))).collect();
    frees.sort_unstable();
    let mut frees = frees.into_iter().filter(|&(freed, _)| freed < step).peekable();
    for (at, &id) in made.iter().enumerate() {
        while let Some((_, size)) = frees.next_if(|&(freed, _)| freed < lifetimes.alloc_event(id)) {
            live -= size;
        }
        if lifetimes.free_event(id) < step {
            live += lifetimes.size(id);
        }
        if most < live {
            (most, out) = (live, Some(at));
        }
    }
    out
}
