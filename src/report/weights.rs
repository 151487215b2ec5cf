//! What stacks weigh, as text.

use crate::analysis::{Measure, Totals, WeightUnit};
use crate::model::{Moment, Timeline};
use crate::units;

/// A weight: `2.63 GiB`, `1.25 GiB·s`.
pub fn weight_text(unit: WeightUnit, weight: i128) -> String {
    match unit {
        WeightUnit::Bytes => units::bytes(units::clamped(weight)),
        WeightUnit::ByteMicros => units::byte_seconds(weight),
        WeightUnit::ByteEvents => units::byte_events(weight),
    }
}

/// What was weighed: `61 blocks after event 2,528`.
pub fn measure_text(measure: Measure, totals: &Totals, timeline: &Timeline) -> String {
    let things = |one: &str, many: &str| {
        format!("{} {}", units::count(totals.count), if totals.count == 1 { one } else { many })
    };
    let allocations = || things("allocation", "allocations");
    match measure {
        Measure::Live { at } if timeline.active.peak().0 == at => {
            format!("{} at the peak, {}", things("block", "blocks"), place(at))
        }
        Measure::Live { at } => format!("{} {}", things("block", "blocks"), place(at)),
        Measure::Allocated { after, until } => format!("{} {}", allocations(), range(after, until, timeline)),
        Measure::ByteTime { from, to } => format!("{} {}", allocations(), range(from, to, timeline)),
    }
}

/// What a measure weighs, as a heading.
pub fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Live { .. } => "Live bytes by stack",
        Measure::Allocated { .. } => "Allocated bytes by stack, freed or not",
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
