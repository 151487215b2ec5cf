//! Cells and hints that several lists have.

use super::virtual_list::TableCell;
use crate::texts;
use oomscope_analysis::{LifeSpan, StackLabels, site_label, stack_lines};
use oomscope_model::{PoolKey, Snapshot, StackId};
use oomscope_units as units;
use tr::tr;

/// Frames that a hint lists at most: longer hints would not fit on a screen.
const MAX_HINT_FRAMES: usize = 30;

/// The site of a stack.
pub(crate) fn site(labels: Option<&StackLabels>, snapshot: &Snapshot, stack: StackId) -> TableCell {
    let label = match labels {
        Some(labels) => labels.label(stack).to_owned(),
        None => site_label(snapshot, stack),
    };
    if stack == StackId::EMPTY { TableCell::muted(label) } else { TableCell::plain(label) }
}

/// The stack, innermost frame first.
pub(crate) fn stack_hint(snapshot: &Snapshot, stack: StackId) -> Option<String> {
    let lines = stack_lines(snapshot, stack);
    let more = lines.len().saturating_sub(MAX_HINT_FRAMES);
    let mut lines: Vec<String> = lines.take(MAX_HINT_FRAMES).collect();
    if more != 0 {
        lines.push(tr!("… {} more frame" | "… {} more frames" % more, units::count(more as u64)));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A stream.
pub(crate) fn stream(stream: Option<i64>) -> TableCell {
    stream.map_or_else(unknown, |stream| TableCell::plain(stream.to_string()))
}

/// A pool.
pub(crate) fn pool(pool: Option<PoolKey>) -> TableCell {
    match pool {
        None => unknown(),
        Some(PoolKey::DEFAULT) => TableCell::muted(tr!("default")),
        Some(PoolKey(a, b)) => TableCell::plain(tr!("private {a}.{b}", a, b)),
    }
}

/// A value that was not recorded.
pub(crate) fn unknown() -> TableCell {
    TableCell::muted("–")
}

/// A duration in time, or in events if there are no times; with `≥` if only a part of it was recorded.
pub(crate) fn span(span: LifeSpan) -> String {
    let bound = if span.is_open { "≥ " } else { "" };
    match span.us {
        Some(us) => format!("{bound}{}", units::duration_us(us)),
        None => format!("{bound}{}", events(span.events)),
    }
}

/// `1 event`, `1,234 events`.
pub(crate) fn events(count: u32) -> String {
    texts::events(count as usize)
}
