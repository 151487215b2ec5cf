//! What the timeline of an HTML report can be asked: instants of columns, as the timeline chooses them, with what was in
//! memory then.

use oomscope_analysis::{Attribution, CategoryBytes, NamedRange, RangeName, structure_lanes};
use oomscope_draw::totals;
use oomscope_model::{EventIx, Moment, Timeline};
use oomscope_report::{FigureColumn, FigureInstant, FigureMark, MarkKind, MemoryFigure};
use std::collections::BTreeMap;
use std::ops::Range;

/// The most columns: a column is more than a pixel wide on a screen, and the data stay small.
const MAX_COLUMNS: usize = 600;

/// The most requests that failed which have a mark of their own, the latest: each is a place to go to.
const MAX_FAILED: usize = 16;

/// Fewer moments than this are no course: before and after a single event.
const MIN_MOMENTS: usize = 3;

/// Memory over time, for a report about a moment; `None` where hardly anything was recorded.
pub(super) fn memory_figure(
    timeline: &Timeline,
    attribution: &Attribution,
    moment: Moment,
) -> Option<MemoryFigure> {
    if timeline.moments() < MIN_MOMENTS {
        return None;
    }
    let source = Source::new(timeline, attribution);
    let ranges: Vec<Range<usize>> = totals::ranges(timeline.moments(), MAX_COLUMNS).collect();
    let shown: Vec<Moment> =
        ranges.iter().filter_map(|range| timeline.active.peak_in(range.clone())).map(|(at, _)| at).collect();
    let marked = marked(timeline, moment);
    let mut moments: Vec<Moment> = shown.iter().copied().chain(marked.iter().map(|(at, _)| *at)).collect();
    moments.sort_unstable();
    moments.dedup();
    let live = attribution.categories.bytes_over(timeline, &moments);
    let live: BTreeMap<Moment, Vec<CategoryBytes>> = moments.into_iter().zip(live).collect();
    let instant = |at: Moment| source.instant(at, live.get(&at).cloned().unwrap_or_default());
    let column = |(range, at): (&Range<usize>, &Moment)| FigureColumn {
        instant: instant(*at),
        most_reserved: timeline.reserved.max_in(range.clone()),
    };
    let columns: Vec<FigureColumn> = ranges.iter().zip(&shown).map(column).collect();
    let column_of =
        |at: Moment| ranges.partition_point(|range| range.end <= at.index()).min(ranges.len() - 1);
    let mark =
        |&(at, kind): &(Moment, MarkKind)| FigureMark { kind, column: column_of(at), instant: instant(at) };
    Some(MemoryFigure {
        moments: timeline.moments(),
        columns,
        at: marked.iter().position(|(at, _)| *at == moment).unwrap_or_default(),
        marks: marked.iter().map(mark).collect(),
        is_numbered: attribution.phases.iterations.first_number.is_some(),
    })
}

/// The moments that have marks, ascending. A moment has one, for the reason that says most.
fn marked(timeline: &Timeline, moment: Moment) -> Vec<(Moment, MarkKind)> {
    let latest = timeline.ooms.len().saturating_sub(MAX_FAILED);
    let failed = timeline.ooms.iter().skip(latest).map(|oom| Moment::after(oom.event));
    let mut marks = BTreeMap::from([(moment, MarkKind::Report), (timeline.active.peak().0, MarkKind::Peak)]);
    marks.extend(failed.map(|at| (at, MarkKind::OutOfMemory)));
    // A report may be about a failure before the latest.
    if timeline.ooms.iter().any(|oom| Moment::after(oom.event) == moment) {
        marks.insert(moment, MarkKind::OutOfMemory);
    }
    marks.into_iter().collect()
}

/// What instants are read from.
struct Source<'a> {
    timeline: &'a Timeline,
    /// Iterations and phases.
    lanes: Vec<Vec<NamedRange>>,
}

impl<'a> Source<'a> {
    fn new(timeline: &'a Timeline, attribution: &Attribution) -> Self {
        Self { timeline, lanes: structure_lanes(timeline, &attribution.phases) }
    }

    fn instant(&self, moment: Moment, categories: Vec<CategoryBytes>) -> FigureInstant {
        let timeline = self.timeline;
        let has_time = |event: EventIx| timeline.events.time_us(event).is_some();
        let (mut iteration, mut phase) = (None, None);
        for lane in &self.lanes {
            match range_at(lane, moment).map(|range| range.name) {
                Some(RangeName::Iteration { number, .. }) => iteration = Some(number),
                Some(RangeName::Phase(found)) => phase = Some(found.key()),
                Some(RangeName::Recorded(_)) | None => {}
            }
        }
        FigureInstant {
            moment,
            time_us: moment
                .event()
                .filter(|&event| has_time(event))
                .map(|_| timeline.times.at(&timeline.events, moment)),
            allocated: timeline.allocated.at(moment),
            active: timeline.active.at(moment),
            reserved: timeline.reserved.at(moment),
            iteration,
            phase,
            categories,
        }
    }
}

/// The range of a lane that a moment lies in.
fn range_at(lane: &[NamedRange], moment: Moment) -> Option<&NamedRange> {
    let after = lane.partition_point(|range| range.moments[0] <= moment);
    lane.get(after.checked_sub(1)?).filter(|range| moment < range.moments[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::UserRules;
    use oomscope_fixtures::first;
    use oomscope_snapshot::load::{Input, Progress, load};

    #[test]
    fn columns_have_the_most_of_their_span_and_what_it_was_made_of() {
        for name in ["frag_oom.pickle", "gpt_oom_forward.pickle", "late_start.pickle.gz", "pools.pickle"] {
            let path =
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots").join(name);
            let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
            let attribution = Attribution::of(&recording, &UserRules::default());
            let figure = memory_figure(&recording, &attribution, recording.active.peak().0).expect("events");
            assert!(figure.columns.len() <= MAX_COLUMNS);
            let ranges = totals::ranges(recording.moments(), MAX_COLUMNS);
            for (range, column) in ranges.zip(&figure.columns) {
                let FigureInstant { moment, active, categories, .. } = &column.instant;
                assert_eq!(
                    range.clone().map(|at| recording.active.at(Moment(at as u32))).max(),
                    Some(*active)
                );
                assert!(range.contains(&moment.index()));
                assert_eq!(*categories, attribution.categories.bytes_at(&recording, *moment), "{name}");
                assert!(column.instant.reserved <= column.most_reserved);
            }
            assert_eq!(figure.marks[figure.at].instant.moment, recording.active.peak().0);
            for mark in &figure.marks {
                assert!(figure.columns[mark.column].instant.active >= mark.instant.active);
            }
        }
    }

    #[test]
    fn only_the_latest_failures_are_places_to_go_to() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../sample_snapshots/leak_attempts.pickle.gz");
        let snapshot = load(&Input::File(path), &Progress::default()).expect("a sample");
        let timeline = &snapshot.timelines[0];
        let first = Moment::after(timeline.ooms[0].event);
        let marks = marked(timeline, first);
        assert!(marks.contains(&(first, MarkKind::OutOfMemory)) && marks.len() <= MAX_FAILED + 2);
        assert!(marks.is_sorted_by_key(|(at, _)| *at));
    }
}
