//! The operations of a forward, as far as Python frames tell them apart.

use super::frames::CallFrames;
use super::operation_kind::OperationKind;
use super::roles::Role;
use crate::model::{AllocId, StackId};
use crate::remedies::scene::Scene;

/// Consecutive allocations of one stack.
#[derive(Debug, Clone)]
pub(in crate::remedies) struct Operation {
    pub(in crate::remedies) ids: Vec<AllocId>,
    pub(in crate::remedies) kind: OperationKind,
    /// Whether it is a part of a norm that is written out.
    pub(in crate::remedies) is_written_norm: bool,
    function: u32,
}

impl Operation {
    /// Whether two operations are in one function.
    pub(in crate::remedies) fn is_with(&self, other: &Self) -> bool {
        self.function == other.function
    }

    /// The largest allocation, which is its result.
    pub(in crate::remedies) fn main(&self, scene: &Scene<'_>) -> AllocId {
        self.ids.iter().copied().max_by_key(|&id| (scene.bytes(id), id)).unwrap_or(AllocId(0))
    }
}

/// A mean over features is smaller than what it is a mean of by at least this factor: no model has fewer features.
const FEATURES: u64 = 16;

/// The operations that make some allocations.
pub(super) fn operations(
    scene: &Scene<'_>,
    frames: &CallFrames,
    ids: &[AllocId],
    role: impl Fn(AllocId) -> Role,
) -> Vec<Operation> {
    let stack = |id: AllocId| scene.timeline.stack(id);
    let is_batch = |id: AllocId| matches!(role(id), Role::Batch | Role::EvalBatch);
    let ids: Vec<AllocId> =
        ids.iter().copied().filter(|&id| is_batch(id) && stack(id) != StackId::EMPTY).collect();
    let mut operations: Vec<Operation> = ids
        .chunk_by(|&a, &b| stack(a) == stack(b))
        .map(|ids| {
            let (kind, function) = frames.operation(scene.snapshot, stack(ids[0]));
            Operation { ids: ids.to_vec(), kind, is_written_norm: false, function }
        })
        .collect();
    find_own_norms(scene, &mut operations);
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

/// Norms that are written out: a function that computes a mean over features of what it has just computed.
fn find_own_norms(scene: &Scene<'_>, operations: &mut [Operation]) {
    let bytes = |operation: &Operation| scene.bytes(operation.main(scene));
    let mut index = 0;
    while index + 1 < operations.len() {
        let [first, second] = &operations[index..index + 2] else { break };
        let is_own = first.kind == OperationKind::Own && second.kind == OperationKind::Own;
        let is_mean = bytes(second).saturating_mul(FEATURES) <= bytes(first);
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
