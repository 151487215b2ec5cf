//! Addresses over time as pixels, with the allocation under every pixel.
//!
//! Every row of segments is a band, with its lowest address at the bottom. An allocation is a bar
//! from its alloc to its free. What is reserved and not in use is a hole and hatched; what is not
//! reserved stays empty. A pixel of a far view covers many allocations: it shows the one with the
//! largest part of its area, the stronger the more of it is in use.

use super::address_columns::{Column, Columns, Life, touched};
use super::address_layout::RowBand;
use super::address_pixels::{Finish, Painted};
use super::bands::{Bands as _, Blocks, Fill, Texture};
use super::stacked::Raster;
use super::{Palette, Rgb, View};
use crate::analysis::SegmentRows;
use crate::model::{AllocId, Moment, StackId, Timeline};
use rayon::prelude::*;
use std::ops::Range;

/// Columns that one task paints.
const COLUMNS_PER_TASK: usize = 32;

/// Less than this part of a pixel is a rounding error.
const TOUCH_PX: f64 = 1.0 / 64.0;

/// The strength of the colour of a pixel of which little is in use.
const MIN_STRENGTH: f32 = 0.5;

/// The strength of what the filter leaves out, against all else.
const FADED_STRENGTH: f32 = 0.25;

/// How much of the colour of what is selected is the one that says so.
const SELECTED_SHARE: f32 = 0.6;

pub(super) const NONE: u32 = u32::MAX;

/// What to paint.
#[derive(Clone, Copy)]
pub struct AddressMap<'a> {
    /// The allocations of a device, their colours, and the filter. What it leaves out is faded.
    pub blocks: Blocks<'a>,
    /// The rows of the device.
    pub rows: &'a SegmentRows,
    /// The positions from left to right.
    pub view: &'a View,
    /// The rows that are shown.
    pub bands: &'a [RowBand],
    /// The theme.
    pub palette: &'a Palette,
    /// The stack that is selected: what was allocated with it is lighter.
    pub selected: Option<StackId>,
}

/// Where an allocation is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// From the first moment at which it is live.
    pub start: Moment,
    /// To the first at which it is not.
    pub end: Moment,
    /// Its upper and lower edge, in pixels from the top of the picture.
    pub y_px: [f64; 2],
}

/// Where an allocation is in a picture; `None` when its row is not shown.
pub fn bar(timeline: &Timeline, rows: &SegmentRows, bands: &[RowBand], id: AllocId) -> Option<Bar> {
    let place = rows.place(id, timeline)?;
    let band = bands.iter().find(|band| band.row == place.row)?;
    let extent = Extent::new(band, rows.rows().get(place.row as usize)?.size_bytes);
    let lifetimes = &timeline.lifetimes;
    let last = Moment(timeline.moments() as u32);
    Some(Bar {
        start: lifetimes.start(id),
        end: lifetimes.end(id).unwrap_or(last),
        y_px: extent.y(place.offset, lifetimes.size(id, &timeline.events)),
    })
}

/// Where a row is, and how its bytes become pixels.
#[derive(Debug, Clone, Copy)]
struct Extent {
    top: f64,
    bottom: f64,
    px_per_byte: f64,
}

impl Extent {
    fn new(band: &RowBand, size_bytes: u64) -> Self {
        Self {
            top: band.top_px as f64,
            bottom: band.bottom_px() as f64,
            px_per_byte: f64::from(band.height_px) / size_bytes.max(1) as f64,
        }
    }

    /// The upper and the lower edge of some bytes.
    #[inline]
    fn y(&self, offset: u64, bytes: i64) -> [f64; 2] {
        let low = self.bottom - offset as f64 * self.px_per_byte;
        let high = low - bytes.max(0) as f64 * self.px_per_byte;
        [high.max(self.top), low.max(self.top)]
    }
}

/// The pixels of an edge-to-edge range: all that it touches, or the one that it lies in.
#[inline]
fn pixels(top: f64, bottom: f64, rows: usize) -> Range<usize> {
    let inside = |y: f64| y.clamp(0.0, rows as f64) as usize;
    let touched = inside((top + TOUCH_PX).floor())..inside((bottom - TOUCH_PX).ceil());
    let middle = f64::midpoint(top, bottom).floor();
    if touched.is_empty() && 0.0 <= middle && middle < rows as f64 {
        return inside(middle)..inside(middle) + 1;
    }
    touched
}

