//! Which part of a timeline is shown.

use crate::model::{Moment, Timeline};
use std::ops::Range;

/// The smallest ranges that can be zoomed to.
const MIN_MOMENTS: f64 = 2.0;
const MIN_BYTES: f64 = 512.0;

/// A range of moments and a range of bytes. The moment `m` fills the range from `m` to `m + 1`.
///
/// Screen coordinates are given as fractions of the picture, from its left and from its bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// First moment shown.
    pub x0: f64,
    /// Behind the last moment shown.
    pub x1: f64,
    /// Bytes at the bottom.
    pub y0: f64,
    /// Bytes at the top.
    pub y1: f64,
}

impl View {
    /// Everything that the timeline holds, with some air above: blocks, reserved memory, and the
    /// requests that failed on top.
    pub fn fit(timeline: &Timeline) -> Self {
        let failed = timeline
            .ooms
            .iter()
            .map(|oom| timeline.active.at(Moment::after(oom.event)).saturating_add(oom.requested.max(0)));
        let top = failed.fold(timeline.active.peak().1.max(timeline.reserved.peak().1), i64::max);
        let moments = timeline.moments() as f64;
        // What happens last, such as an OOM, should not be drawn on the edge.
        let x1 = if moments < 2.0 { moments } else { moments * 1.006 };
        Self { x0: 0.0, x1, y0: 0.0, y1: (top as f64 * 1.06).max(MIN_BYTES) }
    }

    /// Moments from left to right.
    pub fn span(&self) -> f64 {
        self.x1 - self.x0
    }

    /// Bytes from bottom to top.
    pub fn height_bytes(&self) -> f64 {
        self.y1 - self.y0
    }

    /// Where a moment starts, as a fraction from the left.
    pub fn x_from_moment(&self, moment: f64) -> f64 {
        (moment - self.x0) / self.span()
    }

    /// The moment at a fraction from the left.
    pub fn moment_from_x(&self, x: f64) -> f64 {
        self.x0 + x * self.span()
    }

    /// Where a number of bytes is, as a fraction from the bottom.
    pub fn y_from_bytes(&self, bytes: f64) -> f64 {
        (bytes - self.y0) / self.height_bytes()
    }

    /// The bytes at a fraction from the bottom.
    pub fn bytes_from_y(&self, y: f64) -> f64 {
        self.y0 + y * self.height_bytes()
    }

    /// The moments that one of `columns` columns stands for; columns share no moment as long as
    /// there are enough of them.
    pub fn moments_of_column(&self, column: usize, columns: usize) -> Range<i64> {
        let per_column = self.span() / columns as f64;
        if per_column <= 1.0 {
            let center = self.moment_from_x((column as f64 + 0.5) / columns as f64).floor() as i64;
            return center..center + 1;
        }
        let edge = |i: usize| self.moment_from_x(i as f64 / columns as f64).floor() as i64;
        edge(column)..edge(column + 1).max(edge(column) + 1)
    }

    /// Moved by fractions of the picture, within `full`.
    #[must_use]
    pub fn pan(self, dx: f64, dy: f64, full: &Self) -> Self {
        let (dx, dy) = (dx * self.span(), dy * self.height_bytes());
        Self { x0: self.x0 + dx, x1: self.x1 + dx, y0: self.y0 + dy, y1: self.y1 + dy }.within(full)
    }

    /// Scaled so that the point at the fractions `x` and `y` stays where it is; factors above 1
    /// show less.
    #[must_use]
    pub fn zoom_at(self, x: f64, y: f64, factor_x: f64, factor_y: f64, full: &Self) -> Self {
        let span = (self.span() / factor_x).clamp(MIN_MOMENTS.min(full.span()), full.span());
        let height =
            (self.height_bytes() / factor_y).clamp(MIN_BYTES.min(full.height_bytes()), full.height_bytes());
        let x0 = self.moment_from_x(x) - x * span;
        let y0 = self.bytes_from_y(y) - y * height;
        Self { x0, x1: x0 + span, y0, y1: y0 + height }.within(full)
    }

    /// Moved as little as possible so that a moment is visible.
    #[must_use]
    pub fn showing(self, moment: Moment, full: &Self) -> Self {
        let at = f64::from(moment.0);
        if self.x0 <= at && at + 1.0 <= self.x1 {
            return self;
        }
        let x0 = at + 0.5 - self.span() / 2.0;
        Self { x0, x1: x0 + self.span(), ..self }.within(full)
    }

    fn within(self, full: &Self) -> Self {
        let inside = |start: f64, length: f64, low: f64, high: f64| start.min(high - length).max(low);
        let x0 = inside(self.x0, self.span(), full.x0, full.x1);
        let y0 = inside(self.y0, self.height_bytes(), full.y0, full.y1);
        Self { x0, x1: x0 + self.span(), y0, y1: y0 + self.height_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: View = View { x0: 0.0, x1: 1000.0, y0: 0.0, y1: 1e6 };

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let before = FULL.moment_from_x(0.3);
        let view = FULL.zoom_at(0.3, 0.5, 4.0, 2.0, &FULL);
        assert!((view.moment_from_x(0.3) - before).abs() < 1e-9);
        assert!((view.bytes_from_y(0.5) - 5e5).abs() < 1e-6);
        assert_eq!((view.span(), view.height_bytes()), (250.0, 5e5));
    }

    #[test]
    fn no_move_leaves_the_timeline() {
        assert_eq!(FULL.pan(0.5, -0.5, &FULL), FULL);
        let near = FULL.zoom_at(0.0, 0.0, 10.0, 1.0, &FULL).pan(-3.0, 0.0, &FULL);
        assert_eq!((near.x0, near.x1), (0.0, 100.0));
        assert_eq!(near.zoom_at(0.5, 0.5, 1e-9, 1e-9, &FULL), FULL);
        assert!(FULL.zoom_at(0.5, 0.5, 1e12, 1e12, &FULL).span() >= MIN_MOMENTS - 1e-6);
    }

    #[test]
    fn columns_partition_the_moments() {
        let mut next = 0;
        for column in 0..300 {
            let moments = FULL.moments_of_column(column, 300);
            assert_eq!(moments.start, next);
            next = moments.end;
        }
        assert_eq!(next, 1000);
        let near = View { x0: 10.0, x1: 12.0, ..FULL };
        assert_eq!(near.moments_of_column(0, 100), 10..11);
        assert_eq!(near.moments_of_column(99, 100), 11..12);
    }

    #[test]
    fn a_moment_outside_is_brought_to_the_middle() {
        let near = View { x0: 0.0, x1: 100.0, ..FULL };
        let view = near.showing(Moment(500), &FULL);
        assert!((view.x_from_moment(500.5) - 0.5).abs() < 1e-9);
        assert_eq!(near.showing(Moment(50), &FULL), near);
    }
}
