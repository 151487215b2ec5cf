//! The stacked timeline as pixels, with the allocation under every pixel.
//!
//! Every column shows the instant of its highest total, so that no peak is lost by zooming out. The bands of
//! that instant are stacked from 0, in the order in which [`Bands`] gives them. Where they are too thin to be
//! seen, a column shows the share of each colour.

use super::bands::{Bands, NONE, Share};
use super::columns::{Painter, Shown};
use super::envelope;
use crate::{Palette, View};
use oomscope_model::{AllocId, Bytes, Moment, Timeline};
use rayon::prelude::*;

/// Number of tasks per thread: enough that no thread waits long for the last one, and few, since each begins
/// with finding what is live.
const TASKS_PER_THREAD: usize = 4;

/// Number of rows that are transposed together: 16 pixels of four bytes are one cache line.
const ROWS_PER_TASK: usize = 16;

/// The content of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixel {
    /// Nothing.
    Empty,
    /// Blocks of one colour that are each too thin or too brief to be seen.
    Share(Share),
    /// One block, or another band by its id.
    Block(AllocId),
}

impl Pixel {
    /// The content of a pixel from the id of its band or share.
    fn of_id(id: u32) -> Self {
        match id {
            NONE => Self::Empty,
            id => Share::of_id(id).map_or(Self::Block(AllocId(id)), Self::Share),
        }
    }
}

/// A painted view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raster {
    /// Columns and rows.
    pub size_px: [usize; 2],
    /// Red, green, blue and alpha of every pixel, row by row from the top.
    pub rgba: Vec<u8>,
    /// The id of the band or share in each pixel, or [`NONE`], in the same order.
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
    pub(crate) fn new(
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
        Pixel::of_id(self.ids[y * width + x])
    }

    /// The columns around a pixel of a block in which it has the same rows as there.
    pub(super) fn place_around(&self, id: AllocId, x: usize, y: usize) -> PixelSpan {
        let [width, height] = self.size_px;
        let is_there = |x: usize, y: usize| self.ids.get(y * width + x) == Some(&id.0);
        let top = (0..y).rev().take_while(|&row| is_there(x, row)).last().unwrap_or(y);
        let bottom = (y..height).take_while(|&row| is_there(x, row)).last().unwrap_or(y) + 1;
        // A block is contiguous in a column, so its ends tell all of it.
        let is_same = |&x: &usize| {
            let has_ends = is_there(x, top) && is_there(x, bottom - 1);
            let ends_there =
                (top == 0 || !is_there(x, top - 1)) && (bottom == height || !is_there(x, bottom));
            has_ends && ends_there
        };
        let left = (0..x).rev().take_while(is_same).last().unwrap_or(x);
        let right = (x..width).take_while(is_same).last().unwrap_or(x) + 1;
        PixelSpan { x: [left, right], y: [top, bottom] }
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
    /// span; blocks in a share are not found.
    pub fn spans_where(&self, mut is_kind: impl FnMut(AllocId) -> bool) -> Vec<PixelSpan> {
        self.spans_of_pixels(|pixel| matches!(pixel, Pixel::Block(id) if is_kind(id)))
    }

    /// The places of all pixels of a kind, shares included. Neighbouring columns with the same rows are one span.
    pub fn spans_of_pixels(&self, mut is_kind: impl FnMut(Pixel) -> bool) -> Vec<PixelSpan> {
        let spans = self.spans_by(|pixel| is_kind(pixel).then_some(()));
        spans.into_iter().map(|((), span)| span).collect()
    }

    /// The places of all pixels of some kinds, shares included, each with its kind. Neighbouring columns with the same rows of a
    /// kind are one span.
    pub fn spans_by<K: Copy + PartialEq>(
        &self,
        mut kind: impl FnMut(Pixel) -> Option<K>,
    ) -> Vec<(K, PixelSpan)> {
        let [width, height] = self.size_px;
        let mut spans: Vec<(K, PixelSpan)> = Vec::new();
        // The spans that end at the column before, from the top.
        let (mut open, mut next): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        // The answer for the last id, since neighbouring pixels mostly have the same.
        let mut known = (NONE, kind(Pixel::Empty));
        for x in 0..width {
            let mut kind_at = |y: usize| {
                let id = self.ids[y * width + x];
                if id != known.0 {
                    known = (id, kind(Pixel::of_id(id)));
                }
                known.1
            };
            let mut y = 0;
            while y < height {
                let Some(found) = kind_at(y) else {
                    y += 1;
                    continue;
                };
                let top = y;
                while y < height && kind_at(y) == Some(found) {
                    y += 1;
                }
                let is_same = |&&at: &&usize| spans[at].0 == found && spans[at].1.y == [top, y];
                if let Some(&at) = open.iter().find(is_same) {
                    spans[at].1.x[1] = x + 1;
                    next.push(at);
                } else {
                    next.push(spans.len());
                    spans.push((found, PixelSpan { x: [x, x + 1], y: [top, y] }));
                }
            }
            std::mem::swap(&mut open, &mut next);
            next.clear();
        }
        spans
    }
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
    let painter = Painter::new(bands, timeline, view, size_px, palette);
    let scale = view.on(timeline);
    let shown: Vec<Option<Shown>> = if envelope::is_coarse(timeline, view, width) {
        let around = envelope::of_view(bands, timeline, view, width);
        around.into_iter().map(|found| found.map(|(moment, least)| Shown { moment, least })).collect()
    } else {
        let shown = |column| {
            let moment = bands.moment_in(scale.moments_of_column(column, width))?;
            Some(Shown { moment, least: Bytes::MAX })
        };
        (0..width).into_par_iter().map(shown).collect()
    };
    // Columns lie one after another in memory, so that each is painted from start to end; then they are
    // turned into rows.
    let mut ids = vec![NONE; width * height];
    let mut colors = vec![[0; 4]; width * height];
    let each = width.div_ceil(TASKS_PER_THREAD * rayon::current_num_threads()).max(1);
    let task = (height * each).max(1);
    let parts = ids.par_chunks_mut(task).zip(colors.par_chunks_mut(task)).zip(shown.par_chunks(each));
    parts.for_each(|((ids, colors), shown)| painter.columns(shown, ids, colors));
    let ids = transpose(&ids, size_px);
    let rgba = transpose(&colors, size_px).into_flattened();
    let moments = shown.into_iter().map(|shown| shown.map(|shown| shown.moment)).collect();
    Raster { size_px, rgba, ids, moments }
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
