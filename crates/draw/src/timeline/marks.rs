//! Axes and marks of the timeline.

use super::canvas::TimelineCanvas;
use crate::{Axis, Tick, byte_ticks, event_ticks, time_ticks};
use egui::{Align2, Color32, FontId, Galley, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use oomscope_model::{Bytes, EventIx, Moment, OomEvent, TrustedBytes};
use oomscope_units as units;
use std::sync::Arc;

/// Least space between marks on the x axis, so that the labels of large event numbers stay apart.
const TICK_X_PX: f32 = 110.0;

/// Least space between marks on the y axis, which keeps grid lines few.
const TICK_Y_PX: f32 = 48.0;

/// Marks nearer than this to the one before are left out, since their lines would touch.
const MIN_MARK_PX: f32 = 3.0;

/// A failed request is drawn at least this wide, so that its height can be seen.
const MIN_OOM_PX: f32 = 10.0;

/// Height of the text of axes and marks, in points.
pub(super) const TEXT_PX: f32 = 11.0;

/// Height of a label with the space below it.
pub(super) const LABEL_PX: f32 = 20.0;

/// The font of axes and marks.
pub fn axis_font() -> FontId {
    FontId::proportional(TEXT_PX)
}

/// Height of the text that says what a verdict is about, in points: it is read first.
pub(super) const FINDING_TEXT_PX: f32 = 13.0;

/// Labels of marks, each in a place of its own. They wait, as they are painted above all lines.
#[derive(Default)]
pub struct MarkLabels {
    waiting: Vec<(Rect, Arc<Galley>, Color32)>,
    reserved: Vec<Rect>,
}

impl MarkLabels {
    /// What they say, in the order in which they were added.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.waiting.iter().map(|(_, galley, _)| galley.text())
    }

    /// Where they stand.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = Rect> {
        self.waiting.iter().map(|(place, ..)| *place)
    }

    /// Keep labels out of a place.
    pub fn reserve(&mut self, place: Rect) {
        self.reserved.push(place);
    }

    /// Add a label in a place that is free.
    pub(super) fn push(&mut self, place: Rect, galley: Arc<Galley>, color: Color32) {
        self.waiting.push((place, galley, color));
    }

    pub(super) fn is_free(&self, place: Rect) -> bool {
        let taken = self.waiting.iter().map(|(taken, ..)| taken).chain(&self.reserved);
        !taken.into_iter().any(|taken| taken.intersects(place))
    }
}

