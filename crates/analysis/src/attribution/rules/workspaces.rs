//! Workspaces that cuBLAS keeps for good, one for each stream, where no C++ frame names them.

use crate::attribution::RuleId;
use crate::attribution::claims::Claims;
use crate::attribution::view::View;
use foldhash::HashSet;
use oomscope_model::{AllocId, Bytes, StackId};

/// The workspace that torch sets aside for cuBLAS (`:4096:2:16:8`), in bytes: 8.125 MiB, a size that tensors do not have.
/// Where no stack says otherwise, it decides.
const DEFAULT_BYTES: Bytes = Bytes((2 * 4096 + 8 * 16) << 10);

/// The workspace on devices of compute capability 9 (`:4096:8`), in bytes. Tensors have this size, too.
const CAPABILITY_9_BYTES: Bytes = Bytes((8 * 4096) << 10);

/// The workspace for cuBLASLt, in bytes.
const CUBLAS_LT_BYTES: Bytes = Bytes(1 << 20);

/// At most this many blocks of [`CAPABILITY_9_BYTES`] may be workspaces: one for the forward's thread, and one for the
/// backward's.
const MAX_CAPABILITY_9: usize = 2;

/// A process uses at most this many streams that have a workspace each; more blocks of that size are something else.
const MAX_STREAMS: usize = 8;

/// A block that is freed within this many events is scratch memory of a single product.
const PRODUCT_SCRATCH_EVENTS: u32 = 2;

/// Claim the workspaces among blocks that no stack explains.
pub(super) fn claim_by_size(view: &View<'_>, open: &[AllocId], claims: &mut Claims) {
    let found: Vec<AllocId> = open.iter().copied().filter(|&id| view.size(id) == DEFAULT_BYTES).collect();
    if found.len() <= MAX_STREAMS {
        claims.claim_all(found, RuleId::WorkspaceSize.verdict());
    }
}

/// Leave out the blocks that may be workspaces as well as tensors: as large as those of compute capability 9, and as few.
pub(super) fn without_possible_workspaces(view: &View<'_>, ids: &[AllocId]) -> Vec<AllocId> {
    let is_possible = |id: &AllocId| view.size(*id) == CAPABILITY_9_BYTES;
    let are_few = ids.iter().filter(|id| is_possible(id)).count() <= MAX_CAPABILITY_9;
    ids.iter().copied().filter(|id| !are_few || !is_possible(id)).collect()
}

/// Claim workspaces that products leave. A workspace is made together with the result of a product: the allocation before
/// it has the same stack, in the same stream, and only the workspace stays to the end. Later products have none.
/// Newer versions of torch make one for each product, and give it back at once: then none keeps one for good.
/// Without stacks, a gradient of that size looks the same if it stays.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let mut known: HashSet<(Option<i64>, Bytes)> = HashSet::default();
    let mut scratch_sizes: HashSet<Bytes> = HashSet::default();
    let mut product_sizes: HashSet<Bytes> = HashSet::default();
    let (mut found, mut scratch) = (Vec::new(), Vec::new());
    let mut before: Option<(StackId, Bytes)> = None;
    for (id, made) in view.new_ids() {
        let (stack, size) = (view.timeline.events.stack(made), view.size(id));
        let follows_result = before.replace((stack, size)).is_some_and(|(stack_before, size_before)| {
            stack_before != StackId::EMPTY && stack_before == stack && size_before != size
        });
        let is_computed = matches!(
            claims.verdict(id).rule,
            RuleId::ModuleCall | RuleId::FunctionalCode | RuleId::Autograd | RuleId::NoPython
        );
        if ![DEFAULT_BYTES, CAPABILITY_9_BYTES, CUBLAS_LT_BYTES].contains(&size) || !is_computed {
            continue;
        }
        match view.free_event(id) {
            Some(freed) if freed.0 <= made.0.saturating_add(PRODUCT_SCRATCH_EVENTS) => {
                scratch_sizes.insert(size);
                product_sizes.extend(follows_result.then_some(size));
                scratch.push((id, size));
            }
            None if follows_result && known.insert((view.timeline.events.stream(made), size)) => {
                found.push((id, size));
            }
            _ => {}
        }
    }
    // What a product was working in when the recording ended is the last block that was made.
    let last = view.timeline.lifetimes.len().checked_sub(1);
    let is_workspace =
        |(id, size): &(AllocId, Bytes)| !scratch_sizes.contains(size) || Some(id.index()) == last;
    let kept = found.into_iter().filter(is_workspace);
    // Without a stack, as in a backward, only the size that products of this device are seen to have tells.
    let scratch = scratch.into_iter().filter(|(_, size)| product_sizes.contains(size));
    claims.claim_all(kept.chain(scratch).map(|(id, _)| id), RuleId::WorkspaceOfProduct.verdict());
}

#[cfg(test)]
mod tests {
    use super::DEFAULT_BYTES;
    use crate::{Attribution, RuleId, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, Program};
    use oomscope_model::AllocId;

    #[test]
    fn what_a_product_works_in_is_no_activation() {
        let mut program = Program::default();
        let batch = program.alloc(4096, DATA);
        let result = program.alloc(30 << 20, FORWARD);
        let workspace = program.alloc(DEFAULT_BYTES.0, FORWARD);
        program.free(workspace, FORWARD);
        // A thread without Python computes, too, and in the same sizes.
        let of_backward = program.alloc(DEFAULT_BYTES.0, BACKWARD);
        program.free(of_backward, BACKWARD);
        let other = program.alloc(30 << 20, FORWARD);
        // The recording ends within the second product.
        program.alloc(DEFAULT_BYTES.0, FORWARD);
        let recording = program.finish();
        let found = Attribution::of(&recording, &UserRules::default()).categories;
        let rules = [2, 3, 5].map(|id| found.rule(AllocId(id)));
        assert_eq!(rules, [RuleId::WorkspaceOfProduct; 3], "{batch} {result} {other}");
        assert_eq!(found.rule(AllocId(1)), RuleId::ModuleCall);
    }
}
