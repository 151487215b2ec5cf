//! The segment timeline as pixels, with the allocation under every pixel.
//!
//! Every row of segments is a band, with its lowest address at the bottom. An allocation is a bar
//! from its alloc to its free. Reserved memory that is not in use is a hole and hatched; memory that is not
//! reserved stays empty. Zoomed out, a pixel covers many allocations: it shows the one with the
//! largest part of its area, in a colour that is stronger the more of the area is in use.

use super::columns::{Column, Columns, Life, touched};
use super::geometry::{Extent, pixels};
use super::layout::RowBand;
use super::pixels::{Finish, NONE, PaintedColumns};
use crate::Raster;
use crate::{BandFill, BandTexture, Bands as _, Blocks};
use crate::{Palette, Rgb, View};
use oomscope_analysis::SegmentRows;
use oomscope_model::{AllocId, Moment, StackId};
use rayon::prelude::*;
use std::ops::Range;

/// Number of columns that are painted together: each allocation is then looked up once for many columns, and
/// their cells fit into a processor's cache.
const BLOCK: usize = 32;

/// Number of tasks per thread: enough that no thread waits long for the last one.
const TASKS_PER_THREAD: usize = 4;

/// Least strength of a colour, from 0 to 1, so that a pixel of which little is in use can be seen.
const MIN_STRENGTH: f32 = 0.5;

/// Factor on the strength of allocations that the filter leaves out.
const FADED_STRENGTH: f32 = 0.25;

/// The content of a segment timeline's picture.
#[derive(Clone, Copy)]
pub struct SegmentTimelineScene<'a> {
    /// The allocations of a device, their colours, and the filter. Allocations that it leaves out are faded.
    pub blocks: Blocks<'a>,
    /// The rows of the device.
    pub rows: &'a SegmentRows,
    /// The positions from left to right.
    pub view: &'a View,
    /// The rows that are shown.
    pub bands: &'a [RowBand],
    /// The theme.
    pub palette: &'a Palette,
    /// The selected stack, whose allocations are highlighted.
    pub selected: Option<StackId>,
}

/// A pixel in progress.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Share of the pixel that the largest allocation so far has.
    best: f32,
    /// Share of the pixel that is in use.
    used: f32,
    /// The largest allocation so far.
    id: u32,
    /// True if any of the pixel is reserved.
    is_reserved: bool,
}

impl Cell {
    const EMPTY: Self = Self { best: 0.0, used: 0.0, id: NONE, is_reserved: false };

    #[inline]
    fn cover(&mut self, part: f32, id: u32) {
        if self.best < part {
            (self.best, self.id) = (part, id);
        }
        self.used += part;
    }
}

/// An allocation in the picture, as a bar.
#[derive(Debug, Clone)]
struct PixelBar {
    id: AllocId,
    life: Life,
    /// Upper and lower edge, in pixels from the top.
    y_px: [f64; 2],
    /// The rows of pixels that it touches; never empty.
    pixels: Range<usize>,
}

/// The bars that go on after a block of columns.
#[derive(Default)]
struct Carried {
    /// The last moment of the block.
    until: Option<Moment>,
    bars: Vec<PixelBar>,
}

/// The settings that all columns share.
struct Painter<'a> {
    map: SegmentTimelineScene<'a>,
    /// The places of rows, by row; `None` for rows that are not shown.
    extents: Vec<Option<Extent>>,
    /// Rows of pixels.
    height: usize,
    hole: Rgb,
}

