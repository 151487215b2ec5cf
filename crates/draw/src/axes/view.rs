//! A view: the part of a timeline that is shown.

use oomscope_model::allocator_sizes::MIN_BLOCK_SIZE;
use oomscope_model::{Bytes, Moment, Timeline};
use std::ops::Range;

/// The smallest range of events that can be zoomed to: an event with the state before it.
const MIN_MOMENTS: f64 = 2.0;

/// The smallest range of time that can be zoomed to; times are whole microseconds.
const MIN_TIME_US: f64 = 5.0;

/// The smallest range of bytes that can be zoomed to: the smallest block of the allocator.
const MIN_BYTES: f64 = MIN_BLOCK_SIZE.as_f64();

/// The quantity that runs from left to right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Axis {
    /// Events, all equally wide. The moment `m` takes the positions from `m` to `m + 1`.
    #[default]
    Event,
    /// Microseconds since the first recorded time. A moment lasts until the next event.
    Time,
}

/// A range of positions on the x axis and a range of bytes.
///
/// Screen coordinates are given as fractions of the picture, from its left and from its bottom.
/// [`Scale`](super::Scale) adds the timeline, to turn positions into moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The meaning of positions.
    pub axis: Axis,
    /// First position shown.
    pub x0: f64,
    /// End of the positions shown.
    pub x1: f64,
    /// Bytes at the bottom.
    pub y0: f64,
    /// Bytes at the top.
    pub y1: f64,
}

impl View {
    /// A view of the whole timeline by event, with some air above blocks, reserved memory and failed
    /// requests.
    pub fn fit(timeline: &Timeline) -> Self {
        Self::fit_on(timeline, Axis::Event)
    }

    /// A view of the whole timeline on an axis. Without times, the time axis has no extent worth showing.
    pub fn fit_on(timeline: &Timeline, axis: Axis) -> Self {
        let top = top_bytes(timeline, 0..timeline.moments());
        // The last event, which may be an OOM, should not be drawn on the edge.
        let x1 = match axis {
            Axis::Event if timeline.moments() < 2 => timeline.moments() as f64,
            Axis::Event => timeline.moments() as f64 * 1.006,
            Axis::Time => (timeline.times.span_us() as f64 * 1.006).max(MIN_TIME_US),
        };
        Self { axis, x0: 0.0, x1, y0: 0.0, y1: Self::with_air(top) }
    }

    /// A height that shows a number of bytes with some air above them.
    pub(crate) fn with_air(bytes: Bytes) -> f64 {
        (bytes.as_f64() * 1.06).max(MIN_BYTES)
    }

    /// Length of the range of positions, in the unit of the axis.
    pub fn span(&self) -> f64 {
        self.x1 - self.x0
    }

    /// Number of bytes from bottom to top.
    pub fn height_bytes(&self) -> f64 {
        self.y1 - self.y0
    }

    /// A position as a fraction from the left; outside of 0 to 1 if it is not in the view.
    pub fn x_from_position(&self, position: f64) -> f64 {
        (position - self.x0) / self.span()
    }

    /// The position at a fraction from the left.
    pub fn position_from_x(&self, x: f64) -> f64 {
        self.x0 + x * self.span()
    }

    /// A number of bytes as a fraction from the bottom; outside of 0 to 1 if it is not in the view.
    pub fn y_from_bytes(&self, bytes: f64) -> f64 {
        (bytes - self.y0) / self.height_bytes()
    }

    /// The bytes at a fraction from the bottom.
    pub fn bytes_from_y(&self, y: f64) -> f64 {
        self.y0 + y * self.height_bytes()
    }

    /// This view moved by fractions of the picture, within `full`.
    #[must_use]
    pub fn pan(self, dx: f64, dy: f64, full: &Self) -> Self {
        let (dx, dy) = (dx * self.span(), dy * self.height_bytes());
        Self { x0: self.x0 + dx, x1: self.x1 + dx, y0: self.y0 + dy, y1: self.y1 + dy, ..self }.within(full)
    }

