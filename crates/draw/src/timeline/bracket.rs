//! The mark of memory that a finding is about: its blocks, and how much of a moment's memory they are.

use super::marks::MarkLabels;
use super::{PixelSpan, TimelineCanvas, TimelineRaster};
use egui::{Color32, Shape, Stroke, pos2};
use oomscope_model::Moment;

/// Width of the ends of the bracket, in points.
const END_PX: f32 = 6.0;

/// Distance of the bracket from its moment, in points.
const GAP_PX: f32 = 4.0;

impl TimelineCanvas<'_> {
    /// Paint some spans of a picture as one thing, and a bracket beside the moment that they are about, with a label.
    pub fn bracket(
        &self,
        picture: &TimelineRaster,
        spans: &[PixelSpan],
        moment: Moment,
        text: &str,
        labels: &mut MarkLabels,
    ) {
        self.highlight(picture, spans);
        if picture.view.axis != self.view.axis {
            return;
        }
        let x = self.x_middle(moment).round();
        let at_moment = spans.iter().map(|span| self.place(picture, span));
        // A span has the width of a column, in which the moment may not be the one that is drawn.
        let near = at_moment.filter(|place| place.x_range().expand(END_PX).contains(x));
        let range = near.map(|place| place.y_range()).reduce(|all, one| {
            let (min, max) = (all.min.min(one.min), all.max.max(one.max));
            egui::Rangef::new(min, max)
        });
        let Some(range) = range else { return };
        // At the right edge, where failures are, there is room at the left only.
        let side = if x + GAP_PX + END_PX < self.rect.right() { 1.0 } else { -1.0 };
        let (line, end) = (x + side * (GAP_PX + END_PX), x + side * GAP_PX);
        let color = Color32::from(self.palette.accent);
        let points = [(end, range.min), (line, range.min), (line, range.max), (end, range.max)];
        let points = points.map(|(x, y)| pos2(x, y.clamp(self.rect.top(), self.rect.bottom())));
        self.inside().add(Shape::line(points.to_vec(), Stroke::new(2.0, color)));
        self.label_at(pos2(line, range.center()), text, color, labels);
    }
}
