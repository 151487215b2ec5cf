//! The minimap: the whole recording in a strip, with a brush over the part that is shown.

use super::canvas::TimelineCanvas;
use super::totals::ColumnTotals;
use crate::View;
use egui::epaint::Mesh;
use egui::{Color32, Rect, Shape, Stroke, StrokeKind, pos2};
use oomscope_model::Moment;

/// The brush is at least this wide, so that it can be seen and held.
const MIN_BRUSH_PX: f32 = 4.0;

impl TimelineCanvas<'_> {
    /// Paint the strip. The canvas's view is the whole recording, and `totals` are those of its columns.
    pub fn minimap(&self, totals: &ColumnTotals, shown: &View, cursor: Moment) {
        let painter = self.inside();
        painter.rect_filled(self.rect, 2.0, Color32::from(self.palette.window));
        self.area(totals, &painter);
        for oom in self.shown_ooms() {
            let x = self.x_middle(Moment::after(oom.event)).round();
            painter.vline(x, self.rect.y_range(), Stroke::new(1.0, Color32::from(self.palette.oom)));
        }
        let x = self.x_middle(cursor).round();
        painter.vline(x, self.rect.y_range(), Stroke::new(1.0, Color32::from(self.palette.text)));
        self.brush(shown, &painter);
        let line = Stroke::new(1.0, Color32::from(self.palette.line));
        self.painter.rect_stroke(self.rect, 2.0, line, StrokeKind::Outside);
    }

    /// The place of the brush over the part that is shown.
    pub fn brush_rect(&self, shown: &View) -> Rect {
        let (left, right) = (self.x_at(shown.x0), self.x_at(shown.x1));
        let grow = ((MIN_BRUSH_PX - (right - left)) / 2.0).max(0.0);
        let (left, right) = ((left - grow).max(self.rect.left()), (right + grow).min(self.rect.right()));
        Rect::from_min_max(pos2(left, self.rect.top()), pos2(right, self.rect.bottom()))
    }

    fn area(&self, totals: &ColumnTotals, painter: &egui::Painter) {
        let columns = totals.active.len().max(1) as f32;
        let width = self.rect.width() / columns;
        let mut mesh = Mesh::default();
        let fill = Color32::from(self.palette.accent).gamma_multiply(0.45);
        for (i, &active) in totals.active.iter().enumerate() {
            let left = self.rect.left() + i as f32 * width;
            let top = self.y(active.as_f64());
            mesh.add_colored_rect(
                Rect::from_min_max(pos2(left, top), pos2(left + width, self.rect.bottom())),
                fill,
            );
        }
        painter.add(Shape::mesh(mesh));
        let line = Stroke::new(1.0, Color32::from(self.palette.reserved).gamma_multiply(0.7));
        self.steps(self.view, &totals.reserved, line);
    }

    fn brush(&self, shown: &View, painter: &egui::Painter) {
        let brush = self.brush_rect(shown);
        let shade = Color32::from(self.palette.window).gamma_multiply(0.62);
        for (from, to) in [(self.rect.left(), brush.left()), (brush.right(), self.rect.right())] {
            let rest = Rect::from_min_max(pos2(from, self.rect.top()), pos2(to, self.rect.bottom()));
            painter.rect_filled(rest, 0.0, shade);
        }
        let accent = Stroke::new(1.0, Color32::from(self.palette.accent));
        painter.rect_stroke(brush, 1.0, accent, StrokeKind::Inside);
        for x in [brush.left(), brush.right()] {
            let handle = Rect::from_center_size(pos2(x, brush.center().y), egui::vec2(4.0, 14.0));
            painter.rect_filled(handle, 2.0, accent.color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Palette;
    use oomscope_fixtures::timelines::{Step, timeline};

    /// How many lines the strip has where requests failed.
    fn oom_lines(ooms: usize) -> usize {
        let steps = (0..ooms).flat_map(|_| (0..50).map(|_| Step::Reserve(0, 1)).chain([Step::Oom(1)]));
        let timeline = timeline(&steps.collect::<Vec<_>>());
        let view = View::fit(&timeline);
        let rect = Rect::from_min_size(pos2(0.0, 0.0), egui::vec2(2000.0, 30.0));
        let totals = ColumnTotals::of_view(&timeline, &view, 2000);
        let ctx = egui::Context::default();
        let output = ctx.run_ui(egui::RawInput { screen_rect: Some(rect), ..Default::default() }, |ui| {
            let painter = ui.painter();
            let canvas =
                TimelineCanvas { painter, rect, view: &view, timeline: &timeline, palette: &Palette::LIGHT };
            canvas.minimap(&totals, &view, Moment::START);
        });
        let color = Color32::from(Palette::LIGHT.oom);
        let is_oom = |shape: &&egui::epaint::ClippedShape| matches!(&shape.shape, Shape::LineSegment { stroke, .. } if stroke.color == color);
        let lines = output.shapes.iter().filter(is_oom).count();
        output.drop_without_applying_deltas();
        lines
    }

    #[test]
    fn every_failed_request_has_a_line_also_where_they_are_many() {
        assert_eq!([0, 1, 64, 100].map(oom_lines), [0, 1, 64, 100]);
    }
}
