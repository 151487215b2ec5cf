//! A segment map on the screen: the part under a point, and outlines.

use super::items::MapView;
use super::{BAR_PX, MapLayout, MapZoom};
use crate::Palette;
use crate::outline::outline;
use egui::{Color32, Painter, Pos2, Rect, Stroke, StrokeKind, pos2};
use oomscope_analysis::SegmentState;

/// Outlines are at least this wide, so that those of thin blocks can be seen.
const MIN_OUTLINE_PX: f32 = 3.0;

/// A rectangle on the screen with the segment map that it shows.
#[derive(Clone, Copy)]
pub struct SegmentMapCanvas<'a> {
    /// The painter that takes the shapes.
    pub painter: &'a Painter,
    /// The place of the lines.
    pub rect: Rect,
    /// The place of addresses, to the left; may be empty.
    pub gutter: Rect,
    /// The segments and their parts.
    pub state: &'a SegmentState,
    /// The places of rows on the sheet.
    pub layout: &'a MapLayout,
    /// The part of the sheet in sight.
    pub zoom: &'a MapZoom,
    /// Colours.
    pub palette: &'a Palette,
}

/// The part under a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentMapHit {
    /// Index into [`SegmentState::rows`].
    pub row: usize,
    /// Index into [`SegmentState::parts`].
    pub part: usize,
    /// Number of other parts in the pixel.
    pub others: usize,
}

impl SegmentMapCanvas<'_> {
    /// The part under a point; `None` between lines and outside. `scale` is physical pixels per point.
    pub fn hit(&self, at: Pos2, scale: f32) -> Option<SegmentMapHit> {
        if !self.rect.contains(at) {
            return None;
        }
        let inside = at - self.rect.min;
        let y = inside.y + self.zoom.y_px;
        let line = self.layout.lines.partition_point(|line| line.y_px <= y).checked_sub(1)?;
        if self.layout.lines[line].y_px + BAR_PX < y {
            return None;
        }
        let piece = self.zoom.piece_at(self.layout, pos2(inside.x, inside.y))?;
        let end = self.zoom.x_of(self.layout, piece, piece.past_end);
        if end < f64::from(inside.x) {
            return None;
        }
        let frame = MapView { state: self.state, layout: self.layout, zoom: self.zoom, scale };
        let column = (inside.x * scale).floor() as i32;
        let (part, count) = frame.part_at(piece, column)?;
        Some(SegmentMapHit { row: piece.row, part, others: count - 1 })
    }

    /// The places of a range of a row's addresses, as far as they are in sight: one for each line.
    pub fn places(&self, row: usize, addr: u64, past_end: u64) -> Vec<Rect> {
        let indices = self.layout.piece_indices(row);
        let pieces = indices.clone().zip(self.layout.pieces_of(row));
        let shown = pieces.filter(|(_, piece)| piece.addr < past_end && addr < piece.past_end);
        let place = |(index, piece)| {
            let piece: &super::Piece = piece;
            let line = self.layout.line_of(index)?;
            let y = self.zoom.y_on_screen(line.y_px, self.rect.top());
            let x = [addr.max(piece.addr), past_end.min(piece.past_end)]
                .map(|addr| self.zoom.x_of(self.layout, piece, addr).clamp(-1e5, 1e5) as f32);
            let widen = ((MIN_OUTLINE_PX - (x[1] - x[0])) / 2.0).max(0.0);
            let left = self.rect.left();
            let min = pos2(left + x[0] - widen, y);
            Some(Rect::from_min_max(min, pos2(left + x[1] + widen, y + BAR_PX)))
        };
        shown.filter_map(place).filter(|place| place.intersects(self.rect)).collect()
    }

    /// Paint the outline of some places; a selected one is also lighter.
    pub fn outline(&self, places: &[Rect], is_selected: bool) {
        let painter = self.around();
        for place in places {
            outline(&painter, *place, self.palette, is_selected, StrokeKind::Outside);
        }
    }

    /// Paint a line of a colour with a meaning around some places.
    pub fn mark(&self, places: &[Rect], color: Color32) {
        let painter = self.around();
        for place in places {
            painter.rect_stroke(*place, 0.0, Stroke::new(1.0, color), StrokeKind::Outside);
        }
    }

    /// A painter that is clipped to the map with the lines around its blocks.
    fn around(&self) -> egui::Painter {
        self.painter.with_clip_rect(self.rect.expand(2.0).intersect(self.painter.clip_rect()))
    }
}
