//! Memory that grows with the square of the inputs, as iterations with inputs of different length show.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::say;
use foldhash::HashMap;
use oomscope_analysis::{Category, Iteration};
use oomscope_model::{Allocation, Bytes, Moment, StackId};
use oomscope_program::share::MUCH;
use std::collections::BTreeMap;

/// Lengths differ if the inputs of one iteration are at least this many times as large as those of another.
const MIN_RATIO: f64 = 1.5;

/// The exponent of growth between two lengths that counts as a square, from and to.
const SQUARE: [f64; 2] = [1.9, 2.1];

/// The most iterations that are looked at, from the latest: each costs a pass over what it allocated.
const MAX_LOOKED_AT: usize = 256;

/// The most iterations that are compared: each of another length.
const MAX_LENGTHS: usize = 16;

/// The largest allocation of each stack in one iteration, and the bytes of its inputs.
struct Lengths {
    input: Bytes,
    largest: HashMap<StackId, Bytes>,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some(current) = case.phases().iterations.index_at(case.moment) else { return Vec::new() };
    let lengths = lengths(case, current);
    let Some(now) = lengths.get(&current) else { return Vec::new() };
    // Of short inputs, something of a constant size may be larger than what grows.
    let is_other =
        |other: &&Lengths| MIN_RATIO <= ratio(now.input.max(other.input), now.input.min(other.input));
    let Some(other) = lengths.values().filter(is_other).max_by_key(|other| other.input) else {
        return Vec::new();
    };
    let squares = |size: Bytes, stack: StackId| {
        exponent(now, other, size, stack).is_some_and(|exponent| (SQUARE[0]..=SQUARE[1]).contains(&exponent))
    };
    let is_square = |a: &&Allocation| {
        a.stack != StackId::EMPTY && now.largest.get(&a.stack) == Some(&a.size) && squares(a.size, a.stack)
    };
    let live: Vec<&Allocation> = case.live.iter().filter(is_square).collect();
    let failed = case.shortage.as_ref().map(|shortage| {
        let stack = case.recording.events.stack(shortage.oom.event);
        if stack != StackId::EMPTY && squares(shortage.oom.requested, stack) {
            shortage.oom.requested
        } else {
            Bytes::ZERO
        }
    });
    let bytes = sum(&live) + failed.unwrap_or_default();
    if !MUCH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    vec![described(case, &live, bytes, now, other)]
}

fn described(case: &Case<'_>, live: &[&Allocation], bytes: Bytes, now: &Lengths, other: &Lengths) -> Finding {
    let title = say!("{} grow with the square of the length of the inputs", figure::bytes(bytes));
    // Half of the length needs a quarter.
    let saved = bytes / 4 * 3;
    let mut finding = Finding::new(FindingId::QuadraticLength, case.severity_of(saved), title);
    let (long, short) = (now.input.max(other.input), now.input.min(other.input));
    let (times, square) = (figure::times(ratio(long, short)), figure::times(ratio(long, short).powi(2)));
    finding.explain(say!("Between two iterations the inputs changed by {} times, and what the same code asked for by the square of that: {} times.", times, square));
    finding.evidence.bytes("quadratic_bytes", "in blocks that grow so, the failed request included", bytes);
    finding.evidence.bytes("input_bytes", "inputs of this iteration", now.input);
    finding.evidence.bytes(
        "other_input_bytes",
        "inputs of the iteration that it is compared with",
        other.input,
    );
    places(&mut finding, case, live);
    finding.advise("Compute in chunks, or limit the length: cut or split long inputs, sort them into batches by length, and take fewer of the long ones.");
    finding.advise_code(
        "If it is attention, use the fused operator, which never holds all scores:",
        "y = torch.nn.functional.scaled_dot_product_attention(q, k, v)",
    );
    finding.weighs(saved);
    finding.limit("Lengths are told by the bytes of the inputs; a batch that grows together with the length looks steeper.");
    finding
}

fn ratio(a: Bytes, b: Bytes) -> f64 {
    a.as_f64() / b.max(Bytes(1)).as_f64()
}

/// The exponent by which a stack's largest allocation grows with the inputs, from another iteration to this one.
fn exponent(now: &Lengths, other: &Lengths, size: Bytes, stack: StackId) -> Option<f64> {
    let then = other.largest.get(&stack).copied().filter(|&then| 0 < then)?;
    Some(ratio(size, then).ln() / ratio(now.input, other.input).ln())
}

/// The iterations with inputs of different sizes: the one at the moment and the latest others.
fn lengths(case: &Case<'_>, current: usize) -> BTreeMap<usize, Lengths> {
    let iterations = &case.phases().iterations.list;
    let mut chosen: BTreeMap<usize, Bytes> = BTreeMap::new();
    for (index, iteration) in iterations.iter().enumerate().take(current + 1).rev().take(MAX_LOOKED_AT) {
        let input = inputs(case, iteration);
        if 0 < input && !chosen.values().any(|&known| known == input) {
            chosen.insert(index, input);
        }
        if MAX_LENGTHS <= chosen.len() {
            break;
        }
    }
    if chosen.len() < 2 {
        return BTreeMap::new();
    }
    let of = |(index, input): (usize, Bytes)| {
        Some((index, Lengths { input, largest: largest(case, iterations.get(index)?) }))
    };
    chosen.into_iter().filter_map(of).collect()
}

/// Bytes of the inputs that an iteration made.
fn inputs(case: &Case<'_>, iteration: &Iteration) -> Bytes {
    let ids = case.recording.lifetimes.started_between(Moment(iteration.start.0), end(case, iteration));
    let ids = ids.filter(|&id| case.category(id) == Category::Input);
    ids.map(|id| case.recording.size(id)).sum::<Bytes>()
}

fn largest(case: &Case<'_>, iteration: &Iteration) -> HashMap<StackId, Bytes> {
    let mut largest: HashMap<StackId, Bytes> = HashMap::default();
    let ids = case.recording.lifetimes.started_between(Moment(iteration.start.0), end(case, iteration));
    // Workspaces of libraries have the stacks of the operations that use them.
    for id in ids.filter(|&id| case.category(id) == Category::Activation) {
        let size = largest.entry(case.recording.stack(id)).or_default();
        *size = case.recording.size(id).max(*size);
    }
    largest
}

fn end(case: &Case<'_>, iteration: &Iteration) -> Moment {
    iteration.end.min(case.moment)
}
