//! Lanes: named ranges of a recording, annotations as well as iterations and phases.

use super::attribution::{Phase, Phases};
use super::events::named_spans::{NamedSpan, named_spans};
use oomscope_model::{Moment, Recording, Snapshot, StrId, Timeline};
use std::borrow::Cow;

/// Number of lanes: the ranges at one time that are shown. Deeper ones are only counted, since their lanes
/// would leave no room for the picture.
const MAX_LANES: usize = 8;

/// The name of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RangeName {
    /// The name that the program or a profiler gave it.
    Recorded(StrId),
    /// An iteration, by its number if that is known, else by its place among those in the trace; both
    /// from 0.
    Iteration {
        /// The number or place.
        number: u32,
        /// True for a number, false for a place.
        is_known: bool,
    },
    /// A phase.
    Phase(Phase),
}

impl RangeName {
    /// The name as text, bounded. Recorded names may contain control characters.
    pub fn text(self, snapshot: &Snapshot) -> Cow<'_, str> {
        match self {
            Self::Recorded(name) => snapshot.strings.name(name),
            Self::Iteration { number, is_known: true } => Cow::Owned(format!("iteration {number}")),
            Self::Iteration { number, is_known: false } => {
                Cow::Owned(format!("iteration {number} of the recording"))
            }
            Self::Phase(phase) => Cow::Borrowed(phase.key()),
        }
    }
}

/// A named range of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedRange {
    /// Its name.
    pub name: RangeName,
    /// Start and end, in microseconds since the first recorded time of the timeline.
    pub time_us: [i64; 2],
    /// The first moment that starts within it, and the first after it.
    pub moments: [Moment; 2],
    /// True if its start was recorded, and true if its end was. A missing one is that of the recording.
    pub has_ends: [bool; 2],
}

impl NamedRange {
    /// True if both ends were recorded.
    pub fn is_whole(&self) -> bool {
        self.has_ends == [true; 2]
    }
}

/// Named ranges of one device. Ranges within a lane are ascending and do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The lanes, outermost ranges first.
    pub lanes: Vec<Vec<NamedRange>>,
    /// Number of ranges that found no lane.
    pub hidden: usize,
}

/// The annotations of a recording. Empty if the events have no times, by which alone a range can be placed.
pub fn lanes(recording: &Recording) -> Lanes {
    let mut ranges = annotation_ranges(recording);
    // Of ranges with the same start, the longest is the outermost and comes first.
    ranges.sort_by_key(|range| (range.time_us[0], std::cmp::Reverse(range.time_us[1]), range.name));
    place(ranges)
}

/// All annotations of a recording, in the order in which they end. Empty if the events have no times.
pub fn annotation_ranges(recording: &Recording) -> Vec<NamedRange> {
    let Some(first_us) = recording.times.first_us() else { return Vec::new() };
    let after = |time_us| {
        let moment = recording.times.moment_at(&recording.events, time_us);
        if time_us < 0 { Moment::START } else { Moment(moment.0.saturating_add(1)) }
    };
    let spans =
        named_spans(recording.snapshot(), Some(recording.device), recording.times.span_us(), first_us);
    let ranges = spans.into_iter().map(|NamedSpan { name, time_us, has_ends }| NamedRange {
        name: RangeName::Recorded(name),
        time_us,
        moments: time_us.map(after),
        has_ends,
    });
    ranges.collect()
}

/// A lane of iterations and a lane of phases; lanes without ranges are left out.
pub fn structure_lanes(timeline: &Timeline, phases: &Phases) -> Vec<Vec<NamedRange>> {
    let range = |name, from: u32, to: u32| {
        let moments = [Moment(from.saturating_add(1)), Moment(to.saturating_add(1))];
        let time_us = moments.map(|moment| timeline.times.at(&timeline.events, moment));
        NamedRange { name, time_us, moments, has_ends: [true; 2] }
    };
    let end = timeline.events.len() as u32;
    let first = phases.iterations.first_number;
    let iterations = phases.iterations.list.iter().zip(0..).map(|(iteration, at)| {
        let number = first.unwrap_or_default().saturating_add(at);
        let name = RangeName::Iteration { number, is_known: first.is_some() };
        range(name, iteration.start.0, iteration.end.0)
    });
    let phase_ranges = phases
        .spans(end)
        .filter(|(phase, _)| *phase != Phase::Unknown)
        .map(|(phase, [from, to])| range(RangeName::Phase(phase), from, to));
    let lanes: [Vec<NamedRange>; 2] = [iterations.collect(), phase_ranges.collect()];
    lanes.into_iter().filter(|lane| !lane.is_empty()).collect()
}

/// Put each range into the first lane in which it overlaps no other.
fn place(ranges: Vec<NamedRange>) -> Lanes {
    debug_assert!(
        ranges.is_sorted_by_key(|range| range.time_us[0]),
        "ranges are in the order of their start"
    );
    let mut out = Lanes::default();
    for range in ranges {
        let is_free =
            |lane: &Vec<NamedRange>| lane.last().is_none_or(|last| last.time_us[1] <= range.time_us[0]);
        match out.lanes.iter().position(is_free) {
            Some(at) => out.lanes[at].push(range),
            None if out.lanes.len() < MAX_LANES => out.lanes.push(vec![range]),
            None => out.hidden += 1,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i64, end: i64) -> NamedRange {
        NamedRange {
            name: RangeName::Recorded(StrId(0)),
            time_us: [start, end],
            moments: [Moment::START; 2],
            has_ends: [true; 2],
        }
    }

    #[test]
    fn nested_ranges_go_below_and_later_ones_beside() {
        let lanes = place(vec![range(0, 100), range(10, 40), range(15, 20), range(40, 60), range(100, 120)]);
        let times: Vec<Vec<[i64; 2]>> =
            lanes.lanes.iter().map(|lane| lane.iter().map(|range| range.time_us).collect()).collect();
        assert_eq!(times, [vec![[0, 100], [100, 120]], vec![[10, 40], [40, 60]], vec![[15, 20]]]);
    }

    #[test]
    fn what_finds_no_lane_is_counted() {
        let lanes = place((0..20).map(|start| range(start, 100)).collect());
        assert_eq!((lanes.lanes.len(), lanes.hidden), (MAX_LANES, 20 - MAX_LANES));
    }
}
