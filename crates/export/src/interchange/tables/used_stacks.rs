//! The stacks that the exported rows mention.

use super::memory_state::{blocks, segments};
use crate::interchange::selection::Selection;
use oomscope_model::StackId;

/// The stacks of exported events, allocations, blocks and segments, ascending, without the empty one.
pub(super) fn used_stacks(selection: &Selection<'_>) -> impl Iterator<Item = StackId> {
    let mut is_used = vec![false; selection.snapshot.stacks.len()];
    let mut mark = |stack: StackId| {
        if let Some(used) = is_used.get_mut(stack.index()) {
            *used = true;
        }
    };
    for portion in &selection.portions {
        portion.exported_events().for_each(|ix| mark(portion.recording.events.stack(ix)));
        portion.allocations().for_each(|id| mark(portion.recording.stack(id)));
        let of_blocks = blocks(portion).into_iter().map(|block| block.stack);
        let of_segments = segments(portion).into_iter().map(|segment| segment.stack);
        of_blocks.chain(of_segments).for_each(&mut mark);
    }
    let used = (0..).map(StackId).zip(is_used).skip(1);
    used.filter_map(|(stack, is_used)| is_used.then_some(stack))
}
