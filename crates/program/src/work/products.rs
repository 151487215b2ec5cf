//! The products in a forward that modules of torch compute.

use crate::computation::Computation;
use crate::dependence::Dependence;
use crate::operation_kind::OperationKind;
use oomscope_model::AllocId;
use std::ops::Range;

/// What some events of a forward look up in tables, in its order.
pub(super) fn looked_up(computation: &Computation<'_>, forward: &Range<u32>) -> Vec<AllocId> {
    let is_looked_up = |&id: &AllocId| {
        computation.depends_on_batch(id) && computation.operation_kind(id) == OperationKind::Embedding
    };
    computation.run.made_in(forward).filter(is_looked_up).collect()
}

/// The results of products that some events of a forward make, in their order.
pub(super) fn results(computation: &Computation<'_>, forward: &Range<u32>) -> Vec<AllocId> {
    let timeline = computation.run.recording.timeline();
    let stack = |id: AllocId| timeline.stack(id);
    let is_counted = |&id: &AllocId| {
        computation.depends_on_batch(id) || computation.dependence(id) == Dependence::WeightCopy
    };
    let ids: Vec<AllocId> = computation.run.made_in(forward).filter(is_counted).collect();
    let mut out = Vec::new();
    for operation in ids.chunk_by(|&a, &b| stack(a) == stack(b)) {
        if computation.is_product(operation[0]) {
            out.extend(results_of(computation, operation));
        }
    }
    out
}

/// The results of a line that computes products: what is there when another line allocates. Autocast copies weights first, and what
/// they are multiplied with.
fn results_of(computation: &Computation<'_>, operation: &[AllocId]) -> Vec<AllocId> {
    let lifetimes = &computation.run.recording.lifetimes;
    let last = operation[operation.len() - 1];
    let next = lifetimes.first_after(lifetimes.start(last)).map(|next| lifetimes.start(next));
    let is_there = |id: AllocId| lifetimes.end(id).is_none_or(|end| next.is_some_and(|next| next < end));
    let is_copy = |id: AllocId| computation.dependence(id) == Dependence::WeightCopy;
    let made = |ids: &[AllocId]| -> Vec<AllocId> { ids.iter().copied().filter(|&id| is_there(id)).collect() };
    if !computation.has_weight_copies() {
        return made(operation);
    }
    let stretches = operation.chunk_by(|&a, &b| is_copy(a) == is_copy(b));
    let between: Vec<Vec<AllocId>> = stretches.filter(|ids| !is_copy(ids[0])).map(made).collect();
    // What a compiler has it copy first differs: the weights, or what they are multiplied with.
    if between.len() < 2 || is_copy(operation[0]) {
        between.iter().filter_map(|ids| ids.last().copied()).collect()
    } else {
        between.iter().skip(1).filter_map(|ids| ids.first().copied()).collect()
    }
}
