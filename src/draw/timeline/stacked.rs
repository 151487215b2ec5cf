//! The stacked timeline as pixels, with the allocation under every pixel.
//!
//! Every column shows the instant of its highest total, so that no peak is lost by zooming out. The bands of
//! that instant are stacked from 0, in the order in which [`Bands`] gives them.

use super::bands::{BandFill, BandTexture, Bands};
use crate::draw::{Palette, Rgb, View};
use crate::model::{AllocId, Moment, Timeline};
use rayon::prelude::*;
use std::ops::Range;

/// Number of columns that one task paints: few enough to keep all threads busy, many enough that the list of
/// live blocks is rarely built anew.
const COLUMNS_PER_TASK: usize = 48;

/// Number of rows that are transposed together: 16 pixels of four bytes are one cache line.
const ROWS_PER_TASK: usize = 16;

/// Bands have an edge at their top from this height on; on thinner ones it would hide the colour.
const MIN_EDGED_ROWS: usize = 4;

/// Share of [`Palette::merged`] in the colour of pixels that several thin blocks share.
const MERGED_SHARE: f32 = 0.62;

/// Opacity of bands that the filter leaves out.
const FADED_OPACITY: f32 = 0.25;

/// The id of pixels that show nothing.
const NONE: u32 = u32::MAX;

/// The id of pixels that several thin blocks share.
const MERGED: u32 = u32::MAX - 1;

/// From here on, `f64` does not hold every number of bytes.
const EXACT_IN_F64: i64 = 1 << 53;

/// The content of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixel {
    /// Nothing.
    Empty,
    /// Blocks that are each thinner than a pixel.
    Merged,
    /// One block, or another band by its id.
    Block(AllocId),
}

/// A painted view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raster {
    /// Columns and rows.
    pub size_px: [usize; 2],
    /// Red, green, blue and alpha of every pixel, row by row from the top.
    pub rgba: Vec<u8>,
    /// The id of the band in each pixel, or [`NONE`] or [`MERGED`], in the same order.
    ids: Vec<u32>,
    /// The moment that each column shows; `None` outside of the timeline.
    pub moments: Vec<Option<Moment>>,
}

/// Neighbouring columns in which a block has the same rows, in pixels; ends are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelSpan {
    /// Columns.
    pub x: [usize; 2],
    /// Rows, from the top.
    pub y: [usize; 2],
}

impl Raster {
    /// A picture from its pixels, row by row, and the moments of its columns.
    pub(in crate::draw) fn new(
        size_px: [usize; 2],
        rgba: Vec<u8>,
        ids: Vec<u32>,
        moments: Vec<Option<Moment>>,
    ) -> Self {
        debug_assert_eq!(ids.len(), size_px[0] * size_px[1]);
        debug_assert_eq!(rgba.len(), 4 * ids.len());
        Self { size_px, rgba, ids, moments }
    }

    /// The content of a pixel; [`Pixel::Empty`] outside of the picture.
    pub fn pixel(&self, x: usize, y: usize) -> Pixel {
        let [width, height] = self.size_px;
        if width <= x || height <= y {
            return Pixel::Empty;
        }
        match self.ids[y * width + x] {
            NONE => Pixel::Empty,
            MERGED => Pixel::Merged,
            id => Pixel::Block(AllocId(id)),
        }
    }

    /// The places of a block in the picture, from the left. A block is contiguous in each column.
    pub fn spans(&self, id: AllocId) -> Vec<PixelSpan> {
        let [width, height] = self.size_px;
        let mut rows: Vec<Option<[usize; 2]>> = vec![None; width];
        for (y, row) in self.ids.chunks_exact(width.max(1)).take(height).enumerate() {
            for (x, _) in row.iter().enumerate().filter(|&(_, &found)| found == id.0) {
                rows[x] = Some([rows[x].map_or(y, |[top, _]| top), y + 1]);
            }
        }
        let mut spans: Vec<PixelSpan> = Vec::new();
        for (x, y) in rows.into_iter().enumerate().filter_map(|(x, y)| Some((x, y?))) {
            match spans.last_mut() {
                Some(last) if last.x[1] == x && last.y == y => last.x[1] = x + 1,
                _ => spans.push(PixelSpan { x: [x, x + 1], y }),
            }
        }
        spans
    }
}

