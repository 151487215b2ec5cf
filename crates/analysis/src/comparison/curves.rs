//! The curves of two recordings on one axis.

use super::side::Side;
use crate::MomentRange;
use oomscope_model::{Bytes, Moment, Timeline};
use std::sync::Arc;

/// What lies at the same place of the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlignBy {
    /// Events with the same number.
    Event,
    /// Instants with the same time since the first event.
    Time,
    /// Starts of iterations with the same number, or else the same place in the recording. Between two starts, events have
    /// equal widths.
    Iteration,
    /// The starts of ranges of either side with the same number, and the end of the last. What lies before the first start or
    /// after the last end is no part of the axis. Between two starts, events have equal widths.
    Ranges([Arc<[MomentRange]>; 2]),
}

/// Two recordings on one axis.
#[derive(Debug)]
pub struct Aligned<'a> {
    timelines: [&'a Timeline; 2],
    axes: [Axis; 2],
    /// The first place of the axis and the last.
    pub span: [f64; 2],
}

/// The memory in one column of a picture of both curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignedColumn {
    /// For either side the moment in the column at which most is active; `None` where it has no moment there.
    pub peaks: [Option<(Moment, Bytes)>; 2],
}

/// The places of one recording's moments.
#[derive(Debug)]
enum Axis {
    /// Straight lines between knots: a place and a moment, both ascending.
    Knots(Vec<(f64, f64)>),
    /// Microseconds since the first event.
    Time,
}

