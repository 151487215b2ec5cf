//! What is drawn on the timeline: the picture, and crisp shapes on top of it.

use super::rasters::Shown;
use super::theme;
use crate::draw::{Palette, Span, View, byte_ticks, event_ticks};
use crate::model::{AllocId, Moment, OomEvent, Timeline};
use crate::units;
use eframe::egui::{
    Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, epaint::Mesh, pos2, vec2,
};

/// Space between marks on the axes.
const TICK_X_PX: f32 = 110.0;
const TICK_Y_PX: f32 = 48.0;

/// Marks nearer than this to the one before are left out.
const MIN_MARK_PX: f32 = 3.0;

/// A failed request is drawn at least this wide.
const MIN_OOM_PX: f32 = 10.0;

/// Where and how to draw.
pub(super) struct Canvas<'a> {
    pub(super) painter: &'a Painter,
    pub(super) rect: Rect,
    pub(super) view: View,
    pub(super) palette: &'a Palette,
}

impl Canvas<'_> {
    fn x(&self, moment: f64) -> f32 {
        self.rect.left() + (self.view.x_from_moment(moment) * f64::from(self.rect.width())) as f32
    }

    fn y(&self, bytes: f64) -> f32 {
        self.rect.bottom() - (self.view.y_from_bytes(bytes) * f64::from(self.rect.height())) as f32
    }

    fn inside(&self) -> Painter {
        self.painter.with_clip_rect(self.rect)
    }

    /// Axes, below everything.
    pub(super) fn grid(&self) {
        let line = Stroke::new(1.0, theme::faded(self.palette.line, 0.7));
        let muted = theme::color(self.palette.muted);
        let most = |length: f32, each: f32| (length / each).max(2.0) as usize;
        for tick in byte_ticks(self.view.y0, self.view.y1, most(self.rect.height(), TICK_Y_PX)) {
            let y = self.y(tick.at).round();
            self.painter.hline(self.rect.x_range(), y, line);
            let at = pos2(self.rect.left() - 8.0, y.clamp(self.rect.top() + 6.0, self.rect.bottom() - 6.0));
            self.painter.text(at, Align2::RIGHT_CENTER, tick.label, theme::axis_font(), muted);
        }
        let title = self.painter.text(
            pos2(self.rect.left() - 8.0, self.rect.bottom() + 5.0),
            Align2::RIGHT_TOP,
            "event",
            theme::axis_font(),
            muted,
        );
        let mut free_from = title.right() + 6.0;
        for tick in event_ticks(self.view.x0, self.view.x1, most(self.rect.width(), TICK_X_PX)) {
            let x = self.x(tick.at).round();
            let galley = self.painter.layout_no_wrap(tick.label, theme::axis_font(), muted);
            let left = (x - galley.size().x / 2.0).min(self.rect.right() - galley.size().x);
            if left < free_from {
                continue;
            }
            free_from = left + galley.size().x + 12.0;
            self.painter.vline(x, self.rect.bottom()..=self.rect.bottom() + 4.0, line);
            self.painter.galley(pos2(left, self.rect.bottom() + 5.0), galley, muted);
        }
    }

    /// The border, above the picture.
    pub(super) fn frame(&self) {
        let line = Stroke::new(1.0, theme::color(self.palette.line));
        self.painter.rect_stroke(self.rect, 0.0, line, StrokeKind::Outside);
    }

    /// The picture, stretched if it is one of an earlier view.
    pub(super) fn picture(&self, shown: &Shown) {
        let old = &shown.picture.wish.view;
        let place =
            Rect::from_min_max(pos2(self.x(old.x0), self.y(old.y1)), pos2(self.x(old.x1), self.y(old.y0)));
        let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        self.inside().image(shown.texture.id(), place, uv, Color32::WHITE);
    }

    /// The lines of allocated and reserved bytes.
    pub(super) fn totals(&self, shown: &Shown) {
        let totals = &shown.picture.totals;
        self.total(shown, &totals.reserved, Stroke::new(1.5, theme::color(self.palette.reserved)));
        self.total(shown, &totals.allocated, Stroke::new(1.0, theme::faded(self.palette.allocated, 0.55)));
    }

    fn total(&self, shown: &Shown, values: &[i64], stroke: Stroke) {
        let (old, columns) = (&shown.picture.wish.view, values.len().max(1) as f64);
        let mut points: Vec<Pos2> = Vec::new();
        for (i, &value) in values.iter().enumerate() {
            let is_same = 0 < i && values[i - 1] == value && i + 1 < values.len();
            if is_same {
                continue;
            }
            let (x, y) = (self.x(old.moment_from_x(i as f64 / columns)), self.y(value as f64));
            if let Some(last) = points.last().copied() {
                points.push(pos2(x, last.y));
            }
            points.push(pos2(x, y));
            if i + 1 == values.len() {
                points.push(pos2(self.x(old.x1), y));
            }
        }
        self.inside().add(Shape::line(points, stroke));
    }

    /// The outline of an allocation; a selected one is also lighter.
    pub(super) fn outline(&self, shown: &mut Shown, id: AllocId, is_selected: bool) {
        let (old, size_px) = (shown.picture.wish.view, shown.picture.raster.size_px);
        let spans = shown.outline(id);
        let painter = self.inside();
        let accent = theme::color(self.palette.accent);
        if is_selected {
            let mut mesh = Mesh::default();
            for span in spans {
                mesh.add_colored_rect(self.place(span, &old, size_px), theme::faded(self.palette.text, 0.22));
            }
            painter.add(Shape::mesh(mesh));
        }
        let stroke = Stroke::new(if is_selected { 2.0 } else { 1.0 }, accent);
        // Pieces that hang together share one outline.
        let mut rest = spans;
        while !rest.is_empty() {
            let mut end = 1;
            while end < rest.len() && rest[end].x[0] == rest[end - 1].x[1] {
                end += 1;
            }
            let pieces: Vec<Rect> = rest[..end].iter().map(|span| self.place(span, &old, size_px)).collect();
            let top = pieces.iter().flat_map(|r| [r.left_top(), r.right_top()]);
            let bottom = pieces.iter().rev().flat_map(|r| [r.right_bottom(), r.left_bottom()]);
            painter.add(Shape::closed_line(top.chain(bottom).collect(), stroke));
            rest = &rest[end..];
        }
    }

    fn place(&self, span: &Span, old: &View, [width, height]: [usize; 2]) -> Rect {
        let x = |column: usize| self.x(old.moment_from_x(column as f64 / width as f64));
        let y = |row: usize| self.y(old.bytes_from_y(1.0 - row as f64 / height as f64));
        Rect::from_min_max(pos2(x(span.x[0]), y(span.y[0])), pos2(x(span.x[1]), y(span.y[1])))
    }

    /// The moment of the peak.
    pub(super) fn peak(&self, (moment, bytes): (Moment, i64)) {
        let x = self.x(f64::from(moment.0) + 0.5).round();
        let color = theme::color(self.palette.peak);
        let line = [pos2(x, self.rect.top()), pos2(x, self.rect.bottom())];
        self.inside().extend(Shape::dashed_line(&line, Stroke::new(1.0, color), 4.0, 4.0));
        self.label(x, 0, &format!("peak {}", units::bytes(bytes)), color);
    }

    /// Requests that failed: a line each, and the request to scale on top of the stack.
    pub(super) fn ooms(&self, timeline: &Timeline) {
        let ooms = &timeline.ooms;
        let first_after =
            |moment: f64| ooms.partition_point(|oom| f64::from(Moment::after(oom.event).0) + 1.0 < moment);
        let moments_per_px = self.view.span() / f64::from(self.rect.width());
        let (mut at, mut free_from) = (first_after(self.view.x0), f32::NEG_INFINITY);
        while let Some(oom) = ooms.get(at).filter(|oom| f64::from(Moment::after(oom.event).0) < self.view.x1)
        {
            let moment = f64::from(Moment::after(oom.event).0);
            free_from = self.oom(timeline, oom, free_from);
            at = first_after(moment + 1.0 + f64::from(MIN_MARK_PX) * moments_per_px).max(at + 1);
        }
    }

    fn oom(&self, timeline: &Timeline, oom: &OomEvent, free_from: f32) -> f32 {
        let moment = Moment::after(oom.event);
        let start = f64::from(moment.0);
        let active = timeline.active.at(moment);
        let color = theme::color(self.palette.oom);
        let painter = self.inside();
        let x = self.x(start + 0.5).round();
        painter.vline(x, self.rect.y_range(), Stroke::new(1.0, color));
        let wide = (self.x(start + 1.0) - self.x(start)).max(MIN_OOM_PX);
        let right = (x + wide / 2.0).min(self.rect.right());
        let (top, bottom) = (self.y(active.saturating_add(oom.requested) as f64), self.y(active as f64));
        let request = Rect::from_min_max(pos2(right - wide, top), pos2(right, bottom));
        painter.rect(
            request,
            0.0,
            theme::faded(self.palette.oom, 0.35),
            Stroke::new(1.0, color),
            StrokeKind::Inside,
        );
        if x < free_from {
            return free_from;
        }
        self.label(x, 1, &format!("OOM {}", units::bytes(oom.requested)), color)
    }

    /// The cursor.
    pub(super) fn cursor(&self, moment: Moment) {
        let x = self.x(f64::from(moment.0) + 0.5).round();
        let color = theme::color(self.palette.text);
        let painter = self.inside();
        painter.vline(x, self.rect.y_range(), Stroke::new(1.0, color));
        let tip = |dx: f32, dy: f32| pos2(x + dx, self.rect.bottom() + dy);
        painter.add(Shape::convex_polygon(
            vec![tip(-5.0, 0.0), tip(5.0, 0.0), tip(0.0, -7.0)],
            color,
            Stroke::NONE,
        ));
    }

    /// A label at the top beside a line, on the side where there is room; returns its right end.
    fn label(&self, x: f32, row: u8, text: &str, color: Color32) -> f32 {
        const HEIGHT_PX: f32 = 18.0;
        if !self.rect.x_range().contains(x) {
            return f32::NEG_INFINITY;
        }
        let galley = self.painter.layout_no_wrap(text.to_owned(), theme::axis_font(), color);
        let size = galley.size() + vec2(10.0, 4.0);
        let left = if x + 6.0 + size.x <= self.rect.right() { x + 6.0 } else { x - 6.0 - size.x };
        let place =
            Rect::from_min_size(pos2(left, self.rect.top() + 4.0 + f32::from(row) * (HEIGHT_PX + 2.0)), size);
        self.painter.rect_filled(place, 3.0, theme::faded(self.palette.window, 0.85));
        self.painter.galley(place.min + vec2(5.0, 2.0), galley, color);
        place.right()
    }
}
