//! Painting on top of a picture: coordinates, the picture itself, total lines and outlines.

use super::stacked::PixelSpan;
use super::timeline_raster::TimelineRaster;
use crate::{Axis, Palette, View, outline};
use egui::epaint::Mesh;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, TextureId, pos2};
use oomscope_model::{Bytes, Timeline};

/// A rectangle on the screen with the view that it shows.
#[derive(Clone, Copy)]
pub struct TimelineCanvas<'a> {
    /// The painter that takes the shapes.
    pub painter: &'a Painter,
    /// The place of the view, without axes.
    pub rect: Rect,
    /// The view.
    pub view: &'a View,
    /// The timeline that it shows.
    pub timeline: &'a Timeline,
    /// Colours.
    pub palette: &'a Palette,
}

impl TimelineCanvas<'_> {
    /// The x coordinate at which a moment starts; `moment` may have a fraction.
    pub fn x(&self, moment: f64) -> f32 {
        self.x_at(self.view.on(self.timeline).position_from_moment(moment))
    }

    /// The x coordinate of a position on the axis.
    pub fn x_at(&self, position: f64) -> f32 {
        // Places far outside are drawn ten widths outside: there, `f32` is exact enough for clipping.
        let x = self.view.x_from_position(position).clamp(-10.0, 11.0);
        self.rect.left() + (x * f64::from(self.rect.width())) as f32
    }

    /// The y coordinate of a number of bytes.
    pub fn y(&self, bytes: f64) -> f32 {
        let y = self.view.y_from_bytes(bytes).clamp(-1e6, 1e6);
        self.rect.bottom() - (y * f64::from(self.rect.height())) as f32
    }

    /// The x coordinate of the middle of a moment; on a time axis, of its start.
    pub fn x_middle(&self, moment: oomscope_model::Moment) -> f32 {
        let (from, to) = self.view.on(self.timeline).positions_of(moment);
        match self.view.axis {
            Axis::Event => self.x_at(f64::midpoint(from, to)),
            // An event is drawn at its time, not in the middle of the pause after it.
            Axis::Time => self.x_at(from),
        }
    }

    /// A painter that is clipped to the view.
    pub fn inside(&self) -> Painter {
        self.painter.with_clip_rect(self.rect.intersect(self.painter.clip_rect()))
    }

    /// Paint the border, above the picture.
    pub fn frame(&self) {
        let line = Stroke::new(1.0, Color32::from(self.palette.line));
        self.painter.rect_stroke(self.rect, 0.0, line, StrokeKind::Outside);
    }

    /// Paint the picture, stretched if it is that of an earlier view.
    pub fn picture(&self, picture: &TimelineRaster, texture: TextureId) {
        let old = &picture.view;
        if old.axis != self.view.axis {
            return;
        }
        let place = Rect::from_min_max(
            pos2(self.x_at(old.x0), self.y(old.y1)),
            pos2(self.x_at(old.x1), self.y(old.y0)),
        );
        let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        self.inside().image(texture, place, uv, Color32::WHITE);
    }

    /// Paint the lines of active, allocated and reserved bytes.
    pub fn totals(&self, picture: &TimelineRaster) {
        let totals = &picture.totals;
        self.total(picture, &totals.reserved, Stroke::new(1.5, Color32::from(self.palette.reserved)));
        let active = Color32::from(self.palette.accent).gamma_multiply(0.8);
        self.total(picture, &totals.active, Stroke::new(1.0, active));
        let allocated = Color32::from(self.palette.allocated).gamma_multiply(0.55);
        self.total(picture, &totals.allocated, Stroke::new(1.0, allocated));
    }

    /// Paint a total of every column of a picture as a line.
    pub fn total(&self, picture: &TimelineRaster, values: &[Bytes], stroke: Stroke) {
        self.steps(&picture.view, values, stroke);
    }

    /// Paint a value of every column of a view as a line.
    pub(crate) fn steps(&self, old: &View, values: &[Bytes], stroke: Stroke) {
        if old.axis != self.view.axis {
            return;
        }
        // After the last moment there is no value, which is not the same as zero.
        let scale = old.on(self.timeline);
        let is_known = |&column: &usize| !scale.moments_of_column(column, values.len()).is_empty();
        let known = (0..values.len()).rev().find(is_known).map_or(0, |column| column + 1);
        let (columns, values) = (values.len().max(1) as f64, &values[..known]);
        let mut points: Vec<Pos2> = Vec::new();
        for (i, &value) in values.iter().enumerate() {
            // Only steps need points; of thousands of columns, most repeat the one before.
            let is_same = 0 < i && values[i - 1] == value && i + 1 < values.len();
            if is_same {
                continue;
            }
            let (x, y) = (self.x_at(old.position_from_x(i as f64 / columns)), self.y(value.as_f64()));
            if let Some(last) = points.last().copied() {
                points.push(pos2(x, last.y));
            }
            if is_comb(values, i) {
                self.inside().add(Shape::line(std::mem::take(&mut points), stroke));
            }
            points.push(pos2(x, y));
            if i + 1 == values.len() {
                points.push(pos2(self.x_at(old.position_from_x(known as f64 / columns)), y));
            }
        }
        self.inside().add(Shape::line(points, stroke));
    }

    /// Paint the outline of some spans of a picture; a selected one is also lighter.
    pub fn outline(&self, picture: &TimelineRaster, spans: &[PixelSpan], is_selected: bool) {
        if picture.view.axis != self.view.axis {
            return;
        }
        let painter = self.inside();
        let places: Vec<Rect> = spans.iter().map(|span| self.place(picture, span)).collect();
        if is_selected {
            painter.add(Shape::mesh(lighter(&places)));
        }
        // Adjacent spans share one outline.
        let mut from = 0;
        for to in 1..=spans.len() {
            if to < spans.len() && spans[to].x[0] == spans[to - 1].x[1] {
                continue;
            }
            let pieces = &places[from..to];
            let top = pieces.iter().flat_map(|r| [r.left_top(), r.right_top()]);
            let bottom = pieces.iter().rev().flat_map(|r| [r.right_bottom(), r.left_bottom()]);
            let points: Vec<Pos2> = top.chain(bottom).collect();
            for stroke in outline::strokes(self.palette, is_selected) {
                painter.add(Shape::closed_line(points.clone(), stroke));
            }
            from = to;
        }
    }

    /// Paint many spans of a picture that are selected together: lighter, and with an edge while there are
    /// few enough to tell apart.
    pub fn highlight(&self, picture: &TimelineRaster, spans: &[PixelSpan]) {
        self.lighten(picture, spans);
        self.edges(picture, spans);
    }

    /// Make spans of a picture lighter.
    pub(super) fn lighten(&self, picture: &TimelineRaster, spans: &[PixelSpan]) {
        self.inside().add(Shape::mesh(lighter(&self.places(picture, spans))));
    }

    /// The places of spans that are in sight.
    fn places(&self, picture: &TimelineRaster, spans: &[PixelSpan]) -> Vec<Rect> {
        if picture.view.axis != self.view.axis {
            return Vec::new();
        }
        let places = spans.iter().map(|span| self.place(picture, span));
        places.filter(|place| place.intersects(self.rect)).collect()
    }

    /// Paint an edge around spans of a picture while there are few enough to tell apart. Between neighbours there is none.
    pub(super) fn edges(&self, picture: &TimelineRaster, spans: &[PixelSpan]) {
        /// Above this number of spans, edges would hide the colours.
        const MAX_EDGED: usize = 400;
        /// In narrower and lower places, in points, edges would be all there is.
        const MIN_EDGED_PX: f32 = 6.0;
        if MAX_EDGED < spans.len() || picture.view.axis != self.view.axis {
            return;
        }
        let (painter, stroke) = (self.inside(), Stroke::new(1.0, Color32::from(self.palette.outline)));
        for span in spans {
            let place = self.place(picture, span);
            if !place.intersects(self.rect) || place.width().min(place.height()) < MIN_EDGED_PX {
                continue;
            }
            let inner = place.shrink(0.5);
            painter.hline(place.x_range(), inner.top(), stroke);
            painter.hline(place.x_range(), inner.bottom(), stroke);
            for (side, x) in [inner.left(), inner.right()].into_iter().enumerate() {
                let beside = spans.iter().filter(|other| other.x[1 - side] == span.x[side]);
                for [top, bottom] in left_of(span.y, beside.map(|other| other.y)) {
                    let rows = self.place(picture, &PixelSpan { y: [top, bottom], ..*span });
                    painter.vline(x, rows.y_range(), stroke);
                }
            }
        }
    }

    /// The place on the screen of a span, whose pixels are those of the picture's own view.
    pub(super) fn place(&self, picture: &TimelineRaster, span: &PixelSpan) -> Rect {
        let (old, [width, height]) = (&picture.view, picture.raster.size_px);
        let x = |column: usize| self.x_at(old.position_from_x(column as f64 / width as f64));
        let y = |row: usize| self.y(old.bytes_from_y(1.0 - row as f64 / height as f64));
        Rect::from_min_max(pos2(x(span.x[0]), y(span.y[0])), pos2(x(span.x[1]), y(span.y[1])))
    }
}

