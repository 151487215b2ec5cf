//! A view on a timeline: from moments to the picture and back.

use super::view::{Axis, View};
use oomscope_model::{Moment, Timeline};
use std::ops::Range;

/// A view together with the timeline that it shows.
///
/// Moments are fractions here: `m + 0.5` is the middle of the moment `m`.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a> {
    /// The view.
    pub view: &'a View,
    /// The timeline.
    pub timeline: &'a Timeline,
}

impl View {
    /// This view on a timeline.
    pub fn on<'a>(&'a self, timeline: &'a Timeline) -> Scale<'a> {
        Scale { view: self, timeline }
    }
}

impl Scale<'_> {
    /// The start of a moment, as a fraction from the left.
    pub fn x_from_moment(&self, moment: f64) -> f64 {
        self.view.x_from_position(self.position_from_moment(moment))
    }

    /// The moment at a fraction from the left.
    pub fn moment_from_x(&self, x: f64) -> f64 {
        self.moment_from_position(self.view.position_from_x(x))
    }

    /// The position on the axis at which a moment starts.
    pub fn position_from_moment(&self, moment: f64) -> f64 {
        match self.view.axis {
            Axis::Event => moment,
            Axis::Time => {
                let whole = moment.max(0.0).floor();
                let (start, end) = self.time_us(Moment(whole as u32));
                start + (moment - whole).clamp(0.0, 1.0) * (end - start)
            }
        }
    }

    /// The moment at a position on the axis.
    pub fn moment_from_position(&self, position: f64) -> f64 {
        match self.view.axis {
            Axis::Event => position,
            Axis::Time => {
                let moment = self.moment_at_us(position);
                let (start, end) = self.time_us(moment);
                let part = if start < end { (position - start) / (end - start) } else { 0.0 };
                f64::from(moment.0) + part.clamp(0.0, 1.0 - f64::EPSILON)
            }
        }
    }

    /// The positions on the axis at which a moment starts and ends.
    pub fn positions_of(&self, moment: Moment) -> (f64, f64) {
        match self.view.axis {
            Axis::Event => (f64::from(moment.0), f64::from(moment.0) + 1.0),
            Axis::Time => self.time_us(moment),
        }
    }

    /// The moments that a column of a picture with `columns` columns stands for; empty outside of the
    /// timeline. By event, columns share no moment unless a moment is wider than a column. By time, a
    /// column also has the moment that has begun before it and lasts into it.
    pub fn moments_of_column(&self, column: usize, columns: usize) -> Range<usize> {
        self.moments_beside(column as i64, columns)
    }

    /// The same of a column that may lie beside the picture: the one before the first is -1.
    pub(crate) fn moments_beside(&self, column: i64, columns: usize) -> Range<usize> {
        let edge = |i: i64| self.view.position_from_x(i as f64 / columns as f64);
        match self.view.axis {
            Axis::Event => self.events_of_column(column, columns),
            Axis::Time => {
                let (left, right) = (edge(column), edge(column + 1));
                if self.timeline.times.span_us() as f64 + 1.0 < left || right <= 0.0 {
                    return 0..0;
                }
                // The end belongs to the next column.
                let last = self.moment_at_us((right.ceil() - 1.0).max(left));
                self.first_moment_us(left).index()..last.index() + 1
            }
        }
    }

    fn events_of_column(&self, column: i64, columns: usize) -> Range<usize> {
        let view = self.view;
        let inside = |at: f64| at.floor().clamp(0.0, self.timeline.moments() as f64) as usize;
        // A moment is at least as wide as a column, which shows the one at its middle.
        if view.span() / columns as f64 <= 1.0 {
            let center = view.position_from_x((column as f64 + 0.5) / columns as f64);
            return inside(center)..inside(center.floor() + 1.0);
        }
        let edge = |i: i64| view.position_from_x(i as f64 / columns as f64).floor();
        inside(edge(column))..inside(edge(column + 1).max(edge(column) + 1.0))
    }

    /// The start and the end of a moment, in microseconds since the first recorded time.
    fn time_us(&self, moment: Moment) -> (f64, f64) {
        let at = |moment| self.timeline.times.at(&self.timeline.events, moment) as f64;
        (at(moment), at(Moment(moment.0.saturating_add(1))))
    }

    /// The first moment that is not over at a time. Several moments may start and end at the same time.
    fn first_moment_us(&self, time_us: f64) -> Moment {
        if time_us <= 0.0 {
            return Moment::START;
        }
        let before = self.moment_at_us(time_us.ceil() - 1.0);
        let (_, end) = self.time_us(before);
        if end <= time_us { Moment(before.0.saturating_add(1)) } else { before }
    }

    fn moment_at_us(&self, time_us: f64) -> Moment {
        self.timeline.times.moment_at(&self.timeline.events, time_us.max(0.0) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};

    fn steps(n: usize) -> Vec<Step> {
        (0..n as u64).map(|slot| Step::Alloc(slot, 512)).collect()
    }

    #[test]
    fn columns_partition_the_moments() {
        let timeline = fixture::timeline(&steps(999));
        let full = View { x1: 1000.0, ..View::fit(&timeline) };
        let mut next = 0;
        for column in 0..300 {
            let moments = full.on(&timeline).moments_of_column(column, 300);
            assert_eq!(moments.start, next);
            next = moments.end;
        }
        assert_eq!(next, 1000);
        let near = View { x0: 10.0, x1: 12.0, ..full };
        assert_eq!(near.on(&timeline).moments_of_column(0, 100), 10..11);
        assert_eq!(near.on(&timeline).moments_of_column(99, 100), 11..12);
        let behind = View { x0: 1000.0, x1: 1010.0, ..full };
        assert!(behind.on(&timeline).moments_of_column(5, 10).is_empty());
    }

    #[test]
    fn on_a_time_axis_a_moment_lasts_until_the_next_event() {
        // Events at 0, 10, 10 and 40 µs.
        let timeline = fixture::timed(&steps(4), &[100, 110, 110, 140]);
        let view = View { x0: 0.0, x1: 50.0, ..View::fit_on(&timeline, Axis::Time) };
        let scale = view.on(&timeline);
        assert_eq!(scale.positions_of(Moment(1)), (0.0, 10.0));
        assert_eq!(scale.positions_of(Moment(3)), (10.0, 40.0));
        assert_eq!(scale.position_from_moment(3.5), 25.0);
        assert_eq!(scale.moment_from_position(25.0), 3.5);
        let columns: Vec<_> = (0..5).map(|column| scale.moments_of_column(column, 5)).collect();
        assert_eq!(columns, [0..2, 2..4, 3..4, 3..4, 4..5]);
        assert_eq!(scale.moments_of_column(0, 1), 0..5);
    }
}