impl Raster {
    /// The places of all blocks of a kind in the picture. Neighbouring columns with the same rows are one
    /// span; blocks thinner than a pixel are not found.
    pub fn spans_where(&self, mut is_kind: impl FnMut(AllocId) -> bool) -> Vec<PixelSpan> {
        let [width, height] = self.size_px;
        let mut spans: Vec<PixelSpan> = Vec::new();
        // The spans that end at the column before, from the top.
        let (mut open, mut next): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        // The answer for the last id, since neighbouring pixels mostly have the same.
        let mut known = (NONE, false);
        for x in 0..width {
            let mut is_found = |y: usize| {
                let id = self.ids[y * width + x];
                if id != known.0 {
                    known = (id, id != NONE && id != MERGED && is_kind(AllocId(id)));
                }
                known.1
            };
            let mut y = 0;
            while y < height {
                if !is_found(y) {
                    y += 1;
                    continue;
                }
                let top = y;
                while y < height && is_found(y) {
                    y += 1;
                }
                if let Some(&at) = open.iter().find(|&&at| spans[at].y == [top, y]) {
                    spans[at].x[1] = x + 1;
                    next.push(at);
                } else {
                    next.push(spans.len());
                    spans.push(PixelSpan { x: [x, x + 1], y: [top, y] });
                }
            }
            std::mem::swap(&mut open, &mut next);
            next.clear();
        }
        spans
    }
}

/// One column, from the bottom.
struct Column<'a> {
    ids: &'a mut [u32],
    colors: &'a mut [[u8; 4]],
}

/// The settings that all columns share.
struct Painter<'a, B> {
    bands: &'a B,
    view: &'a View,
    palette: &'a Palette,
    rows: usize,
    rows_per_byte: f64,
    /// The fewest bytes that are at least a row high.
    thick_bytes: i64,
}

/// Paint a view.
pub fn raster(
    timeline: &Timeline,
    view: &View,
    size_px: [usize; 2],
    palette: &Palette,
    bands: &impl Bands,
) -> Raster {
    let [width, height] = size_px;
    let rows_per_byte = height as f64 / view.height_bytes();
    let thick_bytes = (1.0 / rows_per_byte).ceil() as i64;
    let painter = Painter { bands, view, palette, rows: height, rows_per_byte, thick_bytes };
    let scale = view.on(timeline);
    let moment_of = |column| bands.moment_in(scale.moments_of_column(column, width));
    let moments: Vec<Option<Moment>> = (0..width).into_par_iter().map(moment_of).collect();
    // Columns lie one after another in memory, so that each is painted from start to end; then they are
    // turned into rows.
    let mut ids = vec![NONE; width * height];
    let mut colors = vec![[0; 4]; width * height];
    let task = (height * COLUMNS_PER_TASK).max(1);
    let parts =
        ids.par_chunks_mut(task).zip(colors.par_chunks_mut(task)).zip(moments.par_chunks(COLUMNS_PER_TASK));
    parts.for_each(|((ids, colors), moments)| painter.columns(moments, ids, colors));
    let ids = transpose(&ids, size_px);
    let rgba = transpose(&colors, size_px).into_flattened();
    Raster { size_px, rgba, ids, moments }
}

