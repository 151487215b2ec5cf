//! The bytes of every stack: of what is live at the moment or, in a range, of what was allocated in it.

use crate::interchange::progress::Progress;
use crate::interchange::selection::Portion;
use oomscope_analysis::Category;
use oomscope_model::{Bytes, StackId};
use std::collections::BTreeMap;

/// The frame that stands for a missing stack.
pub(super) const NO_STACK: &str = "(no stack recorded)";

/// Allocations of one stack and category.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) count: i64,
    pub(super) bytes: Bytes,
}

/// The weights of a device by stack and category, in their order.
pub(super) fn weights(
    portion: &Portion,
    progress: &mut Progress<'_>,
) -> BTreeMap<(StackId, Category), Weight> {
    let mut out: BTreeMap<(StackId, Category), Weight> = BTreeMap::new();
    for id in portion.weighed() {
        let weight = out.entry((portion.recording.stack(id), portion.attribution.categories.get(id)));
        let weight = weight.or_default();
        weight.count = weight.count.saturating_add(1);
        weight.bytes += portion.recording.size(id);
        progress.step();
    }
    out
}
