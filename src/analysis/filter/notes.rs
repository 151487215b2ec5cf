//! What a filter asks for and a file does not say.

use super::Filter;
use super::terms::{Span, Test};
use crate::model::{Context, Snapshot, Timeline};

/// Why some terms cannot hold for any allocation of the device.
pub(super) fn notes(filter: &Filter, snapshot: &Snapshot, timeline: &Timeline) -> Vec<&'static str> {
    filter.terms.iter().filter_map(|term| note(&term.test, snapshot, timeline)).collect()
}

fn note(test: &Test, snapshot: &Snapshot, timeline: &Timeline) -> Option<&'static str> {
    let has = |known: fn(&Context) -> bool| timeline.events.contexts().iter().any(known);
    let segments = &timeline.segments.segments;
    let (is_known, note) = match test {
        Test::Stack(_) | Test::Site(_) => (1 < snapshot.stacks.len(), "no stacks were recorded"),
        Test::Stream(_) => (!timeline.streams().is_empty(), "no streams were recorded"),
        Test::Pool(_) => {
            let is_known = has(|c| c.pool.is_some()) || segments.iter().any(|s| s.pool.is_some());
            (is_known, "no pools were recorded")
        }
        Test::Meta(_) => {
            let is_known = has(|c| {
                c.user_metadata.is_some() || c.internal_metadata.is_some() || c.compile_context.is_some()
            });
            (is_known, "no metadata was recorded")
        }
        Test::Lifetime(spans) => {
            let needs_time = spans.iter().any(|span| matches!(span, Span::Microseconds(_)));
            (!needs_time || timeline.events.time_range_us().is_some(), "no times were recorded")
        }
        _ => (true, ""),
    };
    (!is_known).then_some(note)
}
