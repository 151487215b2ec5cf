//! How moments, ranges and filters are written, for the long help of the options that take one.

use clap::Arg;

const MOMENT: &str = "A moment is peak (most active bytes), oom (the last failed request), end, the number of an event \
    (the state after it), or the peak of a range: peak-of:iteration:3, peak-of:phase:eval, peak-of:100..200, or \
    peak-of:NAME for a record_function range.";

const RANGE: &str = "A range is iteration:3, iteration:2..5, phase:eval, 100..200 (events by their numbers, both ends \
    included), or text in the name of a record_function range. If several parts match, it runs from the first event \
    of the first part to the last event of the last.";

const FILTER: &str = "The query is written as in the filter of the window: docs/filter.md lists its terms.";

/// An option that takes a moment.
pub(in crate::cli) fn with_moments(arg: Arg) -> Arg {
    explained(arg, MOMENT)
}

/// An option that takes a range.
pub(in crate::cli) fn with_ranges(arg: Arg) -> Arg {
    explained(arg, RANGE)
}

/// An option that takes a filter.
pub(in crate::cli) fn with_filters(arg: Arg) -> Arg {
    explained(arg, FILTER)
}

/// Add a paragraph to the long help of an option.
fn explained(arg: Arg, how: &str) -> Arg {
    let about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    arg.long_help(format!("{about}\n\n{how}"))
}
