//! The arrangement and the visible part of a segment map, independent of the size of the surface.

use super::{MapGrouping, MapLayout, MapOrder, MapSheet, MapZoom};
use egui::Vec2;
use oomscope_analysis::SegmentState;

/// The arrangement of a map, and the part of it that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MapLook {
    /// The grouping of rows.
    pub grouping: MapGrouping,
    /// The order of rows in a group.
    pub order: MapOrder,
    /// The part that is shown; `None` for the whole map at the finest scale that fits.
    pub part: Option<MapPart>,
}

/// A part of a map, held by a byte that is in sight.
///
/// On a surface of another size, that byte is at the same share of the width and at the same distance from
/// the top, and a line that is not magnified holds the same number of bytes. A higher surface shows more
/// lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapPart {
    /// Bytes on a line that is not magnified.
    line_bytes: f64,
    /// Magnification: how many times longer lines are.
    factor: f64,
    /// The address of the byte.
    addr: u64,
    /// Its place, as a share of the width from the left.
    left_share: f64,
    /// The top of its line, in points from the top of the surface.
    top_px: f32,
}

impl MapPart {
    /// The part that a surface of a height shows; `None` if that is the whole map, or nothing of it.
    pub fn of(zoom: MapZoom, layout: &MapLayout, height_px: f32) -> Option<Self> {
        if zoom.factor <= 1.0 && layout.height_px <= height_px {
            return None;
        }
        let width_px = f64::from(layout.sheet.width_px);
        let seen = layout.lines_between(zoom.y_px, zoom.y_px + height_px);
        let pieces = layout.lines.get(seen)?.iter().flat_map(|line| {
            let pieces = layout.pieces.get(line.pieces.clone()).unwrap_or_default();
            pieces.iter().map(move |piece| (line, piece))
        });
        let mut ends = pieces.map(|(line, piece)| {
            let x = [piece.addr, piece.past_end].map(|addr| zoom.x_of(layout, piece, addr));
            (line, piece, x)
        });
        let (line, piece, [left_px, _]) = ends.find(|(_, _, x)| 0.0 < x[1] && x[0] < width_px)?;
        let hidden_bytes = (-left_px * zoom.bytes_per_px(layout)).max(0.0) as u64;
        Some(Self {
            line_bytes: layout.sheet.bytes_per_px * width_px,
            factor: zoom.factor,
            addr: piece.addr.saturating_add(hidden_bytes).min(piece.past_end.saturating_sub(1)),
            left_share: left_px.max(0.0) / width_px,
            top_px: line.y_px - zoom.y_px,
        })
    }
}

impl MapLook {
    /// Lay out a map on a surface. Returns the layout and the part of it in sight.
    pub fn place(&self, state: &SegmentState, size: Vec2) -> (MapLayout, MapZoom) {
        let Self { grouping, order, part } = *self;
        let sheet = MapSheet { width_px: size.x, bytes_per_px: 1.0, grouping, order };
        let bytes_per_px = part.map_or_else(
            || MapLayout::fit(state, sheet, size.y),
            |part| part.line_bytes / f64::from(size.x.max(1.0)),
        );
        let layout = MapLayout::new(state, MapSheet { bytes_per_px, ..sheet });
        let zoom = part.and_then(|part| part.zoom(state, &layout)).unwrap_or_default();
        let zoom = zoom.within(&layout, size);
        (layout, zoom)
    }
}

impl MapPart {
    /// The zoom that shows this part on another sheet; `None` if its address is not there.
    fn zoom(&self, state: &SegmentState, layout: &MapLayout) -> Option<MapZoom> {
        let row = state.row_at(self.addr)?;
        let at = layout.pieces_of(row).partition_point(|piece| piece.addr <= self.addr).checked_sub(1)?;
        let (piece, line) =
            (&layout.pieces_of(row)[at], layout.line_of(layout.piece_indices(row).start + at)?);
        let zoom = MapZoom { factor: self.factor, x_px: 0.0, y_px: line.y_px - self.top_px };
        let left_px = self.left_share * f64::from(layout.sheet.width_px);
        Some(MapZoom { x_px: zoom.x_of(layout, piece, self.addr) - left_px, ..zoom })
    }
}