/// Paint the visible rows of a segment timeline.
pub(super) fn raster(map: SegmentTimelineScene<'_>, size_px: [usize; 2]) -> Raster {
    let [width, height] = size_px;
    let timeline = map.blocks.timeline;
    let columns = Columns::new(timeline, map.view, width);
    let peak = |column: &Column| {
        let moments = column.moments.start as usize..column.moments.end as usize;
        timeline.active.peak_in(moments).map(|(moment, _)| moment)
    };
    let moments: Vec<Option<Moment>> = columns.all.par_iter().map(peak).collect();
    let painter = Painter::new(map, height);
    let mut ids = vec![NONE; columns.all.len() * height];
    let mut colors = vec![[0; 4]; columns.all.len() * height];
    // Few tasks, since each has to find the live allocations at its start; from there it carries them along.
    let each = columns.all.len().div_ceil(TASKS_PER_THREAD * rayon::current_num_threads()).max(BLOCK);
    let task = (height * each).max(1);
    let parts = ids.par_chunks_mut(task).zip(colors.par_chunks_mut(task)).zip(columns.all.par_chunks(each));
    parts.for_each(|((ids, colors), columns)| painter.columns(columns, ids, colors));
    let moments = columns.of_picture.iter().map(|column| column.and_then(|column| moments[column])).collect();
    let painted = PaintedColumns { ids, colors, column_of: columns.of_picture, height, palette: map.palette };
    let (ids, rgba) = painted.rows();
    Raster::new(size_px, rgba, ids, moments)
}

impl<'a> Painter<'a> {
    fn new(map: SegmentTimelineScene<'a>, height: usize) -> Self {
        let rows = map.rows.rows();
        let mut extents = vec![None; rows.len()];
        for band in map.bands {
            let at = band.row as usize;
            if let (Some(extent), Some(row)) = (extents.get_mut(at), rows.get(at)) {
                *extent = Some(Extent::new(band, row.size_bytes));
            }
        }
        let hole = map.palette.window.mix(map.palette.line, 0.35);
        Self { map, extents, height, hole }
    }

    fn columns(&self, columns: &[Column], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        if self.height == 0 {
            return;
        }
        let block = BLOCK * self.height;
        let mut carried = Carried::default();
        let mut cells = Vec::with_capacity(block);
        let parts = ids.chunks_mut(block).zip(colors.chunks_mut(block));
        for (columns, (ids, colors)) in columns.chunks(BLOCK).zip(parts) {
            cells.clear();
            cells.resize(columns.len() * self.height, Cell::EMPTY);
            self.reserved(columns, &mut cells);
            self.allocations(columns, &mut carried, &mut cells);
            let parts = ids.chunks_mut(self.height).zip(colors.chunks_mut(self.height));
            for (column, (cells, (ids, colors))) in columns.iter().zip(cells.chunks(self.height).zip(parts)) {
                self.finish(column, cells, ids, colors);
            }
        }
    }

    /// Mark the cells that are reserved at any time of their column.
    fn reserved(&self, columns: &[Column], cells: &mut [Cell]) {
        for band in self.map.bands {
            let row = band.row as usize;
            let (Some(Some(extent)), Some(of_row)) = (self.extents.get(row), self.map.rows.rows().get(row))
            else {
                continue;
            };
            for range in self.map.rows.ranges(band.row, self.map.blocks.timeline) {
                let [top, bottom] = extent.y(range.addr.saturating_sub(of_row.addr), range.size);
                let pixels = pixels(top, bottom, self.height);
                for column in touched(columns, range.start.0, range.end.map_or(u32::MAX, |end| end.0)) {
                    for cell in &mut cells[column * self.height..][pixels.clone()] {
                        cell.is_reserved = true;
                    }
                }
            }
        }
    }

