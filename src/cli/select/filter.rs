//! Filters of allocations.

use crate::analysis::filter::{Filter, Matches, Prepared};
use crate::cli::stderr;
use crate::model::{Moment, Timeline};

/// A filter as the window reads it, too.
pub(in crate::cli) fn parse_filter(text: &str) -> Result<Filter, String> {
    Filter::parse(text).map_err(|error| {
        let part = text.get(error.range.clone()).unwrap_or_default();
        format!("at {part:?}: {error}")
    })
}

/// The allocations that match with the cursor at a moment. Doubts about the filter go to standard error.
pub(in crate::cli) fn matches(prepared: &Prepared, timeline: &Timeline, cursor: Moment) -> Matches {
    for note in prepared.notes() {
        stderr::notice(&format!("{}: {note}", timeline.device));
    }
    prepared.matches(timeline, cursor)
}
