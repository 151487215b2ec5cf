//! Weights of stacks as text.

use oomscope_analysis::{Measure, Totals, WeightUnit};
use oomscope_model::{Bytes, Moment, Timeline};
use oomscope_units as units;

/// A weight: `2.63 GiB`, `1.25 GiB·s`.
pub fn weight_text(unit: WeightUnit, weight: i128) -> String {
    match unit {
        WeightUnit::Bytes => units::bytes(Bytes::clamped(weight)),
        WeightUnit::ByteMicros => units::byte_seconds(weight),
        WeightUnit::ByteEvents => units::byte_events(weight),
    }
}

/// The allocations that were weighed: `61 blocks after event 2,528`. `is_filtered` says whether a filter chose them.
pub fn measure_text(measure: Measure, totals: &Totals, timeline: &Timeline, is_filtered: bool) -> String {
    let of_filter = if is_filtered { " that match the filter" } else { "" };
    let things = |one: &str, many: &str| {
        let name = if totals.count == 1 { one } else { many };
        format!("{} {name}{of_filter}", units::count(totals.count))
    };
    let allocations = || things("allocation", "allocations");
    match measure {
        Measure::Live { at } if timeline.active.peak().0 == at => {
            format!("{} at the peak, {}", things("block", "blocks"), place(at))
        }
        Measure::Live { at } => format!("{} {}", things("block", "blocks"), place(at)),
        Measure::Allocated { after, until } => format!("{} {}", allocations(), range(after, until, timeline)),
        Measure::Grown { from, to } => {
            format!("{} of stacks that grew {}", allocations(), range(from, to, timeline))
        }
        Measure::Shrunk { from, to } => {
            format!("{} of stacks that shrank {}", allocations(), range(from, to, timeline))
        }
        Measure::ByteTime { from, to } => format!("{} {}", allocations(), range(from, to, timeline)),
    }
}

/// A measure as a heading.
pub fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Live { .. } => "Live bytes by stack",
        Measure::Allocated { .. } => "Allocated bytes by stack, freed or not",
        Measure::Grown { .. } => "Growth of live bytes by stack",
        Measure::Shrunk { .. } => "Shrinkage of live bytes by stack",
        Measure::ByteTime { .. } => "Bytes × time by stack",
    }
}

fn place(at: Moment) -> String {
    match at.event() {
        Some(event) => format!("after event {}", units::count(event.0)),
        None => "before the first event".to_owned(),
    }
}

fn range(from: Moment, to: Moment, timeline: &Timeline) -> String {
    if from == Moment::START && to.index() + 1 == timeline.moments() {
        return "in the whole recording".to_owned();
    }
    // The range is from the state after one event to the state after another.
    let first = units::count(from.0);
    match to.event() {
        Some(last) if from < to => format!("from event {first} to {}", units::count(last.0)),
        _ => "in no event: the mark is at the cursor".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn measures_read_as_sentences() {
        let timeline = fixture::timeline(&fixture::sawtooth(24));
        let totals = |count| Totals { count, ..Totals::default() };
        let text =
            |measure, count, is_filtered| measure_text(measure, &totals(count), &timeline, is_filtered);
        let (live, peak) = (|at| Measure::Live { at: Moment(at) }, timeline.active.peak().0);
        assert_eq!(text(live(3), 1, false), "1 block after event 2");
        assert_eq!(text(live(0), 0, true), "0 blocks that match the filter before the first event");
        assert_eq!(text(live(peak.0), 8, false), "8 blocks at the peak, after event 7");
        let allocated = |after, until| Measure::Allocated { after: Moment(after), until: Moment(until) };
        assert_eq!(text(allocated(0, 24), 9, false), "9 allocations in the whole recording");
        assert_eq!(text(allocated(4, 9), 2, false), "2 allocations from event 4 to 8");
        let grown = Measure::Grown { from: Moment(4), to: Moment(9) };
        assert_eq!(text(grown, 2, false), "2 allocations of stacks that grew from event 4 to 8");
        assert_eq!(text(allocated(4, 4), 0, false), "0 allocations in no event: the mark is at the cursor");
    }

    #[test]
    fn weights_have_the_unit_of_what_was_weighed() {
        assert_eq!(weight_text(WeightUnit::Bytes, 3 << 30), "3.00 GiB");
        assert_eq!(weight_text(WeightUnit::Bytes, i128::MAX), "8.00 EiB");
        assert_eq!(weight_text(WeightUnit::ByteEvents, 2048), "2.00 KiB·events");
    }
}
