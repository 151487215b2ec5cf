//! The part of a sheet in sight, and its magnification.

use super::{BAR_PX, MIN_BYTES_PER_PX, MapLayout, Piece};
use egui::{Pos2, Vec2};

/// A magnification along lines, and the point of the sheet at the top left.
///
/// Zooming makes lines longer and does not break them anew, so that the byte under the pointer stays where it
/// is. Heights do not change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapZoom {
    /// Magnification: how many times longer lines are than on the sheet; at least 1.
    pub factor: f64,
    /// Length that is hidden to the left.
    pub x_px: f64,
    /// Height that is hidden above.
    pub y_px: f32,
}

impl Default for MapZoom {
    fn default() -> Self {
        Self { factor: 1.0, x_px: 0.0, y_px: 0.0 }
    }
}

impl MapZoom {
    /// Bytes per point.
    pub fn bytes_per_px(&self, layout: &MapLayout) -> f64 {
        layout.sheet.bytes_per_px / self.factor
    }

    /// The place of an address of a piece, from the left edge of the visible part.
    pub fn x_of(&self, layout: &MapLayout, piece: &Piece, addr: u64) -> f64 {
        let bytes = piece.bytes_before + addr.saturating_sub(piece.addr) as f64;
        bytes / self.bytes_per_px(layout) + f64::from(piece.gaps_px) - self.x_px
    }

    /// This zoom moved by a distance on the screen.
    #[must_use]
    pub fn pan(self, by: Vec2, layout: &MapLayout, size: Vec2) -> Self {
        Self { x_px: self.x_px - f64::from(by.x), y_px: self.y_px - by.y, ..self }.within(layout, size)
    }

    /// This zoom magnified around a point, whose byte stays in place. Factors above 1 show less.
    #[must_use]
    pub fn zoom_at(self, at: Pos2, factor: f64, layout: &MapLayout, size: Vec2) -> Self {
        let most = (layout.sheet.bytes_per_px / MIN_BYTES_PER_PX).max(1.0);
        let new = (self.factor * factor).clamp(1.0, most);
        // Gaps stay as they are: only the bytes to the left grow.
        let gaps_px = self.piece_at(layout, at).map_or(0.0, |piece| f64::from(piece.gaps_px));
        let bytes_px = self.x_px + f64::from(at.x) - gaps_px;
        let x_px = bytes_px * (new / self.factor) + gaps_px - f64::from(at.x);
        Self { factor: new, x_px, ..self }.within(layout, size)
    }

    /// The piece at a point, or the last one to the left of it.
    pub fn piece_at<'a>(&self, layout: &'a MapLayout, at: Pos2) -> Option<&'a Piece> {
        let y = at.y + self.y_px;
        let line = layout.lines.partition_point(|line| line.y_px <= y).checked_sub(1)?;
        let pieces = &layout.pieces[layout.lines[line].pieces.clone()];
        let behind = pieces.partition_point(|piece| self.x_of(layout, piece, piece.addr) <= f64::from(at.x));
        pieces.get(behind.checked_sub(1)?)
    }

    /// This zoom if an address of a row is in sight; else moved so that it is in the middle.
    #[must_use]
    pub fn showing(self, row: usize, addr: u64, layout: &MapLayout, size: Vec2) -> Self {
        let indices = layout.piece_indices(row);
        let pieces = layout.pieces_of(row);
        let at = pieces.partition_point(|piece| piece.addr <= addr).saturating_sub(1);
        let Some((piece, line)) = pieces.get(at).zip(layout.line_of(indices.start + at)) else { return self };
        let mut new = self;
        if line.y_px < new.y_px || new.y_px + size.y < line.y_px + BAR_PX {
            new.y_px = line.y_px + BAR_PX / 2.0 - size.y / 2.0;
        }
        let x = new.x_of(layout, piece, addr);
        if !(0.0..f64::from(size.x)).contains(&x) {
            new.x_px += x - f64::from(size.x) / 2.0;
        }
        new.within(layout, size)
    }

    /// This zoom moved so that it shows nothing beyond the sheet.
    #[must_use]
    pub fn within(self, layout: &MapLayout, size: Vec2) -> Self {
        let width = f64::from(layout.sheet.width_px) * self.factor;
        let most_x = (width - f64::from(size.x)).max(0.0);
        let most_y = (layout.height_px - size.y).max(0.0);
        Self {
            factor: self.factor,
            x_px: if 1.0 < self.factor { self.x_px.clamp(0.0, most_x) } else { 0.0 },
            y_px: self.y_px.clamp(0.0, most_y),
        }
    }

    /// The height on the screen of a height on the sheet. `top` is that of the visible part.
    pub fn y_on_screen(&self, y_px: f32, top: f32) -> f32 {
        top + y_px - self.y_px
    }
}
