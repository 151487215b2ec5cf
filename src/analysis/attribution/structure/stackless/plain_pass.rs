//! The pass before an announced step, where it shows no rise and fall: gradients that stay until the step tell where
//! its backward begins, and what is live then is what its forward left.

use super::humps::SCALAR_BYTES;
use super::tape::Tape;
use super::{Phase, PhaseStart, alignment};
use crate::model::EventIx;

/// So many allocations before the forward are something else: an evaluation.
const MOST_BEFORE: usize = 12;

/// The phases of what is made from an event on until a step; empty if they do not show.
pub(super) fn phases(tape: &Tape<'_>, from: u32, step: u32) -> Vec<PhaseStart> {
    let made: Vec<u32> = tape.births(from, step).collect();
    let Some((mut out, end)) = first_pass(tape, &made, step) else { return Vec::new() };
    // Further batches before the same step go like the first.
    let count = made.partition_point(|&id| tape.birth(id) < end);
    let (first, mut rest) = made.split_at(count);
    while MOST_BEFORE <= rest.len() {
        let (next, others) = rest.split_at(rest.len().min(first.len()));
        let Some(found) = alignment::repeat(tape, &out, next, first) else {
            out.push(PhaseStart {
                event: EventIx(next.first().map_or(end, |&id| tape.birth(id))),
                phase: Phase::Unknown,
            });
            break;
        };
        out.extend(found);
        rest = others;
    }
    out
}

/// The phases of the first pass, and the event at which it is over.
fn first_pass(tape: &Tape<'_>, made: &[u32], step: u32) -> Option<(Vec<PhaseStart>, u32)> {
    let is_scalar = |id: u32| tape.size(id) <= SCALAR_BYTES;
    let is_gradient = |id: u32| tape.is_like_parameter(id) && !is_scalar(id) && step <= tape.death(id);
    // Data may be as large as a parameter, and stay; a gradient comes while something of the forward is left.
    let mut last_gone = 0;
    let mut follows_forward = |id: u32| {
        let follows = tape.birth(id) <= last_gone;
        if !is_scalar(id) && tape.death(id) < step {
            last_gone = last_gone.max(tape.death(id));
        }
        follows
    };
    let gradient = made
        .iter()
        .position(|&id| follows_forward(id) && is_gradient(id))
        .or_else(|| peak(tape, made, step))?;
    let born = tape.birth(*made.get(gradient)?);
    let loss = made.get(..gradient)?.iter().rposition(|&id| is_scalar(id) && born <= tape.death(id));
    let turn = loss.map_or(gradient, |at| at + 1);
    let backward = tape.birth(*made.get(turn)?);
    let end = loss.and_then(|at| made.get(at)).map_or(step, |&id| tape.death(id)).min(step);
    let before = made.get(..turn)?;
    let first = before.iter().position(|&id| backward <= tape.death(id) && !is_scalar(id))?;
    let data = before.get(first..)?.iter().take_while(|&&id| end <= tape.death(id)).count();
    let start =
        |at: usize, phase| made.get(at).map(|&id| PhaseStart { event: EventIx(tape.birth(id)), phase });
    let unknown = (MOST_BEFORE <= first).then(|| start(0, Phase::Unknown)).flatten();
    let begins = if unknown.is_some() { first } else { 0 };
    let data_start = (0 < data).then(|| start(begins, Phase::Data)).flatten();
    let forward = start(if 0 < data { first + data } else { begins }, Phase::Forward);
    let backward = PhaseStart { event: EventIx(backward), phase: Phase::Backward };
    let optimizer = PhaseStart { event: EventIx(end), phase: Phase::Optimizer };
    let starts = [unknown, data_start, forward, Some(backward), Some(optimizer)];
    Some((starts.into_iter().flatten().collect(), end))
}

/// What is made when most bytes are live that are given back before the step.
fn peak(tape: &Tape<'_>, made: &[u32], step: u32) -> Option<usize> {
    let (mut live, mut most, mut out) = (0i64, 0i64, None);
    let mut deaths: Vec<(u32, i64)> = made.iter().map(|&id| (tape.death(id), tape.size(id))).collect();
    deaths.sort_unstable();
    let mut gone = deaths.into_iter().filter(|&(death, _)| death < step).peekable();
    for (at, &id) in made.iter().enumerate() {
        while let Some((_, size)) = gone.next_if(|&(death, _)| death < tape.birth(id)) {
            live = live.saturating_sub(size);
        }
        if tape.death(id) < step {
            live = live.saturating_add(tape.size(id));
        }
        if most < live {
            (most, out) = (live, Some(at));
        }
    }
    out
}
