//! What is projected behind the last recorded event, dashed.

use super::after_fix::{AfterFix, positions};
use super::canvas::TimelineCanvas;
use super::marks::MarkLabels;
use crate::{Axis, View};
use egui::{Color32, Pos2, Rect, Shape, Stroke, pos2};
use oomscope_model::{Bytes, Timeline};
use oomscope_units as units;

/// How much a program goes on to request, as far as that can be projected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Future {
    /// The most requested bytes in each of some stretches that are equally long.
    pub requested: Vec<Bytes>,
    /// What it would take with the change that is advised, over all of it.
    pub after_fix: Option<AfterFix>,
}

impl Future {
    /// Of bytes in stretches.
    pub fn of(requested: &[u64]) -> Self {
        let requested = requested.iter().map(|&bytes| Bytes::of_size(bytes)).collect();
        Self { requested, after_fix: None }
    }

    /// The same with what the program would take with a change.
    #[must_use]
    pub fn with_fix(self, after: AfterFix) -> Self {
        Self { after_fix: Some(after), ..self }
    }

    /// The most of all bytes.
    pub fn peak_bytes(&self) -> Bytes {
        self.requested.iter().copied().max().unwrap_or_default()
    }

    /// A view of everything with this behind it. There is no time at which it would come, so an axis of time ends before it.
    #[must_use]
    pub fn behind(&self, full: View, timeline: &Timeline) -> View {
        if full.axis == Axis::Time || self.requested.is_empty() {
            return full;
        }
        let [_, end] = positions(timeline);
        View { x1: full.x1.max(end), y1: full.y1.max(View::with_air(self.peak_bytes())), ..full }
    }

    /// The height that a view needs to show as much of this as lies in it.
    pub fn height_bytes(&self, view: &View, timeline: &Timeline) -> f64 {
        let [start, _] = positions(timeline);
        let is_shown = view.axis == Axis::Event && start < view.x1;
        if is_shown { View::with_air(self.peak_bytes()) } else { 0.0 }
    }
}

impl TimelineCanvas<'_> {
    /// Paint what is projected: its ground, a dashed line, and how high it comes.
    pub fn future(&self, future: &Future, labels: &mut MarkLabels) {
        let [start, end] = positions(self.timeline);
        if self.view.axis == Axis::Time || future.requested.is_empty() || self.view.x1 <= start {
            return;
        }
        let ground = Rect::from_x_y_ranges(self.x_at(start)..=self.x_at(end), self.rect.y_range());
        let painter = self.inside();
        painter.rect_filled(ground, 0.0, Color32::from(self.palette.line).gamma_multiply(0.25));
        let stretches = future.requested.len() as f64;
        let mut points: Vec<Pos2> = Vec::new();
        for (index, &bytes) in future.requested.iter().enumerate() {
            let x = |index: usize| self.x_at(start + (end - start) * index as f64 / stretches);
            let y = self.y(bytes.as_f64());
            points.extend([pos2(x(index), y), pos2(x(index + 1), y)]);
        }
        let color = Color32::from(self.palette.accent);
        painter.extend(Shape::dashed_line(&points, Stroke::new(1.5, color), 5.0, 3.0));
        let text = format!("projected, {}", units::bytes(future.peak_bytes()));
        self.label(ground.left().max(self.rect.left()), &text, color, labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn everything_has_room_for_what_is_projected() {
        let timeline = fixture::timeline(&fixture::sawtooth(500));
        let full = View::fit(&timeline);
        let high = timeline.active.peak().1 * 3;
        let future = Future { requested: vec![Bytes(1), high, Bytes(2)], after_fix: None };
        let wider = future.behind(full, &timeline);
        assert!(full.x1 < wider.x1 && high < wider.y1 as i64);
        assert_eq!(future.height_bytes(&wider, &timeline), wider.y1);
        let before = View { x1: 100.0, ..full };
        assert_eq!(future.height_bytes(&before, &timeline), 0.0, "it lies out of sight");
        let by_time = View { axis: Axis::Time, ..full };
        assert_eq!(future.behind(by_time, &timeline), by_time);
        assert_eq!(Future::default().behind(full, &timeline), full);
    }
}