impl TimelineCanvas<'_> {
    /// Paint both axes, below everything.
    pub fn grid(&self) {
        self.grid_y();
        self.grid_x();
    }

    /// Paint the axis of bytes, with lines across the view.
    pub fn grid_y(&self) {
        let line = Stroke::new(1.0, Color32::from(self.palette.line).gamma_multiply(0.7));
        let muted = Color32::from(self.palette.muted);
        for tick in byte_ticks(self.view.y0, self.view.y1, most(self.rect.height(), TICK_Y_PX)) {
            let y = self.y(tick.at).round();
            self.painter.hline(self.rect.x_range(), y, line);
            let at = pos2(self.rect.left() - 8.0, y.min(self.rect.bottom() - 6.0).max(self.rect.top() + 6.0));
            self.painter.text(at, Align2::RIGHT_CENTER, tick.label, axis_font(), muted);
        }
    }

    /// Paint the axis of events or time, below the view.
    pub fn grid_x(&self) {
        let line = Stroke::new(1.0, Color32::from(self.palette.line).gamma_multiply(0.7));
        let muted = Color32::from(self.palette.muted);
        let most = most(self.rect.width(), TICK_X_PX);
        let (title, ticks): (_, Vec<Tick>) = match self.view.axis {
            Axis::Event => {
                let last = self.timeline.moments() as f64;
                ("event", event_ticks(self.view.x0, self.view.x1.min(last), most))
            }
            Axis::Time => ("time", time_ticks(self.view.x0, self.view.x1, most)),
        };
        let at = pos2(self.rect.left() - 8.0, self.rect.bottom() + 5.0);
        let title = self.painter.text(at, Align2::RIGHT_TOP, title, axis_font(), muted);
        let mut free_from = title.right() + 6.0;
        for tick in ticks {
            let x = self.x_at(tick.at).round();
            let galley = self.painter.layout_no_wrap(tick.label, axis_font(), muted);
            let left = (x - galley.size().x / 2.0).min(self.rect.right() - galley.size().x);
            if left < free_from {
                continue;
            }
            free_from = left + galley.size().x + 12.0;
            self.painter.vline(x, self.rect.bottom()..=self.rect.bottom() + 4.0, line);
            self.painter.galley(pos2(left, self.rect.bottom() + 5.0), galley, muted);
        }
    }

    /// Paint a line at the peak.
    pub fn peak(&self, (moment, bytes): (Moment, TrustedBytes), labels: &mut MarkLabels) {
        let x = self.x_middle(moment).round();
        let color = Color32::from(self.palette.peak);
        let line = [pos2(x, self.rect.top()), pos2(x, self.rect.bottom())];
        self.inside().extend(Shape::dashed_line(&line, Stroke::new(1.0, color), 4.0, 4.0));
        self.label(x, &format!("peak {}", bytes.written(units::bytes)), color, labels);
    }

    /// Paint a line at the bytes that memory cannot exceed.
    pub fn capacity(&self, bytes: Bytes, labels: &mut MarkLabels) {
        let y = self.y(bytes.as_f64()).round();
        if !self.rect.y_range().contains(y) {
            return;
        }
        let color = Color32::from(self.palette.text);
        let line = [pos2(self.rect.left(), y), pos2(self.rect.right(), y)];
        self.inside().extend(Shape::dashed_line(&line, Stroke::new(1.0, color), 8.0, 4.0));
        let text = format!("capacity {}", units::bytes(bytes));
        let galley = self.painter.layout_no_wrap(text, axis_font(), color);
        let size = galley.size() + vec2(10.0, 4.0);
        let below = y + 2.0 + size.y <= self.rect.bottom();
        let top = if below { y + 2.0 } else { y - 2.0 - size.y };
        let place = Rect::from_min_size(pos2(self.rect.left() + 6.0, top), size);
        labels.waiting.push((place, galley, color));
    }

    /// Paint failed requests: a line each, and the request to scale on top of the stack.
    pub fn ooms(&self, labels: &mut MarkLabels) {
        for oom in self.shown_ooms() {
            self.oom(oom, labels);
        }
    }

    /// The failed requests in sight, without those in the same place as the one before.
    pub(crate) fn shown_ooms(&self) -> Vec<&OomEvent> {
        self.shown(&self.timeline.ooms, |oom| oom.event)
    }

    /// Paint a quiet line where each snapshot was taken.
    pub fn dumps(&self, labels: &mut MarkLabels) {
        let color = Color32::from(self.palette.muted);
        for &event in self.shown(&self.timeline.dumps, |&event| event) {
            let x = self.x_middle(Moment::after(event)).round();
            let line = [pos2(x, self.rect.top()), pos2(x, self.rect.bottom())];
            self.inside().extend(Shape::dashed_line(&line, Stroke::new(1.0, color), 1.0, 4.0));
            self.label(x, "snapshot", color, labels);
        }
    }

    /// The marks in sight, without those in the same place as the one before. The events of `marks` ascend.
    fn shown<'m, M>(&self, marks: &'m [M], event: impl Fn(&M) -> EventIx) -> Vec<&'m M> {
        let scale = self.view.on(self.timeline);
        let first_after = |position: f64| {
            marks.partition_point(|mark| scale.positions_of(Moment::after(event(mark))).1 < position)
        };
        let least = f64::from(MIN_MARK_PX) * self.view.span() / f64::from(self.rect.width().max(1.0));
        // Searching for the next mark keeps the cost to that of the marks in sight, of which there are few.
        let mut at = first_after(self.view.x0);
        let mut shown = Vec::new();
        while let Some(mark) = marks.get(at) {
            let (from, _) = scale.positions_of(Moment::after(event(mark)));
            if self.view.x1 <= from {
                break;
            }
            shown.push(mark);
            at = first_after(from + least).max(at + 1);
        }
        shown
    }

    fn oom(&self, oom: &OomEvent, labels: &mut MarkLabels) {
        let moment = Moment::after(oom.event);
        let active = self.timeline.active.at(moment);
        let color = Color32::from(self.palette.oom);
        let painter = self.inside();
        let x = self.x_middle(moment).round();
        painter.vline(x, self.rect.y_range(), Stroke::new(1.0, color));
        let (from, to) = self.view.on(self.timeline).positions_of(moment);
        let wide = (self.x_at(to) - self.x_at(from)).max(MIN_OOM_PX);
        let right = (x + wide / 2.0).min(self.rect.right());
        let (top, bottom) = (self.y((active + oom.requested).as_f64()), self.y(active.as_f64()));
        let request = Rect::from_min_max(pos2(right - wide, top), pos2(right, bottom));
        let stroke = Stroke::new(1.0, color);
        painter.rect(request, 0.0, color.gamma_multiply(0.35), stroke, StrokeKind::Inside);
        self.label(x, &format!("OOM {}", units::bytes(oom.requested)), color, labels);
    }

    /// Paint a line at the moment that the user marked.
    pub fn mark(&self, moment: Moment, labels: &mut MarkLabels) {
        let x = self.x_middle(moment).round();
        let color = Color32::from(self.palette.text);
        let line = [pos2(x, self.rect.top()), pos2(x, self.rect.bottom())];
        self.inside().extend(Shape::dashed_line(&line, Stroke::new(1.0, color), 2.0, 3.0));
        self.label(x, "mark", color, labels);
    }

    /// Paint the cursor.
    pub fn cursor(&self, moment: Moment) {
        let x = self.x_middle(moment).round();
        let color = Color32::from(self.palette.text);
        let painter = self.inside();
        painter.vline(x, self.rect.y_range(), Stroke::new(1.0, color));
        let tip = |dx: f32, dy: f32| pos2(x + dx, self.rect.bottom() + dy);
        let points = vec![tip(-5.0, 0.0), tip(5.0, 0.0), tip(0.0, -7.0)];
        painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
    }

    /// Add a label at the top beside a line, on a side and in a row that are free; it is left out if there
    /// is no such place. [`Self::labels`] paints it.
    pub fn label(&self, x: f32, text: &str, color: Color32, labels: &mut MarkLabels) {
        if !self.rect.x_range().contains(x) {
            return;
        }
        let galley = self.painter.layout_no_wrap(text.to_owned(), axis_font(), color);
        let size = galley.size() + vec2(10.0, 4.0);
        let top = |row: u8| self.rect.top() + 4.0 + f32::from(row) * LABEL_PX;
        let places = (0..3).flat_map(|row| {
            [x + 6.0, x - 6.0 - size.x].map(|left| Rect::from_min_size(pos2(left, top(row)), size))
        });
        let is_free = |place: &Rect| self.rect.contains_rect(*place) && labels.is_free(*place);
        if let Some(place) = places.into_iter().find(is_free) {
            labels.waiting.push((place, galley, color));
        }
    }

    /// True if a place is within the picture and no label takes any of it.
    pub(super) fn is_free(&self, place: Rect, labels: &MarkLabels) -> bool {
        self.rect.contains_rect(place) && labels.is_free(place)
    }

    /// A label beside a point: at its left if there is room, else at its right; the other way round behind what was recorded, where
    /// no bands lie. Returns whether there was room.
    pub(super) fn label_at(
        &self,
        at: Pos2,
        (text, size_px): (&str, f32),
        color: Color32,
        labels: &mut MarkLabels,
    ) -> bool {
        let galley = self.painter.layout_no_wrap(text.to_owned(), FontId::proportional(size_px), color);
        let size = galley.size() + vec2(10.0, 4.0);
        let top = at.y - size.y / 2.0;
        let mut places = [at.x - 6.0 - size.x, at.x + 6.0];
        if self.x(self.timeline.moments() as f64) <= at.x {
            places.reverse();
        }
        let mut places = places.into_iter().map(|left| Rect::from_min_size(pos2(left, top), size));
        let place = places.find(|place| self.rect.contains_rect(*place) && labels.is_free(*place));
        labels.waiting.extend(place.map(|place| (place, galley, color)));
        place.is_some()
    }

    /// A label at the left end of the first of some places that has room for it.
    pub(super) fn label_inside(&self, places: &[Rect], text: &str, labels: &mut MarkLabels) {
        let color = Color32::from(self.palette.text);
        let galley = self.painter.layout_no_wrap(text.to_owned(), axis_font(), color);
        let size = galley.size() + vec2(10.0, 2.0);
        let label_in = |place: &Rect| {
            let label = Rect::from_min_size(pos2(place.left() + 3.0, place.center().y - size.y / 2.0), size);
            (place.contains_rect(label) && labels.is_free(label)).then_some(label)
        };
        if let Some(label) = places.iter().find_map(label_in) {
            labels.waiting.push((label, galley, color));
        }
    }

    /// Paint the labels of all marks, above the marks themselves.
    pub fn labels(&self, labels: &MarkLabels) {
        for (place, galley, color) in &labels.waiting {
            // Opaque, so that the text can be read whatever is below.
            self.painter.rect_filled(*place, 3.0, Color32::from(self.palette.window));
            self.painter.galley(place.min + vec2(5.0, 2.0), Arc::clone(galley), *color);
        }
    }
}

/// The number of marks that fit on an axis; at least two, so that it has a scale.
fn most(length: f32, each: f32) -> usize {
    (length / each).max(2.0) as usize
}