/// What is left of some rows without others.
fn left_of(rows: [usize; 2], others: impl Iterator<Item = [usize; 2]>) -> Vec<[usize; 2]> {
    let mut left = vec![rows];
    for [top, bottom] in others {
        let without = |[a, b]: [usize; 2]| [[a, b.min(top)], [a.max(bottom), b]];
        left = left.into_iter().flat_map(without).filter(|[a, b]| a < b).collect();
    }
    left
}

/// White that lies thinly over places, so that what is below is lighter and keeps its hue.
fn lighter(places: &[Rect]) -> Mesh {
    let mut mesh = Mesh::default();
    for &place in places {
        mesh.add_colored_rect(place, outline::lighter());
    }
    mesh
}

/// Columns within which a line that goes up and comes down again is a comb.
const COMB_COLUMNS: usize = 3;

/// True if the riser of a line before column `i` is one of a comb: the line crosses its middle again within a few
/// columns, both before and after. Such risers would lie side by side and cover the picture, so only the
/// tops are drawn.
fn is_comb(values: &[Bytes], i: usize) -> bool {
    let Some(&[from, to]) = i.checked_sub(1).and_then(|before| values.get(before..)?.first_chunk()) else {
        return false;
    };
    let middle = i64::midpoint(from.0, to.0);
    let is_above = |value: &Bytes| middle < *value;
    if is_above(&from) == is_above(&to) {
        return false;
    }
    let before = &values[(i - 1).saturating_sub(COMB_COLUMNS)..i - 1];
    let after = &values[i + 1..values.len().min(i + 1 + COMB_COLUMNS)];
    before.iter().any(|value| is_above(value) == is_above(&to))
        && after.iter().any(|value| is_above(value) == is_above(&from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_left_where_nothing_lies_beside() {
        let left = |others: &[[usize; 2]]| left_of([10, 20], others.iter().copied());
        assert_eq!(left(&[]), [[10, 20]]);
        assert_eq!(left(&[[8, 12], [15, 16]]), [[12, 15], [16, 20]]);
        assert_eq!(left(&[[0, 30]]), [[0; 2]; 0]);
        assert_eq!(left(&[[0, 5], [25, 30]]), [[10, 20]], "those beside do not touch it");
    }

    #[test]
    fn only_risers_that_stand_side_by_side_are_left_out() {
        let left_out = |values: &[i64]| {
            let values: Vec<Bytes> = values.iter().copied().map(Bytes).collect();
            (0..values.len()).filter(|&i| is_comb(&values, i)).collect::<Vec<_>>()
        };
        let none: Vec<usize> = Vec::new();
        assert_eq!(left_out(&[0, 0, 5, 0, 0]), none, "a single peak");
        assert_eq!(left_out(&[0, 1, 2, 3, 2, 1]), none, "a slope");
        assert_eq!(left_out(&[0, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0, 0]), none, "a wide peak");
        assert_eq!(left_out(&[0, 5, 0, 5, 0, 5]), [2, 3, 4], "a peak in every other column");
        assert_eq!(left_out(&[0, 5, 4, 0, 5, 5, 0, 5]), [2, 3, 4, 6], "peaks of two columns");
        assert_eq!(left_out(&[]), none);
    }
}