impl<B: Bands> Painter<'_, B> {
    fn columns(&self, moments: &[Option<Moment>], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        let mut cursor = B::Cursor::default();
        for (i, &moment) in moments.iter().enumerate() {
            let Some(moment) = moment else { continue };
            let at = i * self.rows..(i + 1) * self.rows;
            // Zoomed in, many columns show the same instant.
            if 0 < i && moments[i - 1] == Some(moment) {
                ids.copy_within(at.start - self.rows..at.start, at.start);
                colors.copy_within(at.start - self.rows..at.start, at.start);
                continue;
            }
            let mut column = Column { ids: &mut ids[at.clone()], colors: &mut colors[at] };
            self.column(&mut cursor, moment, &mut column);
        }
    }

    fn column(&self, cursor: &mut B::Cursor, moment: Moment, column: &mut Column<'_>) {
        let mut bytes = 0i64;
        let mut row = self.row_at(bytes);
        let mut next_row_bytes = self.bytes_above(row);
        // Size and id of the largest of the blocks that share the pixel: it gives the pixel its hue.
        let mut largest: (i64, u32) = (-1, NONE);
        self.bands.visit(cursor, moment, |id, size| {
            bytes = bytes.saturating_add(size);
            let is_thin = size < self.thick_bytes;
            if is_thin && largest.0 < size {
                largest = (size, id);
            }
            // The hot path: of many blocks, most do not reach the middle of the next row. Negative sizes,
            // which a damaged file may have, would move the row back.
            if bytes < next_row_bytes && 0 <= size {
                return true;
            }
            let rows = row..self.row_at(bytes);
            if !rows.is_empty() {
                if is_thin {
                    self.merged(self.bands.fill(largest.1, moment), rows, column);
                } else {
                    self.band(id, self.bands.fill(id, moment), rows, column);
                }
                largest = (-1, NONE);
            }
            row = self.row_at(bytes);
            next_row_bytes = self.bytes_above(row);
            row < self.rows
        });
    }

    /// The first row whose middle is not below a number of bytes.
    fn row_at(&self, bytes: i64) -> usize {
        let height = (bytes as f64 - self.view.y0) * self.rows_per_byte;
        (height - 0.5).ceil().clamp(0.0, self.rows as f64) as usize
    }

    /// The fewest bytes that lie above the middle of a row: those that [`Self::row_at`] puts into a later
    /// row.
    fn bytes_above(&self, row: usize) -> i64 {
        let middle = self.view.y0 + (row as f64 + 0.5) / self.rows_per_byte;
        // `row_at` rounds, so the exact bound is found by asking it, from a little below.
        let mut bytes = (middle as i64).saturating_sub(2);
        while bytes < i64::MAX && row < self.rows && self.row_at(bytes) <= row {
            bytes = bytes.saturating_add((bytes / EXACT_IN_F64).max(1));
        }
        bytes
    }

    fn merged(&self, fill: BandFill, rows: Range<usize>, column: &mut Column<'_>) {
        column.ids[rows.clone()].fill(MERGED);
        column.colors[rows]
            .fill(self.faded(fill.color.mix(self.palette.merged, MERGED_SHARE), fill.is_faded));
    }

    fn band(&self, id: u32, fill: BandFill, rows: Range<usize>, column: &mut Column<'_>) {
        column.ids[rows.clone()].fill(id);
        let ground = self.palette.window;
        let shade = |share: f32| self.faded(fill.color.mix(ground, share), fill.is_faded);
        let stripes = match fill.texture {
            BandTexture::Plain => {
                let edge = (MIN_EDGED_ROWS <= rows.len()).then(|| rows.end - 1);
                column.colors[rows].fill(shade(0.0));
                if let Some(edge) = edge {
                    column.colors[edge] = shade(0.35);
                }
                return;
            }
            BandTexture::Striped => [shade(0.65), shade(0.15)],
            BandTexture::Hollow => [shade(0.86), shade(0.72)],
        };
        for row in rows {
            column.colors[row] = stripes[usize::from(row.is_multiple_of(3))];
        }
    }

    fn faded(&self, color: Rgb, is_faded: bool) -> [u8; 4] {
        opaque(if is_faded { color.mix(self.palette.window, 1.0 - FADED_OPACITY) } else { color })
    }
}

fn opaque(Rgb(r, g, b): Rgb) -> [u8; 4] {
    [r, g, b, 255]
}

/// Turn columns from the bottom up into rows from the top down.
fn transpose<T: Copy + Default + Send + Sync>(columns: &[T], [width, height]: [usize; 2]) -> Vec<T> {
    let mut out = vec![T::default(); width * height];
    let task = (width * ROWS_PER_TASK).max(1);
    out.par_chunks_mut(task).enumerate().for_each(|(part, rows)| {
        let first = part * ROWS_PER_TASK;
        let count = rows.len() / width;
        for x in 0..width {
            let from_top = columns[x * height..(x + 1) * height].iter().rev();
            for (y, &cell) in from_top.skip(first).take(count).enumerate() {
                rows[y * width + x] = cell;
            }
        }
    });
    out
}

#[cfg(test)]
#[path = "stacked_tests.rs"]
mod tests;
