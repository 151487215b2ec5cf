//! Filters of allocations.

use crate::cli::stderr;
use oomscope_analysis::filter::{Filter, Matches, Prepared};
use oomscope_model::{Moment, Timeline};

/// Parse a filter, which is written as in the window. The error names the part that is wrong.
pub(in crate::cli) fn parse_filter(text: &str) -> Result<Filter, String> {
    Filter::parse(text).map_err(|error| {
        let part = text.get(error.range.clone()).unwrap_or_default();
        format!("at {part:?}: {error}")
    })
}

/// The allocations that match with the cursor at a moment. Notes on doubtful terms go to standard error.
pub(in crate::cli) fn matches(prepared: &Prepared, timeline: &Timeline, cursor: Moment) -> Matches {
    for note in prepared.notes() {
        stderr::notice(&format!("{}: {note}", timeline.device));
    }
    prepared.matches(timeline, cursor)
}