/// The allocation that has most of a pixel so far.
#[derive(Debug, Clone, Copy)]
struct Cell {
    best: f32,
    used: f32,
    id: u32,
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

/// What all columns share.
struct Painter<'a> {
    map: AddressMap<'a>,
    /// Where each row that is shown is, by row.
    extents: Vec<Option<Extent>>,
    /// Rows of pixels.
    height: usize,
    hole: Rgb,
}

/// Paint the visible rows of an address map.
pub fn raster(map: AddressMap<'_>, size_px: [usize; 2]) -> Raster {
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
    let task = (height * COLUMNS_PER_TASK).max(1);
    let parts = ids
        .par_chunks_mut(task)
        .zip(colors.par_chunks_mut(task))
        .zip(columns.all.par_chunks(COLUMNS_PER_TASK));
    parts.for_each(|((ids, colors), columns)| painter.columns(columns, ids, colors));
    let moments = columns.of_picture.iter().map(|column| column.and_then(|column| moments[column])).collect();
    let painted = Painted { ids, colors, column_of: columns.of_picture, height, palette: map.palette };
    let (ids, rgba) = painted.rows();
    Raster::new(size_px, rgba, ids, moments)
}

impl<'a> Painter<'a> {
    fn new(map: AddressMap<'a>, height: usize) -> Self {
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
        let mut cells = vec![Cell::EMPTY; columns.len() * self.height];
        self.reserved(columns, &mut cells);
        self.allocations(columns, &mut cells);
        let (ids, colors) = (ids.chunks_mut(self.height), colors.chunks_mut(self.height));
        let parts = cells.chunks(self.height).zip(ids.zip(colors));
        for (column, (cells, (ids, colors))) in columns.iter().zip(parts) {
            self.finish(column, cells, ids, colors);
        }
    }

    /// Mark what is reserved at any time of a column.
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

    fn allocations(&self, columns: &[Column], cells: &mut [Cell]) {
        let AddressMap { blocks: Blocks { timeline, .. }, rows, view, .. } = self.map;
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return };
        let (first, last) = (Moment(first.moments.start), Moment(last.moments.end - 1));
        for id in timeline.lifetimes.live_between(first, last) {
            let Some(place) = rows.place(id, timeline) else { continue };
            let Some(extent) = &self.extents[place.row as usize] else { continue };
            let bytes = timeline.lifetimes.size(id, &timeline.events);
            let [top, bottom] = extent.y(place.offset, bytes);
            let pixels = pixels(top, bottom, self.height);
            if pixels.is_empty() || bytes <= 0 {
                continue;
            }
            let life = Life::of(timeline, id, view.axis);
            for column in touched(columns, life.start, life.end) {
                let part = columns[column].part(&life);
                let cells = &mut cells[column * self.height..][pixels.clone()];
                cover(cells, pixels.start, [top, bottom], part, id.0);
            }
        }
    }

    /// From cells to colours.
    fn finish(&self, column: &Column, cells: &[Cell], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        let mut known: Option<(u32, Fill)> = None;
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
            let finish = if fill.texture == Texture::Plain { Finish::Plain } else { Finish::Striped };
            *color = finish.of(ground.mix(fill.color, strength));
        }
    }

    /// How an allocation looks in the middle of its life within a column.
    fn fill(&self, id: AllocId, column: &Column) -> Fill {
        let Timeline { lifetimes, events, .. } = self.map.blocks.timeline;
        let (start, end) = (lifetimes.start(id).0, lifetimes.end(id).map_or(u32::MAX, |end| end.0));
        let middle = start.max(column.moments.start) + column.overlap(start, end) / 2;
        let fill = self.map.blocks.fill(id.0, Moment(middle));
        if self.map.selected.is_some_and(|stack| lifetimes.stack(id, events) == stack) {
            return Fill { color: fill.color.mix(self.map.palette.accent, SELECTED_SHARE), ..fill };
        }
        fill
    }
}

/// Add a bar to the pixels of a column that it touches.
#[inline]
fn cover(cells: &mut [Cell], first: usize, [top, bottom]: [f64; 2], part: f32, id: u32) {
    let part_of = |y: usize| (bottom.min(y as f64 + 1.0) - top.max(y as f64)).clamp(0.0, 1.0) as f32;
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
#[path = "address_raster_tests.rs"]
mod tests;
