//! The columns of a segment timeline: the moments of each, and the share of it that an allocation lasts.

use crate::{Axis, View};
use oomscope_model::{AllocId, Moment, Timeline};
use std::ops::Range;

/// Least share of a column that an allocation has: on a time axis, one that begins and ends in the same
/// microsecond still counts.
const MIN_PART: f32 = 1e-6;

/// The different columns of a picture. Zoomed in, many columns of the picture show the same, which is
/// painted once.
pub(super) struct Columns {
    /// From left to right.
    pub(super) all: Vec<Column>,
    /// Index into `all` by column of the picture; `None` outside of the timeline.
    pub(super) of_picture: Vec<Option<usize>>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// The moments that it shows; never empty.
    pub(super) moments: Range<u32>,
    /// The time that it stands for, in microseconds since the first recorded time; `None` if moments count
    /// alike, by event or for a single moment.
    window_us: Option<[f64; 2]>,
}

/// The life of an allocation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    /// First moment.
    pub(super) start: u32,
    /// First moment at which it is gone; `u32::MAX` if it survives the trace.
    pub(super) end: u32,
    /// Start and end, in microseconds since the first recorded time; `None` by event, or if a time is
    /// missing.
    times_us: Option<[f64; 2]>,
}

impl Columns {
    /// The columns of a view.
    pub(super) fn new(timeline: &Timeline, view: &View, width: usize) -> Self {
        let scale = view.on(timeline);
        let mut out = Self { all: Vec::with_capacity(width), of_picture: Vec::with_capacity(width) };
        for x in 0..width {
            let moments = scale.moments_of_column(x, width);
            if moments.is_empty() {
                out.of_picture.push(None);
                continue;
            }
            let edge = |x: usize| view.position_from_x(x as f64 / width as f64);
            let is_timed = view.axis == Axis::Time && 1 < moments.len();
            let window_us = is_timed.then(|| [edge(x), edge(x + 1)]);
            let column = Column { moments: moments.start as u32..moments.end as u32, window_us };
            if out.all.last() != Some(&column) {
                out.all.push(column);
            }
            out.of_picture.push(Some(out.all.len() - 1));
        }
        out
    }
}

impl Life {
    /// The life of an allocation. Times are only read for a time axis.
    #[inline]
    pub(super) fn of(timeline: &Timeline, id: AllocId, axis: Axis) -> Self {
        let lifetimes = &timeline.lifetimes;
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let times_us = (axis == Axis::Time).then(|| {
            let (from, to) = (start.event(), end.and_then(Moment::event));
            let time = |at| timeline.events.time_us(at).map(|at| at as f64);
            let first = timeline.times.first_us().unwrap_or(0) as f64;
            let from = from.map_or(Some(f64::NEG_INFINITY), time)?;
            let to = to.map_or(Some(f64::INFINITY), time)?;
            Some([from - first, to - first])
        });
        Self { start: start.0, end: end.map_or(u32::MAX, |end| end.0), times_us: times_us.flatten() }
    }
}

impl Column {
    /// Number of the column's moments from `start` to before `end`.
    #[inline]
    pub(super) fn overlap(&self, start: u32, end: u32) -> u32 {
        self.moments.end.min(end).saturating_sub(self.moments.start.max(start))
    }

    /// The share of the column that a life lasts, from 0 to 1.
    #[inline]
    pub(super) fn part(&self, life: &Life) -> f32 {
        let by_moments = || self.overlap(life.start, life.end) as f32 / self.moments.len() as f32;
        match (self.window_us, life.times_us) {
            (Some([left, right]), Some([from, to])) => {
                let part = (to.min(right) - from.max(left)) / (right - left);
                (part as f32).clamp(MIN_PART * by_moments(), 1.0)
            }
            _ => by_moments(),
        }
    }
}

/// The columns that show any moment from `start` to before `end`.
#[inline]
pub(super) fn touched(columns: &[Column], start: u32, end: u32) -> Range<usize> {
    let first = columns.partition_point(|column| column.moments.end <= start);
    let rest = &columns[first..];
    if rest.first().is_none_or(|column| end <= column.moments.start) {
        return first..first;
    }
    // Most allocations are over within a column.
    let is_short = rest.get(1).is_none_or(|next| end <= next.moments.start);
    let count = if is_short { 1 } else { rest.partition_point(|column| column.moments.start < end) };
    first..first + count
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use proptest::prelude::*;

    #[test]
    fn by_time_what_lasts_longer_has_more_of_a_column() {
        // Three events at once, then nothing for 90 µs.
        let steps = [Step::Alloc(0, 1), Step::Free(0, 1), Step::Alloc(1, 1), Step::Free(1, 1)];
        let timeline = fixture::timed(&steps, &[1000, 1005, 1010, 1100]);
        let view = View { x0: 0.0, x1: 100.0, ..View::fit_on(&timeline, Axis::Time) };
        let columns = Columns::new(&timeline, &view, 1);
        let part = |id| columns.all[0].part(&Life::of(&timeline, AllocId(id), Axis::Time));
        assert!((part(0) - 0.05).abs() < 1e-6 && (part(1) - 0.9).abs() < 1e-6);
        let by_event = Columns::new(&timeline, &View::fit(&timeline), 1);
        let part = |id| by_event.all[0].part(&Life::of(&timeline, AllocId(id), Axis::Event));
        assert_eq!((part(0), part(1)), (0.2, 0.2));
    }

    #[test]
    fn equal_columns_are_one() {
        let timeline = fixture::timeline(&[Step::Alloc(0, 1), Step::Alloc(1, 1)]);
        let view = View { x0: 0.0, x1: 4.0, ..View::fit(&timeline) };
        let columns = Columns::new(&timeline, &view, 8);
        assert_eq!(
            columns.all.iter().map(|column| column.moments.clone()).collect::<Vec<_>>(),
            [0..1, 1..2, 2..3]
        );
        let expected = [Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), None, None];
        assert_eq!(columns.of_picture, expected);
    }

    proptest! {
        #[test]
        fn touched_columns_are_those_with_a_moment_in_common(
            edges in proptest::collection::btree_set(0u32..60, 2..20),
            start in 0u32..60,
            length in 1u32..60,
        ) {
            let edges: Vec<u32> = edges.into_iter().collect();
            let columns: Vec<Column> = edges.windows(2).map(|w| Column { moments: w[0]..w[1], window_us: None }).collect();
            let end = start + length;
            let found: Vec<usize> = touched(&columns, start, end).collect();
            let naive: Vec<usize> = (0..columns.len()).filter(|&i| columns[i].overlap(start, end) != 0).collect();
            prop_assert_eq!(found, naive);
        }
    }
}