    /// Paint the allocations that were live when the block before ended, then new ones.
    fn allocations(&self, columns: &[Column], carried: &mut Carried, cells: &mut [Cell]) {
        let lifetimes = &self.map.blocks.timeline.lifetimes;
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return };
        let (first, last) = (Moment(first.moments.start), Moment(last.moments.end - 1));
        carried.bars.retain(|bar| first.0 < bar.life.end);
        for bar in &carried.bars {
            self.paint(bar, columns, cells);
        }
        let mut add = |id| {
            let Some(bar) = self.bar(id) else { return };
            self.paint(&bar, columns, cells);
            if last.0 < bar.life.end {
                carried.bars.push(bar);
            }
        };
        match carried.until.replace(last) {
            None => lifetimes.live_between(first, last).for_each(&mut add),
            Some(before) => lifetimes.started_between(before, last).for_each(&mut add),
        }
    }

    /// The bar of an allocation; `None` if its row is not shown, or if it is outside of the picture.
    #[inline]
    fn bar(&self, id: AllocId) -> Option<PixelBar> {
        let SegmentTimelineScene { blocks: Blocks { timeline, .. }, rows, view, .. } = self.map;
        let place = rows.place(id, timeline)?;
        let extent = self.extents[place.row as usize].as_ref()?;
        let bytes = timeline.size(id);
        let y_px = extent.y(place.offset, bytes);
        let pixels = pixels(y_px[0], y_px[1], self.height);
        if pixels.is_empty() || bytes <= 0 {
            return None;
        }
        Some(PixelBar { id, life: Life::of(timeline, id, view.axis), y_px, pixels })
    }

    #[inline]
    fn paint(&self, bar: &PixelBar, columns: &[Column], cells: &mut [Cell]) {
        for column in touched(columns, bar.life.start, bar.life.end) {
            let part = columns[column].part(&bar.life);
            let cells = &mut cells[column * self.height..][bar.pixels.clone()];
            cover(cells, bar.pixels.start, bar.y_px, part, bar.id.0);
        }
    }

    /// Turn the cells of a column into ids and colours.
    fn finish(&self, column: &Column, cells: &[Cell], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        // The look of the last id, since neighbouring pixels mostly have the same.
        let mut known: Option<(u32, BandFill)> = None;
        for (cell, (id, color)) in cells.iter().zip(ids.iter_mut().zip(colors)) {
            *id = cell.id;
            let ground = if cell.is_reserved { self.hole } else { self.map.palette.window };
            if cell.id == NONE {
                *color = if cell.is_reserved { Finish::Hatched } else { Finish::Empty }.of(ground);
                continue;
            }
            let fill = match known {
                Some((id, fill)) if id == cell.id => fill,
                _ => self.fill(AllocId(cell.id), column),
            };
            known = Some((cell.id, fill));
            let strength = cell.used.clamp(MIN_STRENGTH, 1.0);
            let strength = if fill.is_faded { strength * FADED_STRENGTH } else { strength };
            let finish = if fill.texture == BandTexture::Plain { Finish::Plain } else { Finish::Striped };
            *color = finish.of(ground.mix(fill.color, strength));
        }
    }

    /// The look of an allocation in the middle of its life within a column.
    fn fill(&self, id: AllocId, column: &Column) -> BandFill {
        let timeline = self.map.blocks.timeline;
        let lifetimes = &timeline.lifetimes;
        let (start, end) = (lifetimes.start(id).0, lifetimes.end(id).map_or(u32::MAX, |end| end.0));
        let middle = start.max(column.moments.start) + column.overlap(start, end) / 2;
        let fill = self.map.blocks.fill(id.0, Moment(middle));
        if self.map.selected.is_some_and(|stack| timeline.stack(id) == stack) {
            return BandFill { color: Palette::lighter(fill.color), ..fill };
        }
        fill
    }
}

/// Add a bar to `cells`, the pixels of a column that it touches, of which `first` is the row of the first.
/// `part` is the share of the column that it lasts.
#[inline]
fn cover(cells: &mut [Cell], first: usize, [top, bottom]: [f64; 2], part: f32, id: u32) {
    debug_assert!(!cells.is_empty(), "bars without pixels are left out");
    let part_of = |y: usize| (bottom.min(y as f64 + 1.0) - top.max(y as f64)).clamp(0.0, 1.0) as f32;
    // Only the first and the last pixel can be covered in part.
    let last = cells.len() - 1;
    cells[0].cover(part * part_of(first), id);
    if 0 < last {
        cells[last].cover(part * part_of(first + last), id);
        for cell in &mut cells[1..last] {
            cell.cover(part, id);
        }
    }
}

#[cfg(test)]
#[path = "raster_tests.rs"]
mod tests;