impl<'a> Aligned<'a> {
    /// Align two recordings. `None` if one has no times, no iterations or no ranges, and these are asked for.
    pub fn new(sides: [&Side<'a>; 2], by: &AlignBy) -> Option<Self> {
        let timelines = sides.map(|side| side.recording.timeline());
        let last = |timeline: &Timeline| timeline.moments().saturating_sub(1) as f64;
        let axes = match by {
            AlignBy::Event => {
                timelines.map(|timeline| Axis::Knots(vec![(0.0, 0.0), (last(timeline), last(timeline))]))
            }
            AlignBy::Time if timelines.iter().all(|timeline| timeline.times.has_times()) => {
                [Axis::Time, Axis::Time]
            }
            AlignBy::Time => return None,
            AlignBy::Iteration => iteration_axes(sides)?.map(Axis::Knots),
            AlignBy::Ranges([a, b]) => [range_axis(a)?, range_axis(b)?].map(Axis::Knots),
        };
        let mut aligned = Self { timelines, axes, span: [0.0, 1.0] };
        let ends = [0, 1].map(|side| aligned.ends(side));
        aligned.span = [ends[0][0].min(ends[1][0]), ends[0][1].max(ends[1][1])];
        Some(aligned)
    }

    /// The best of the alignments that both recordings allow: by iterations, else by events.
    pub fn best(sides: [&Side<'a>; 2]) -> Option<(AlignBy, Self)> {
        let mut ways = [AlignBy::Iteration, AlignBy::Event].into_iter();
        ways.find_map(|by| Self::new(sides, &by).map(|aligned| (by, aligned)))
    }

    /// The first and the last place of a side.
    fn ends(&self, side: usize) -> [f64; 2] {
        match &self.axes[side] {
            Axis::Knots(knots) => [knots.first(), knots.last()].map(|knot| knot.map_or(0.0, |knot| knot.0)),
            Axis::Time => [0.0, self.timelines[side].times.span_us() as f64],
        }
    }

    /// The place of a side's moment on the axis.
    pub fn place(&self, side: usize, moment: Moment) -> f64 {
        let timeline = self.timelines[side];
        match &self.axes[side] {
            Axis::Knots(knots) => between(knots, |&(place, at)| (at, place), f64::from(moment.0)),
            Axis::Time => {
                let first = timeline.times.first_us().unwrap_or_default();
                timeline.times.at(&timeline.events, moment).saturating_sub(first) as f64
            }
        }
    }

    /// Whether a side's moment is on its part of the axis.
    pub fn has(&self, side: usize, moment: Moment) -> bool {
        let at = f64::from(moment.0);
        match &self.axes[side] {
            Axis::Knots(knots) => {
                knots.first().is_some_and(|first| first.1 <= at)
                    && knots.last().is_some_and(|last| at <= last.1)
            }
            Axis::Time => true,
        }
    }

    /// The last moment of a side at or before a place; `None` outside of its part of the axis.
    pub fn moment(&self, side: usize, place: f64) -> Option<Moment> {
        let [from, to] = self.ends(side);
        (from <= place && place <= to).then(|| self.moment_near(side, place))
    }

    fn moment_near(&self, side: usize, place: f64) -> Moment {
        let timeline = self.timelines[side];
        let last = timeline.moments().saturating_sub(1) as u32;
        match &self.axes[side] {
            // What rounding took from a whole number is given back.
            Axis::Knots(knots) => {
                Moment((between(knots, |&knot| knot, place) + 1e-6).max(0.0) as u32).min(Moment(last))
            }
            Axis::Time => {
                let first = timeline.times.first_us().unwrap_or_default();
                timeline.times.moment_at(&timeline.events, first.saturating_add(place as i64))
            }
        }
    }

    /// Both curves of active bytes in columns of equal width, each with its largest value there.
    pub fn columns(&self, columns: usize) -> Vec<AlignedColumn> {
        let width = (self.span[1] - self.span[0]) / columns.max(1) as f64;
        let peak = |side: usize, column: usize| {
            let from = self.span[0] + width * column as f64;
            let [first, last] = self.ends(side);
            let to = (from + width).min(last);
            if to < first || last < from {
                return None;
            }
            let from = self.moment_near(side, from.max(first)).index();
            let to = self.moment_near(side, to).index();
            self.timelines[side].active.peak_in(from..to.max(from) + 1)
        };
        (0..columns).map(|column| AlignedColumn { peaks: [peak(0, column), peak(1, column)] }).collect()
    }
}

/// The value at `x` on straight lines between points that ascend in both directions; that of the nearest point outside of them.
fn between(knots: &[(f64, f64)], point: impl Fn(&(f64, f64)) -> (f64, f64), x: f64) -> f64 {
    let after = knots.partition_point(|knot| point(knot).0 <= x);
    let before = after.checked_sub(1).and_then(|at| knots.get(at)).map(&point);
    match (before, knots.get(after).map(&point)) {
        (Some((from_x, from_y)), Some((to_x, to_y))) => {
            from_y + (to_y - from_y) * ((x - from_x) / (to_x - from_x)).clamp(0.0, 1.0)
        }
        (Some((_, y)), None) | (None, Some((_, y))) => y,
        (None, None) => 0.0,
    }
}

/// Knots at the starts of ranges, whose places are their numbers, and at the end of the last. `None` without events in them.
fn range_axis(ranges: &[MomentRange]) -> Option<Vec<(f64, f64)>> {
    let end = ranges.iter().map(|range| range.to).max()?;
    let starts = (0u32..).zip(ranges).map(|(number, range)| (f64::from(number), f64::from(range.from.0)));
    let mut knots: Vec<(f64, f64)> = starts.collect();
    knots.push((ranges.len() as f64, f64::from(end.0)));
    let (first, last) = (knots.first()?.1, knots.last()?.1);
    // Of ranges that lie before the first event or after the last, nothing was recorded.
    let from = knots.iter().rposition(|knot| knot.1 <= first)?;
    let to = knots.iter().position(|knot| last <= knot.1)?;
    (from < to).then(|| knots[from..=to].to_vec())
}

/// Knots at the starts of iterations, whose places are their numbers. `None` without iterations.
fn iteration_axes(sides: [&Side<'_>; 2]) -> Option<[Vec<(f64, f64)>; 2]> {
    let iterations = sides.map(|side| &side.attribution.phases.iterations);
    let is_numbered = iterations.iter().all(|iterations| iterations.first_number.is_some());
    let axis = |side: usize| -> Option<Vec<(f64, f64)>> {
        let number = iterations[side].first_number.filter(|_| is_numbered).unwrap_or_default();
        let list = &iterations[side].list;
        let (first, last) = (list.first()?, list.last()?);
        let place = |at: usize| f64::from(number) + at as f64;
        let mut knots = Vec::with_capacity(list.len() + 2);
        // What comes before the first iteration gets the width of one.
        if 0 < first.start.0 {
            knots.push((place(0) - 1.0, 0.0));
        }
        knots.extend(list.iter().enumerate().map(|(at, one)| (place(at), f64::from(one.start.0))));
        knots.push((place(list.len()), f64::from(last.end.0)));
        Some(knots)
    };
    Some([axis(0)?, axis(1)?])
}