    /// This view scaled around the point at the fractions `x` and `y`, which stays in place. Factors
    /// above 1 show less.
    #[must_use]
    pub fn zoom_at(self, x: f64, y: f64, factor_x: f64, factor_y: f64, full: &Self) -> Self {
        let span = (self.span() / factor_x).clamp(self.min_span().min(full.span()), full.span());
        let height =
            (self.height_bytes() / factor_y).clamp(MIN_BYTES.min(full.height_bytes()), full.height_bytes());
        let x0 = self.position_from_x(x) - x * span;
        let y0 = self.bytes_from_y(y) - y * height;
        Self { x0, x1: x0 + span, y0, y1: y0 + height, ..self }.within(full)
    }

    /// This view if a range of positions is visible in it; else moved so that the range is in its middle.
    #[must_use]
    pub fn showing(self, from: f64, to: f64, full: &Self) -> Self {
        if self.x0 <= from && to <= self.x1 {
            return self;
        }
        let x0 = f64::midpoint(from, to) - self.span() / 2.0;
        Self { x0, x1: x0 + self.span(), ..self }.within(full)
    }

    /// A view of exactly a range of positions, or the smallest view around it that can be zoomed to.
    #[must_use]
    pub fn of_range(self, from: f64, to: f64, full: &Self) -> Self {
        let span = (to - from).clamp(self.min_span().min(full.span()), full.span());
        let x0 = f64::midpoint(from, to) - span / 2.0;
        Self { x0, x1: x0 + span, ..self }.within(full)
    }

    /// A view of exactly a box of positions and bytes, or the smallest view around it that can be zoomed to.
    #[must_use]
    pub fn of_box(self, x: [f64; 2], y: [f64; 2], full: &Self) -> Self {
        let height = (y[1] - y[0]).clamp(MIN_BYTES.min(full.height_bytes()), full.height_bytes());
        let y0 = f64::midpoint(y[0], y[1]) - height / 2.0;
        Self { y0, y1: y0 + height, ..self }.of_range(x[0], x[1], full)
    }

    fn min_span(&self) -> f64 {
        match self.axis {
            Axis::Event => MIN_MOMENTS,
            Axis::Time => MIN_TIME_US,
        }
    }

    /// This view moved into `full`.
    fn within(self, full: &Self) -> Self {
        let inside = |start: f64, length: f64, low: f64, high: f64| start.min(high - length).max(low);
        let x0 = inside(self.x0, self.span(), full.x0, full.x1);
        let y0 = inside(self.y0, self.height_bytes(), full.y0, full.y1);
        Self { x0, x1: x0 + self.span(), y0, y1: y0 + self.height_bytes(), ..self }
    }
}

/// The most bytes that are active or reserved at some moments, or were asked for in vain.
pub(super) fn top_bytes(timeline: &Timeline, moments: Range<usize>) -> Bytes {
    if moments.is_empty() {
        return Bytes::ZERO;
    }
    let active = timeline.active.peak_in(moments.clone()).map_or(Bytes::ZERO, |(_, bytes)| bytes);
    let at = |moment: usize| timeline.ooms.partition_point(|oom| Moment::after(oom.event).index() < moment);
    let failed = timeline.ooms[at(moments.start)..at(moments.end)].iter();
    let failed = failed.map(|oom| timeline.active.at(Moment::after(oom.event)) + oom.requested.or_zero());
    failed.fold(active.max(timeline.reserved.max_in(moments)), Bytes::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: View = View { axis: Axis::Event, x0: 0.0, x1: 1000.0, y0: 0.0, y1: 1e6 };

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let before = FULL.position_from_x(0.3);
        let view = FULL.zoom_at(0.3, 0.5, 4.0, 2.0, &FULL);
        assert!((view.position_from_x(0.3) - before).abs() < 1e-9);
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
    fn a_moment_outside_is_brought_to_the_middle() {
        let near = View { x0: 0.0, x1: 100.0, ..FULL };
        let view = near.showing(500.0, 501.0, &FULL);
        assert!((view.x_from_position(500.5) - 0.5).abs() < 1e-9);
        assert_eq!(near.showing(50.0, 51.0, &FULL), near);
    }

    #[test]
    fn boxes_are_shown_as_they_are_unless_they_are_too_small() {
        let view = FULL.of_box([200.0, 300.0], [1e5, 2e5], &FULL);
        assert_eq!((view.x0, view.x1, view.y0, view.y1), (200.0, 300.0, 1e5, 2e5));
        assert_eq!(FULL.of_range(500.0, 500.5, &FULL).span(), MIN_MOMENTS);
        assert_eq!(FULL.of_range(-50.0, 5000.0, &FULL), FULL);
    }
}
