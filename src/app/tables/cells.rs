//! What several lists say in the same words.

use super::virtual_list::Cell;
use crate::analysis::{LifeSpan, SiteLabels, site_label, stack_lines};
use crate::model::{PoolKey, Snapshot, StackId};
use crate::units;

/// Frames that a hint lists.
const MAX_HINT_FRAMES: usize = 30;

/// The site of a stack.
pub(in crate::app) fn site(labels: Option<&SiteLabels>, snapshot: &Snapshot, stack: StackId) -> Cell {
    let label = match labels {
        Some(labels) => labels.label(stack).to_owned(),
        None => site_label(snapshot, stack),
    };
    if stack == StackId::EMPTY { Cell::muted(label) } else { Cell::plain(label) }
}

/// The stack, innermost frame first.
pub(in crate::app) fn stack_hint(snapshot: &Snapshot, stack: StackId) -> Option<String> {
    let lines = stack_lines(snapshot, stack);
    let more = lines.len().saturating_sub(MAX_HINT_FRAMES);
    let mut lines: Vec<String> = lines.take(MAX_HINT_FRAMES).collect();
    if more != 0 {
        lines.push(format!("… {} more frames", units::count(more as u64)));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A stream.
pub(in crate::app) fn stream(stream: Option<i64>) -> Cell {
    stream.map_or_else(unknown, |stream| Cell::plain(stream.to_string()))
}

/// A pool.
pub(in crate::app) fn pool(pool: Option<PoolKey>) -> Cell {
    match pool {
        None => unknown(),
        Some(PoolKey::DEFAULT) => Cell::muted("default"),
        Some(PoolKey(a, b)) => Cell::plain(format!("private {a}.{b}")),
    }
}

/// What was not recorded.
pub(in crate::app) fn unknown() -> Cell {
    Cell::muted("–")
}

/// A duration in time, or else in events; `≥` where only a part of it was recorded.
pub(in crate::app) fn span(span: LifeSpan) -> String {
    let bound = if span.is_open { "≥ " } else { "" };
    match span.us {
        Some(us) => format!("{bound}{}", units::duration_us(us)),
        None => format!("{bound}{}", events(span.events)),
    }
}

/// `1 event`, `1,234 events`.
pub(in crate::app) fn events(count: u32) -> String {
    units::counted(count as usize, "event")
}
