//! The totals at the cursor, beside the lines that show them over time, and where there is room, not over these.

use super::TimelineCanvas;
use super::marks::{LABEL_PX, MarkLabels, axis_font};
use egui::{Color32, Rect, pos2, vec2};
use oomscope_model::{Bytes, Moment, Timeline, TrustedBytes};
use oomscope_units as units;

/// Narrower pictures, in points, have no room for three labels beside the cursor.
const MIN_WIDTH_PX: f32 = 320.0;

/// Space between the cursor and a label, in points.
const GAP_PX: f32 = 6.0;

/// Distance of the points, in points of the screen, at which is looked whether a label would lie over a line.
const STEP_PX: f32 = 4.0;

/// Rows above and below a line in which its label may stand, nearest first.
const ROWS: [f32; 5] = [0.0, 1.0, -1.0, 2.0, -2.0];

impl TimelineCanvas<'_> {
    /// Add the totals at the cursor, each near its line. A label that finds no free place is left out.
    pub fn cursor_values(&self, moment: Moment, labels: &mut MarkLabels) {
        let x = self.x_middle(moment).round();
        if self.rect.width() < MIN_WIDTH_PX || !self.rect.x_range().contains(x) {
            return;
        }
        let color = Color32::from(self.palette.text);
        for (text, bytes) in texts(self.timeline, moment) {
            let galley = self.painter.layout_no_wrap(text, axis_font(), color);
            let size = galley.size() + vec2(10.0, 4.0);
            let y = self.y(bytes.as_f64());
            let places = ROWS.into_iter().flat_map(|row| {
                let top = y - size.y / 2.0 + row * LABEL_PX;
                [x - GAP_PX - size.x, x + GAP_PX].map(|left| Rect::from_min_size(pos2(left, top), size))
            });
            let places = places.map(|place| self.within_height(place));
            let free: Vec<Rect> = places.filter(|place| self.is_free(*place, labels)).collect();
            let beside = free.iter().find(|place| !self.has_totals(**place));
            if let Some(place) = beside.or(free.first()) {
                labels.push(*place, galley, color);
            }
        }
    }

    /// Whether the line of a total goes through a place.
    fn has_totals(&self, place: Rect) -> bool {
        let (scale, moments) = (self.view.on(self.timeline), self.timeline.moments() as f64);
        let heights = place.y_range().expand(1.0);
        let steps = (place.width() / STEP_PX).ceil();
        (0..=steps as usize).any(|step| {
            let x = f64::from(place.left() + step as f32 * STEP_PX - self.rect.left());
            let moment = scale.moment_from_x(x / f64::from(self.rect.width()));
            // Before and behind what was recorded there are no lines.
            (0.0..moments).contains(&moment) && {
                let (at, Timeline { active, allocated, reserved, .. }) =
                    (Moment(moment as u32), self.timeline);
                let totals = [active.at(at), allocated.at(at), reserved.at(at)];
                totals.iter().any(|total| heights.contains(self.y(total.as_f64())))
            }
        })
    }

    /// A place moved up or down into the picture.
    fn within_height(&self, place: Rect) -> Rect {
        let room = self.rect.shrink(1.0);
        let top = place.top().min(room.bottom() - place.height()).max(room.top());
        Rect::from_min_size(pos2(place.left(), top), place.size())
    }
}

/// Labels with the bytes at which they stand. Mostly, allocated bytes are the active ones and need no label.
fn texts(timeline: &Timeline, moment: Moment) -> impl Iterator<Item = (String, Bytes)> {
    let [active, allocated] = [timeline.active_at(moment), timeline.allocated_at(moment)];
    let allocated = (allocated != active).then_some(("allocated", allocated));
    let totals = [Some(("reserved", timeline.reserved_at(moment))), Some(("active", active)), allocated];
    let text = |(name, bytes): (&str, TrustedBytes)| {
        (format!("{name} {}", bytes.written(units::bytes)), bytes.recorded)
    };
    totals.into_iter().flatten().map(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Palette, View};
    use egui::{Context, LayerId, Painter, Pos2};
    use oomscope_fixtures::timelines::{self as fixture, Step};

    #[test]
    fn labels_do_not_lie_over_the_lines_that_they_speak_of() {
        let first = [Step::Reserve(0, 4 << 20), Step::Alloc(0, 1 << 20)];
        let flat = [Step::Alloc(2 << 20, 512), Step::Free(2 << 20, 512)];
        let steps: Vec<Step> = first.into_iter().chain(std::iter::repeat_n(flat, 50).flatten()).collect();
        let timeline = fixture::timeline(&steps);
        let view = View { y1: f64::from(6 << 20), ..View::fit(&timeline) };
        let ctx = Context::default();
        let mut output = ctx.run_ui(Default::default(), |ui| {
            let rect = Rect::from_min_size(Pos2::ZERO, vec2(900.0, 300.0));
            let painter = Painter::new(ui.ctx().clone(), LayerId::background(), rect);
            let canvas = TimelineCanvas {
                painter: &painter,
                rect,
                view: &view,
                timeline: &timeline,
                palette: &Palette::DARK,
            };
            let mut labels = MarkLabels::default();
            canvas.cursor_values(Moment(timeline.moments() as u32 - 1), &mut labels);
            let places: Vec<Rect> = labels.places().collect();
            assert!(2 <= places.len(), "{places:?}");
            assert!(places.iter().all(|place| !canvas.has_totals(*place)), "{places:?}");
            let whole = Rect::from_min_size(rect.min, vec2(60.0, 300.0));
            assert!(canvas.has_totals(whole), "lines are seen where they are");
        });
        output.textures_delta.clear();
    }

    #[test]
    fn allocated_bytes_are_named_where_they_are_not_the_active_ones() {
        let steps = [Step::Reserve(0, 4 << 20), Step::Alloc(0, 1 << 20), Step::Request(0, 1 << 20)];
        let timeline = fixture::timeline(&steps);
        let at = |moment| -> Vec<String> { texts(&timeline, Moment(moment)).map(|(text, _)| text).collect() };
        // The fixture has no final state.
        assert_eq!(at(2), ["reserved at least 4.00 MiB", "active at least 1.00 MiB"]);
        let most = ["reserved at least 4.00 MiB", "active at least 1.00 MiB", "allocated at least 0 B"];
        assert_eq!(at(3), most);
    }
}
