//! The visible parts of a segment map, folded so that none is thinner than a pixel.

use super::{BAR_PX, MapLayout, MapZoom, Piece};
use oomscope_analysis::SegmentState;
use oomscope_analysis::segment_state::{Content, Part};
use std::ops::Range;

/// Neighbouring columns of a line that show the same part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Columns from the left of the picture; may reach beyond it.
    pub x: Range<i32>,
    /// Index into [`MapItems::bars`].
    pub bar: usize,
    /// Index into [`SegmentState::parts`]: the part with most of the columns' bytes.
    pub part: usize,
    /// First column of the part's rounding; the end of `x` if it has none.
    pub rounding_from: i32,
    /// True if other parts share the columns.
    pub is_folded: bool,
    /// True if the part ends with the item.
    pub has_end: bool,
}

/// A visible piece of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Columns.
    pub x: Range<i32>,
    /// Rows.
    pub y: Range<i32>,
    /// Index into [`MapLayout::pieces`].
    pub piece: usize,
    /// True if the row starts with the piece, and true if it ends with it.
    pub is_edge: [bool; 2],
}

/// The visible part of a layout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapItems {
    /// Columns and rows of the picture.
    pub size_px: [i32; 2],
    /// Pieces, line by line.
    pub bars: Vec<Bar>,
    /// Their parts.
    pub items: Vec<Item>,
}

/// A layout with the zoom and the scale of its picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct MapView<'a> {
    pub(super) state: &'a SegmentState,
    pub(super) layout: &'a MapLayout,
    pub(super) zoom: &'a MapZoom,
    /// Physical pixels per point.
    pub(super) scale: f32,
}

impl MapView<'_> {
    fn bytes_per_column(&self) -> f64 {
        self.zoom.bytes_per_px(self.layout) / f64::from(self.scale)
    }

    /// The column at which a piece starts, with a fraction.
    fn start(&self, piece: &Piece) -> f64 {
        self.zoom.x_of(self.layout, piece, piece.addr) * f64::from(self.scale)
    }

    /// The columns of a piece. Neighbours share none, so a thin piece may have none.
    fn columns(&self, piece: &Piece) -> Range<i32> {
        let start = self.start(piece);
        let end = start + piece.bytes() / self.bytes_per_column();
        column(start)..column(end)
    }

    fn rows(&self, y_px: f32) -> Range<i32> {
        let y = |y: f32| ((y - self.zoom.y_px) * self.scale).round() as i32;
        y(y_px)..y(y_px + BAR_PX)
    }

    /// The visible items of a picture of a size in physical pixels.
    pub(super) fn items(&self, size_px: [i32; 2]) -> MapItems {
        let mut out = MapItems { size_px, ..MapItems::default() };
        let height = size_px[1] as f32 / self.scale;
        for line in self.layout.lines_between(self.zoom.y_px, self.zoom.y_px + height) {
            let line = &self.layout.lines[line];
            let pieces = &self.layout.pieces[line.pieces.clone()];
            let first = pieces.partition_point(|piece| self.columns(piece).end <= 0);
            for (i, piece) in pieces.iter().enumerate().skip(first) {
                let x = self.columns(piece);
                if size_px[0] <= x.start {
                    break;
                }
                if !x.is_empty() {
                    self.bar(piece, line.pieces.start + i, x, self.rows(line.y_px), &mut out);
                }
            }
        }
        out
    }

    fn bar(&self, piece: &Piece, index: usize, x: Range<i32>, y: Range<i32>, out: &mut MapItems) {
        let row = &self.state.rows[piece.row];
        let is_edge = [row.addr == piece.addr, row.past_end == piece.past_end];
        let bar = out.bars.len();
        // A column more on each side, to see whether an item ends at the edge or goes on.
        let visible = x.start.max(-1)..x.end.min(out.size_px[0] + 1);
        out.bars.push(Bar { x, y, piece: index, is_edge });
        let fold = PieceParts {
            parts: self.state.parts_of(row),
            from: piece.addr,
            to: piece.past_end,
            start: self.start(piece),
            per_column: self.bytes_per_column(),
        };
        let first = out.items.len();
        fold.columns(visible, |shown| {
            let part = row.parts.start + shown.part;
            let items = out.items.len();
            if let Some(last) = out.items.last_mut().filter(|last| first < items && last.part == part) {
                last.x.end = shown.x.end;
                last.is_folded |= shown.is_folded;
                last.has_end = shown.has_end;
                return;
            }
            out.items.push(Item {
                rounding_from: i32::MAX,
                x: shown.x,
                bar,
                part,
                is_folded: shown.is_folded,
                has_end: shown.has_end,
            });
        });
        for item in &mut out.items[first..] {
            item.rounding_from =
                fold.rounding_from(&self.state.parts[item.part]).clamp(item.x.start, item.x.end);
        }
    }

    /// The part that a column of a piece shows, as an index into [`SegmentState::parts`], and the number of
    /// parts in the column.
    pub(super) fn part_at(&self, piece: &Piece, column: i32) -> Option<(usize, usize)> {
        let row = &self.state.rows[piece.row];
        let fold = PieceParts {
            parts: self.state.parts_of(row),
            from: piece.addr,
            to: piece.past_end,
            start: self.start(piece),
            per_column: self.bytes_per_column(),
        };
        let [low, high] = fold.bytes_of(column);
        let first = fold.first_part(low);
        let (part, count) = fold.dominant(first, low, high)?;
        Some((row.parts.start + part, count))
    }
}

