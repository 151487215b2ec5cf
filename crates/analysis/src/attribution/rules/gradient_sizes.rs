//! The sizes of gradients.

use crate::attribution::Category;
use crate::attribution::claims::Claims;
use crate::attribution::view::{CountBySize, View};
use oomscope_model::Bytes;

/// The gradients that stay after a backward: of each size, the most at a time.
pub(super) fn lasting_gradients(view: &View<'_>, claims: &Claims) -> CountBySize {
    let mut changes: Vec<(u32, bool, Bytes)> = Vec::new();
    let backwards = &view.device.backward_spans;
    // It does not show yet which gradients of a backward under way stay. They count only if no other came before.
    let under_way = backwards.cut_from(&view.timeline.ooms).unwrap_or(u32::MAX);
    let mut has_complete = false;
    for (id, made) in view.new_ids() {
        if !claims.is(id, Category::Gradient) {
            continue;
        }
        let is_complete = made.0 < under_way;
        let stays = view.is_live_until(id, backwards.end_after(made.0));
        if (is_complete || !has_complete) && stays {
            has_complete |= is_complete;
            changes.push((made.0, true, view.size(id)));
            changes.extend(view.free_event(id).map(|freed| (freed.0, false, view.size(id))));
        }
    }
    changes.sort_unstable();
    let (mut most, mut live) = (CountBySize::default(), CountBySize::default());
    for (_, is_alloc, size) in changes {
        let count = live.entry(size).or_default();
        *count = if is_alloc { *count + 1 } else { count.saturating_sub(1) };
        let top = most.entry(size).or_default();
        *top = (*top).max(*count);
    }
    most
}
