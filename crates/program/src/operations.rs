//! The operations of a forward, as far as Python frames tell them apart.

use super::frames::CallFrames;
use super::operation_kind::OperationKind;
use super::run::Run;
use foldhash::HashSet;
use oomscope_model::{AllocId, StackId};

/// Consecutive allocations of one stack.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The allocations, in their order.
    pub ids: Vec<AllocId>,
    /// What it does to the types of numbers.
    pub kind: OperationKind,
    /// Whether it is a part of a norm that is written out.
    pub is_written_norm: bool,
    function: u32,
}

impl Operation {
    /// Whether two operations are in one function.
    pub fn is_with(&self, other: &Self) -> bool {
        self.function == other.function
    }

    /// The largest allocation, which is its result.
    pub fn main(&self, run: &Run<'_>) -> AllocId {
        self.ids.iter().copied().max_by_key(|&id| (run.bytes(id), id)).unwrap_or(AllocId(0))
    }
}

/// The operations of a forward that make some allocations.
pub(super) fn operations(
    run: &Run<'_>,
    frames: &CallFrames,
    parameter_bytes: &HashSet<u64>,
    ids: &[AllocId],
) -> Vec<Operation> {
    let stack = |id: AllocId| run.recording.stack(id);
    let ids: Vec<AllocId> = ids.iter().copied().filter(|&id| stack(id) != StackId::EMPTY).collect();
    let mut operations: Vec<Operation> = ids
        .chunk_by(|&a, &b| stack(a) == stack(b))
        .map(|ids| {
            let (kind, function) = frames.operation(run.recording.snapshot(), stack(ids[0]));
            Operation { ids: ids.to_vec(), kind, is_written_norm: false, function }
        })
        .collect();
    find_own_norms(run, parameter_bytes, &mut operations);
    find_written_out(&mut operations);
    operations
}

/// An activation function that is written out makes at least this many allocations; functions of torch make one or two.
const WRITTEN_OUT: usize = 3;

/// Activation functions that are written out, as transformers does for one form of GELU, raise to a power, which autocast
/// computes in fp32 as it does norms.
fn find_written_out(operations: &mut [Operation]) {
    let is_one = |a: &Operation, b: &Operation| {
        a.function == b.function && a.kind == OperationKind::Same && b.kind == a.kind
    };
    let allocations = |run: &[Operation]| run.iter().map(|operation| operation.ids.len()).sum::<usize>();
    for run in operations.chunk_by_mut(is_one).filter(|run| WRITTEN_OUT <= allocations(run)) {
        for operation in run {
            operation.kind = OperationKind::Norm;
        }
    }
}

/// Norms that are written out: a function that computes a mean over features of what it has just computed. As many times as that
/// mean is smaller, as many numbers a norm's weight has.
fn find_own_norms(run: &Run<'_>, parameter_bytes: &HashSet<u64>, operations: &mut [Operation]) {
    let is_weight = |numbers: u64| [2, 4].iter().any(|width| parameter_bytes.contains(&(numbers * width)));
    let bytes = |operation: &Operation| run.bytes(operation.main(run));
    let mut index = 0;
    while index + 1 < operations.len() {
        let [first, second] = &operations[index..index + 2] else { break };
        let is_own = first.kind == OperationKind::Own && second.kind == OperationKind::Own;
        let is_mean = bytes(first).checked_div(bytes(second)).is_some_and(|features| {
            1 < features && features * bytes(second) == bytes(first) && is_weight(features)
        });
        if is_own && is_mean && first.function == second.function {
            let (function, from) = (first.function, index);
            while operations.get(index).is_some_and(|operation| operation.function == function) {
                index += 1;
            }
            for operation in &mut operations[from..index] {
                (operation.kind, operation.is_written_norm) = (OperationKind::Norm, true);
            }
        } else {
            index += 1;
        }
    }
}