/// The column that a place rounds to. Places far outside stay far outside, within `i32`.
fn column(x: f64) -> i32 {
    x.round().clamp(-1e9, 1e9) as i32
}

/// Neighbouring columns that show one part.
struct ColumnRun {
    x: Range<i32>,
    /// Index into [`PieceParts::parts`].
    part: usize,
    is_folded: bool,
    has_end: bool,
}

/// The parts of a piece, which are folded into columns.
struct PieceParts<'a> {
    /// The parts of the row.
    parts: &'a [Part],
    /// First address of the piece.
    from: u64,
    /// First address after it.
    to: u64,
    /// The column at which it starts, with a fraction.
    start: f64,
    /// Bytes per column.
    per_column: f64,
}

impl PieceParts<'_> {
    /// The distance of an address from the piece's start, in bytes.
    fn offset(&self, addr: u64) -> f64 {
        addr.saturating_sub(self.from) as f64
    }

    /// The range of bytes of a column, from the piece's start; never empty.
    fn bytes_of(&self, column: i32) -> [f64; 2] {
        let last = self.offset(self.to);
        let at = |column: f64| ((column - self.start) * self.per_column).clamp(0.0, last);
        let (low, high) = (at(f64::from(column)), at(f64::from(column) + 1.0));
        // The first and the last column may lie outside of the piece by a part of a column.
        if low < high { [low, high] } else { [low.min((last - 1.0).max(0.0)), high.max(1.0).min(last)] }
    }

    /// The first part that reaches beyond a byte of the piece.
    fn first_part(&self, low: f64) -> usize {
        self.parts.partition_point(|part| self.offset(part.past_end()) <= low)
    }

    /// Call `show` for the columns in `x` from left to right. Its cost depends on columns and parts in sight,
    /// not on the length of the row.
    fn columns(&self, x: Range<i32>, mut show: impl FnMut(ColumnRun)) {
        let mut column = x.start;
        let mut part = self.first_part(self.bytes_of(column)[0]);
        while column < x.end {
            let [low, high] = self.bytes_of(column);
            while self.parts.get(part).is_some_and(|p| self.offset(p.past_end()) <= low) {
                part += 1;
            }
            let Some(found) = self.parts.get(part) else { return };
            let end = self.offset(found.past_end());
            if end < high {
                let Some((dominant, count)) = self.dominant(part, low, high) else { return };
                show(ColumnRun {
                    x: column..column + 1,
                    part: dominant,
                    is_folded: 1 < count,
                    has_end: true,
                });
                column += 1;
                continue;
            }
            // All columns before the one in which the part ends show nothing else.
            let until = (self.start + end / self.per_column).floor().clamp(-1e9, 1e9) as i32;
            let until = until.clamp(column + 1, x.end);
            show(ColumnRun { x: column..until, part, is_folded: false, has_end: until < x.end });
            column = until;
        }
    }

    /// The part that stands for a range of bytes, and the number of parts in it. First the kind with most
    /// bytes is chosen (blocks, holes or unmapped), so that many small blocks outweigh one hole, then its
    /// largest part.
    fn dominant(&self, first: usize, low: f64, high: f64) -> Option<(usize, usize)> {
        // By kind: the sum of bytes, the bytes of the largest part, and that part.
        let mut best: [(f64, f64, usize); 3] = [(0.0, -1.0, 0); 3];
        let mut count = 0;
        for (i, part) in self.parts.iter().enumerate().skip(first) {
            if high <= self.offset(part.addr) && 0 < count {
                break;
            }
            let bytes = high.min(self.offset(part.past_end())) - low.max(self.offset(part.addr));
            let kind = match part.content {
                Content::Allocated(_) | Content::Awaiting(_) => 0,
                Content::Hole => 1,
                Content::Unmapped => 2,
            };
            let (sum, largest, index) = &mut best[kind];
            *sum += bytes;
            if *largest < bytes {
                (*largest, *index) = (bytes, i);
            }
            count += 1;
        }
        // Of equal kinds the first, so that blocks win over holes.
        let most = best.iter().map(|(sum, ..)| *sum).fold(0.0, f64::max);
        best.iter().find(|(sum, ..)| *sum == most).map(|&(.., index)| (index, count)).filter(|_| 0 < count)
    }

    /// The column at which a part's rounding starts; `i32::MAX` if it has none.
    fn rounding_from(&self, part: &Part) -> i32 {
        if part.rounding() == 0 {
            return i32::MAX;
        }
        let end = part.addr.saturating_add(part.requested.unsigned_abs());
        // `offset` stops at 0, but rounding may start before the piece, as that of a block which is broken
        // over two lines.
        let offset = self.offset(end) - self.from.saturating_sub(end) as f64;
        column(self.start + offset / self.per_column)
    }
}
