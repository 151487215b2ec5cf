//! A recording in the size of a word: active memory over events, and where requests failed.

use super::{Palette, decimate};
use egui::{Mesh, Painter, Pos2, Rect, Shape, Stroke, pos2};
use oomscope_model::Timeline;
use serde::{Deserialize, Serialize};

/// Most columns of a line: no place for one is wider in points.
pub const MAX_SPARK_COLUMNS: usize = 120;

/// Opacity of the area below the line: the line stands out, and marks are seen through it.
const AREA_OPACITY: f32 = 0.28;

/// Radius of the head of a mark, in points.
const MARK_PX: f32 = 2.5;

/// Active memory in few columns. Each has the exact maximum of its events, as 255ths of the highest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkLine {
    columns: Vec<u8>,
    /// The column of each failed request, without repetition.
    ooms: Vec<u8>,
}

impl SparkLine {
    /// The line of a device.
    pub fn of(timeline: &Timeline) -> Self {
        let peaks = decimate(&timeline.active, MAX_SPARK_COLUMNS);
        let highest = peaks.iter().map(|[_, bytes]| *bytes).fold(1.0, f64::max);
        let share = |bytes: f64| (bytes.max(0.0) / highest * 255.0).ceil() as u8;
        // The column of a moment, as `decimate` divides them.
        let (count, moments) = (peaks.len(), timeline.active.len().max(1));
        let column = |moment: usize| (moment * count / moments).min(count.saturating_sub(1)) as u8;
        let mut ooms: Vec<u8> = timeline.ooms.iter().map(|oom| column(oom.event.index() + 1)).collect();
        ooms.dedup();
        Self { columns: peaks.into_iter().map(|[_, bytes]| share(bytes)).collect(), ooms }
    }

    /// False for a line that was not made here: too long, or with a mark outside of it.
    pub fn is_sound(&self) -> bool {
        let count = self.columns.len();
        (1..=MAX_SPARK_COLUMNS).contains(&count)
            && self.ooms.len() <= count
            && self.ooms.iter().all(|&oom| usize::from(oom) < count)
    }

    /// True if a request failed.
    pub fn has_oom(&self) -> bool {
        !self.ooms.is_empty()
    }

    /// The corners of the line in a rectangle, from left to right: two for each column.
    fn points(&self, rect: Rect) -> Vec<Pos2> {
        let width = rect.width() / self.columns.len().max(1) as f32;
        let x = |at: usize| rect.left() + width * at as f32;
        let y = |share: u8| rect.bottom() - rect.height() * f32::from(share) / 255.0;
        let corners = |(at, &share): (usize, &u8)| [pos2(x(at), y(share)), pos2(x(at + 1), y(share))];
        self.columns.iter().enumerate().flat_map(corners).collect()
    }

    /// Paint it into a rectangle.
    pub fn paint(&self, painter: &Painter, rect: Rect, palette: &Palette) {
        let accent = egui::Color32::from(palette.accent);
        let points = self.points(rect);
        let mut area = Mesh::default();
        for column in points.as_chunks::<2>().0 {
            let bottom = pos2(column[1].x, rect.bottom());
            area.add_colored_rect(Rect::from_min_max(column[0], bottom), accent.gamma_multiply(AREA_OPACITY));
        }
        painter.add(Shape::mesh(area));
        painter.add(Shape::line(points, Stroke::new(1.0, accent)));
        let width = rect.width() / self.columns.len().max(1) as f32;
        for &oom in &self.ooms {
            let x = rect.left() + width * (f32::from(oom) + 0.5);
            let x = x.clamp(rect.left() + MARK_PX, (rect.right() - MARK_PX).max(rect.left() + MARK_PX));
            painter.vline(x, rect.y_range(), Stroke::new(1.5, palette.oom));
            painter.circle_filled(pos2(x, rect.top() + MARK_PX), MARK_PX, palette.oom);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines as fixture;
    use oomscope_model::{Bytes, EventIx, OomEvent};

    #[test]
    fn a_long_recording_has_few_columns_and_keeps_its_peak() {
        let timeline = fixture::timeline(&fixture::sawtooth(5000));
        let line = SparkLine::of(&timeline);
        assert_eq!(line.columns.len(), MAX_SPARK_COLUMNS);
        assert_eq!(line.columns.iter().max(), Some(&255));
        assert!(line.is_sound() && !line.has_oom());
        let rect = Rect::from_min_max(pos2(10.0, 20.0), pos2(110.0, 40.0));
        let points = line.points(rect);
        assert!(points.iter().all(|&point| rect.expand(0.01).contains(point)));
        assert!(points.windows(2).all(|pair| pair[0].x <= pair[1].x + 0.01));
    }

    #[test]
    fn failed_requests_are_marked_in_their_columns_once() {
        let mut timeline = fixture::timeline(&fixture::sawtooth(5000));
        let last = timeline.events.len() as u32 - 1;
        let oom = |event| OomEvent { event: EventIx(event), requested: Bytes(1), device_free: None };
        timeline.ooms = vec![oom(0), oom(1), oom(last)];
        let line = SparkLine::of(&timeline);
        assert_eq!(line.ooms, [0, (MAX_SPARK_COLUMNS - 1) as u8]);
        assert!(line.is_sound());
    }

    #[test]
    fn an_empty_recording_is_flat() {
        let line = SparkLine::of(&fixture::timeline(&[]));
        assert_eq!((line.columns.as_slice(), line.has_oom()), (&[0][..], false));
        assert!(line.is_sound());
    }

    #[test]
    fn lines_of_strangers_are_told_apart() {
        let line = |columns: usize, ooms: Vec<u8>| SparkLine { columns: vec![7; columns], ooms };
        assert!(line(3, vec![2]).is_sound());
        assert!(!line(3, vec![3]).is_sound());
        assert!(!line(0, Vec::new()).is_sound());
        assert!(!line(MAX_SPARK_COLUMNS + 1, Vec::new()).is_sound());
    }
}
