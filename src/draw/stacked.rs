//! The stacked timeline as pixels, with the allocation under every pixel.
//!
//! Every column shows the instant of its highest active total, so no peak is ever lost by zooming
//! out. The allocations that are live at that instant are stacked in allocation order from 0.

use super::{BandColors, Palette, Rgb, View, totals};
use crate::model::{AllocId, Moment, Timeline};
use rayon::prelude::*;

/// Columns that one task paints.
const COLUMNS_PER_TASK: usize = 16;

/// Rows that are transposed together, so that reads stay within a cache line.
const ROWS_PER_TASK: usize = 16;

/// From this height on, a band has an edge at its top.
const MIN_EDGED_ROWS: usize = 4;

const NONE: u32 = u32::MAX;
const MERGED: u32 = u32::MAX - 1;

/// What a pixel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixel {
    /// Nothing.
    Empty,
    /// Blocks that are each thinner than a pixel.
    Merged,
    /// One block.
    Block(AllocId),
}

/// A painted view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raster {
    /// Columns and rows.
    pub size_px: [usize; 2],
    /// Red, green, blue and alpha of every pixel, row by row from the top.
    pub rgba: Vec<u8>,
    /// The id of what each pixel shows, in the same order.
    ids: Vec<u32>,
    /// The moment that each column shows; `None` outside of the timeline.
    pub moments: Vec<Option<Moment>>,
}

/// Neighbouring columns in which a block has the same place, in pixels; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Columns.
    pub x: [usize; 2],
    /// Rows, from the top.
    pub y: [usize; 2],
}

impl Raster {
    /// A picture of blocks.
    pub(super) fn new(
        size_px: [usize; 2],
        rgba: Vec<u8>,
        ids: Vec<u32>,
        moments: Vec<Option<Moment>>,
    ) -> Self {
        Self { size_px, rgba, ids, moments }
    }

    /// What is at a pixel; nothing outside of the picture.
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

    /// Where a block is in the picture.
    pub fn spans(&self, id: AllocId) -> Vec<Span> {
        let [width, height] = self.size_px;
        let mut rows: Vec<Option<[usize; 2]>> = vec![None; width];
        for (y, row) in self.ids.chunks_exact(width.max(1)).take(height).enumerate() {
            for (x, _) in row.iter().enumerate().filter(|&(_, &found)| found == id.0) {
                rows[x] = Some([rows[x].map_or(y, |[top, _]| top), y + 1]);
            }
        }
        let mut spans: Vec<Span> = Vec::new();
        for (x, y) in rows.into_iter().enumerate().filter_map(|(x, y)| Some((x, y?))) {
            match spans.last_mut() {
                Some(last) if last.x[1] == x && last.y == y => last.x[1] = x + 1,
                _ => spans.push(Span { x: [x, x + 1], y }),
            }
        }
        spans
    }
}

/// One column, from the bottom.
struct Column<'a> {
    ids: &'a mut [u32],
    colors: &'a mut [[u8; 4]],
}

/// What all columns share.
struct Painter<'a> {
    timeline: &'a Timeline,
    view: &'a View,
    palette: &'a Palette,
    bands: &'a BandColors,
    rows: usize,
}

/// Paint a view.
pub fn raster(
    timeline: &Timeline,
    view: &View,
    size_px: [usize; 2],
    palette: &Palette,
    bands: &BandColors,
) -> Raster {
    let [width, height] = size_px;
    let painter = Painter { timeline, view, palette, bands, rows: height };
    let moment_of = |column| {
        let range = totals::moments(timeline, view, column, width);
        timeline.active.peak_in(range).map(|(moment, _)| moment)
    };
    let moments: Vec<Option<Moment>> = (0..width).map(moment_of).collect();
    // Columns are painted one after another in memory, then turned into rows.
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

impl Painter<'_> {
    fn columns(&self, moments: &[Option<Moment>], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        for (i, &moment) in moments.iter().enumerate() {
            let Some(moment) = moment else { continue };
            let at = i * self.rows..(i + 1) * self.rows;
            // Zoomed in, many columns show the same instant.
            if 0 < i && moments[i - 1] == Some(moment) {
                ids.copy_within(at.start - self.rows..at.start, at.start);
                colors.copy_within(at.start - self.rows..at.start, at.start);
                continue;
            }
            self.column(moment, &mut Column { ids: &mut ids[at.clone()], colors: &mut colors[at] });
        }
    }

    fn column(&self, moment: Moment, column: &mut Column<'_>) {
        let rows_per_byte = self.rows as f64 / self.view.height_bytes();
        let row_of = |bytes: i64| (bytes as f64 - self.view.y0) * rows_per_byte;
        let lifetimes = &self.timeline.lifetimes;
        let (mut bytes, mut low) = (0i64, row_of(0));
        for id in lifetimes.live_at(moment) {
            bytes = bytes.saturating_add(lifetimes.size(id, &self.timeline.events));
            let high = row_of(bytes);
            let rows = self.row_at(low)..self.row_at(high);
            if !rows.is_empty() {
                if high - low < 1.0 {
                    column.ids[rows.clone()].fill(MERGED);
                    column.colors[rows].fill(opaque(self.palette.merged));
                } else {
                    self.band(moment, id, rows, column);
                }
            }
            low = high;
            if self.rows as f64 <= low {
                break;
            }
        }
    }

    /// The first row whose middle is not below a height.
    fn row_at(&self, height: f64) -> usize {
        (height - 0.5).ceil().clamp(0.0, self.rows as f64) as usize
    }

    fn band(&self, moment: Moment, id: AllocId, rows: std::ops::Range<usize>, column: &mut Column<'_>) {
        let lifetimes = &self.timeline.lifetimes;
        let color = self.bands.get(lifetimes.stack(id, &self.timeline.events));
        column.ids[rows.clone()].fill(id.0);
        if lifetimes.requested(id).is_some_and(|requested| requested <= moment) {
            let stripes =
                [opaque(color.mix(self.palette.window, 0.65)), opaque(color.mix(self.palette.window, 0.15))];
            for row in rows {
                column.colors[row] = stripes[usize::from(row.is_multiple_of(3))];
            }
            return;
        }
        let edge = rows.end - 1;
        let is_edged = MIN_EDGED_ROWS <= rows.len();
        column.colors[rows].fill(opaque(color));
        if is_edged {
            column.colors[edge] = opaque(color.mix(self.palette.window, 0.35));
        }
    }
}

fn opaque(Rgb(r, g, b): Rgb) -> [u8; 4] {
    [r, g, b, 255]
}

/// From columns that go up to rows that go down.
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
