//! Addresses over time as pixels, with the allocation under every pixel.
//!
//! Every segment is a band, with its lowest address at the bottom. An allocation is a bar from its
//! alloc to its free. What is reserved and not in use is a hole and hatched; what is not reserved
//! stays empty. A pixel of a far view covers many allocations: it shows the one with the largest part
//! of its area, the stronger the more of it is in use.

use super::address_layout::Band;
use super::stacked::Raster;
use super::{BandColors, Palette, Rgb, View, totals};
use crate::analysis::SegmentRows;
use crate::model::{AllocId, Moment, Timeline};
use rayon::prelude::*;
use std::ops::Range;

/// Columns that one task paints.
const COLUMNS_PER_TASK: usize = 32;

/// Rows of pixels that one task writes.
const ROWS_PER_TASK: usize = 16;

/// From this size on, a bar has an edge.
const MIN_EDGED_PX: usize = 4;

/// Less than this part of a pixel is a rounding error.
const TOUCH_PX: f64 = 1.0 / 64.0;

/// The colour of a pixel that is used the least.
const MIN_STRENGTH: f32 = 0.35;

/// The colour of what a filter leaves out.
const FILTERED_STRENGTH: f32 = 0.25;

/// Pixels from one line of hatching to the next.
const HATCH_PX: usize = 6;

const NONE: u32 = u32::MAX;

/// What to paint.
#[derive(Clone, Copy)]
pub struct AddressMap<'a> {
    /// The device.
    pub timeline: &'a Timeline,
    /// Its rows.
    pub rows: &'a SegmentRows,
    /// The moments from left to right.
    pub view: &'a View,
    /// The rows that are shown.
    pub bands: &'a [Band],
    /// The theme.
    pub palette: &'a Palette,
    /// The colours of stacks.
    pub colors: &'a BandColors,
    /// Whether the filter lets an allocation through.
    pub is_match: &'a (dyn Fn(AllocId) -> bool + Sync),
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
pub fn bar(timeline: &Timeline, rows: &SegmentRows, bands: &[Band], id: AllocId) -> Option<Bar> {
    let place = rows.place(id, timeline)?;
    let band = bands.iter().find(|band| band.row == place.row)?;
    let scale = Scale::new(band, rows.rows().get(place.row as usize)?.size_bytes);
    let lifetimes = &timeline.lifetimes;
    let last = Moment(timeline.moments() as u32);
    Some(Bar {
        start: lifetimes.start(id),
        end: lifetimes.end(id).unwrap_or(last),
        y_px: scale.y(place.offset, lifetimes.size(id, &timeline.events)),
    })
}

/// How a row's bytes become pixels.
#[derive(Debug, Clone, Copy)]
struct Scale {
    top: f64,
    bottom: f64,
    px_per_byte: f64,
}

impl Scale {
    fn new(band: &Band, size_bytes: u64) -> Self {
        Self {
            top: band.top_px as f64,
            bottom: band.bottom_px() as f64,
            px_per_byte: f64::from(band.height_px) / size_bytes.max(1) as f64,
        }
    }

    /// The upper and the lower edge of some bytes.
    fn y(&self, offset: u64, bytes: i64) -> [f64; 2] {
        let low = self.bottom - offset as f64 * self.px_per_byte;
        let high = low - bytes.max(0) as f64 * self.px_per_byte;
        [high.max(self.top), low.max(self.top)]
    }
}

/// The pixels of an edge-to-edge range: all that it touches, or the one that it lies in.
fn pixels(top: f64, bottom: f64, rows: usize) -> Range<usize> {
    let inside = |y: f64| y.clamp(0.0, rows as f64) as usize;
    let touched = inside((top + TOUCH_PX).floor())..inside((bottom - TOUCH_PX).ceil());
    if touched.is_empty() && 0.0 <= bottom && top < rows as f64 {
        let middle = inside(f64::midpoint(top, bottom).floor()).min(rows.saturating_sub(1));
        return middle..middle + 1;
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

/// How the colour of a pixel goes on; kept in the place of its opacity until the picture is put
/// together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finish {
    Empty = 0,
    Plain = 1,
    Hatched = 2,
    Striped = 3,
}

/// What all columns share.
struct Painter<'a> {
    map: AddressMap<'a>,
    /// The scale of each row that is shown, by row.
    scales: Vec<Option<Scale>>,
    /// Rows of pixels.
    height: usize,
    hole: Rgb,
}

/// Paint the visible rows of an address map.
pub fn raster(map: AddressMap<'_>, size_px: [usize; 2]) -> Raster {
    let [width, height] = size_px;
    let moments_of = |column| {
        let range = totals::moments(map.timeline, map.view, column, width);
        range.start as u32..range.end as u32
    };
    let all: Vec<Range<u32>> = (0..width).map(moments_of).collect();
    let peak = |range: &Range<u32>| map.timeline.active.peak_in(range.start as usize..range.end as usize);
    let moments = all.iter().map(|range| peak(range).map(|(moment, _)| moment)).collect();
    // Zoomed in, many columns show the same: they are painted once.
    let mut columns: Vec<Range<u32>> = Vec::with_capacity(width);
    let mut column_of = Vec::with_capacity(width);
    for range in all {
        if !range.is_empty() && columns.last() != Some(&range) {
            columns.push(range.clone());
        }
        column_of.push(columns.len().checked_sub(1).filter(|_| !range.is_empty()));
    }
    let painter = Painter::new(map, height);
    let mut ids = vec![NONE; columns.len() * height];
    let mut colors = vec![[0; 4]; columns.len() * height];
    let task = (height * COLUMNS_PER_TASK).max(1);
    let parts =
        ids.par_chunks_mut(task).zip(colors.par_chunks_mut(task)).zip(columns.par_chunks(COLUMNS_PER_TASK));
    parts.for_each(|((ids, colors), columns)| painter.columns(columns, ids, colors));
    let painted = Painted { ids, colors, column_of, height, palette: map.palette };
    let (ids, rgba) = painted.rows();
    Raster::new(size_px, rgba, ids, moments)
}

impl<'a> Painter<'a> {
    fn new(map: AddressMap<'a>, height: usize) -> Self {
        let rows = map.rows.rows();
        let mut scales = vec![None; rows.len()];
        for band in map.bands {
            if let (Some(scale), Some(row)) = (scales.get_mut(band.row as usize), rows.get(band.row as usize))
            {
                *scale = Some(Scale::new(band, row.size_bytes));
            }
        }
        let hole = map.palette.window.mix(map.palette.line, 0.35);
        Self { map, scales, height, hole }
    }

    fn columns(&self, columns: &[Range<u32>], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        let mut cells = vec![Cell::EMPTY; columns.len() * self.height];
        self.reserved(columns, &mut cells);
        self.allocations(columns, &mut cells);
        if self.height == 0 {
            return;
        }
        let parts =
            cells.chunks(self.height).zip(ids.chunks_mut(self.height).zip(colors.chunks_mut(self.height)));
        for (column, (cells, (ids, colors))) in columns.iter().zip(parts) {
            self.finish(column, cells, ids, colors);
        }
    }

    /// Mark what is reserved at any time of a column.
    fn reserved(&self, columns: &[Range<u32>], cells: &mut [Cell]) {
        for band in self.map.bands {
            let Some(Some(scale)) = self.scales.get(band.row as usize).copied() else { continue };
            let first_addr = self.map.rows.rows()[band.row as usize].addr;
            for range in self.map.rows.ranges(band.row, self.map.timeline) {
                let [top, bottom] = scale.y(range.addr.saturating_sub(first_addr), range.size);
                let rows = pixels(top, bottom, self.height);
                for column in touched(columns, range.start.0, range.end.map_or(u32::MAX, |end| end.0)) {
                    let at = column * self.height;
                    cells[at + rows.start..at + rows.end].iter_mut().for_each(|cell| cell.is_reserved = true);
                }
            }
        }
    }

    fn allocations(&self, columns: &[Range<u32>], cells: &mut [Cell]) {
        let AddressMap { timeline, rows, .. } = self.map;
        let lifetimes = &timeline.lifetimes;
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return };
        for id in lifetimes.live_between(Moment(first.start), Moment(last.end - 1)) {
            let Some(place) = rows.place(id, timeline) else { continue };
            let Some(scale) = &self.scales[place.row as usize] else { continue };
            let bytes = lifetimes.size(id, &timeline.events);
            let [top, bottom] = scale.y(place.offset, bytes);
            let (start, end) = (lifetimes.start(id).0, lifetimes.end(id).map_or(u32::MAX, |end| end.0));
            let covered = pixels(top, bottom, self.height);
            if covered.is_empty() || bytes <= 0 {
                continue;
            }
            for column in touched(columns, start, end) {
                let part = overlap(&columns[column], start, end) as f32 / columns[column].len() as f32;
                let column = &mut cells[column * self.height..][covered.clone()];
                cover(column, covered.start, [top, bottom], part, id.0);
            }
        }
    }

    /// From cells to colours.
    fn finish(&self, column: &Range<u32>, cells: &[Cell], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        let mut known: Option<(u32, Rgb, bool)> = None;
        for (cell, (id, color)) in cells.iter().zip(ids.iter_mut().zip(colors)) {
            *id = cell.id;
            let ground = if cell.is_reserved { self.hole } else { self.map.palette.window };
            if cell.id == NONE {
                let finish = if cell.is_reserved { Finish::Hatched } else { Finish::Empty };
                *color = with(ground, finish);
                continue;
            }
            let (full, is_waiting) = match known {
                Some((id, full, is_waiting)) if id == cell.id => (full, is_waiting),
                _ => self.look(AllocId(cell.id), column),
            };
            known = Some((cell.id, full, is_waiting));
            let finish = if is_waiting { Finish::Striped } else { Finish::Plain };
            *color = with(ground.mix(full, cell.used.clamp(MIN_STRENGTH, 1.0)), finish);
        }
    }

    /// The colour of an allocation, and whether it waits for a stream for most of a column's part
    /// of its life.
    fn look(&self, id: AllocId, column: &Range<u32>) -> (Rgb, bool) {
        let AddressMap { timeline, colors, is_match, .. } = self.map;
        let lifetimes = &timeline.lifetimes;
        let color = colors.get(lifetimes.stack(id, &timeline.events));
        let color = if is_match(id) { color } else { self.hole.mix(color, FILTERED_STRENGTH) };
        let end = lifetimes.end(id).map_or(u32::MAX, |end| end.0);
        let lives = overlap(column, lifetimes.start(id).0, end);
        let waits = lifetimes.requested(id).map_or(0, |requested| overlap(column, requested.0, end));
        (color, lives <= waits.saturating_mul(2))
    }
}

/// The columns that show any moment of a time.
fn touched(columns: &[Range<u32>], start: u32, end: u32) -> Range<usize> {
    let first = columns.partition_point(|column| column.end <= start);
    let rest = &columns[first..];
    // Most allocations are over within a column.
    let is_short = rest.get(1).is_none_or(|next| end <= next.start);
    let past = if is_short { 1.min(rest.len()) } else { rest.partition_point(|column| column.start < end) };
    let is_before = rest.first().is_none_or(|column| end <= column.start);
    if is_before { first..first } else { first..first + past }
}

/// Moments of a column within a time.
fn overlap(column: &Range<u32>, start: u32, end: u32) -> u32 {
    column.end.min(end).saturating_sub(column.start.max(start))
}

/// Add a bar to the pixels of a column that it touches.
fn cover(cells: &mut [Cell], first: usize, [top, bottom]: [f64; 2], part: f32, id: u32) {
    let part_of = |y: usize| (bottom.min(y as f64 + 1.0) - top.max(y as f64)).clamp(0.0, 1.0) as f32;
    let last = cells.len() - 1;
    cells[0].cover(part * part_of(first), id);
    if 0 < last {
        cells[last].cover(part * part_of(first + last), id);
        cells[1..last].iter_mut().for_each(|cell| cell.cover(part, id));
    }
}

fn with(Rgb(r, g, b): Rgb, finish: Finish) -> [u8; 4] {
    [r, g, b, finish as u8]
}

/// Columns that are painted, from the top; some stand for several columns of the picture.
struct Painted<'a> {
    ids: Vec<u32>,
    colors: Vec<[u8; 4]>,
    /// By column of the picture; `None` outside of the timeline.
    column_of: Vec<Option<usize>>,
    height: usize,
    palette: &'a Palette,
}

impl Painted<'_> {
    /// The ids and colours row by row.
    fn rows(&self) -> (Vec<u32>, Vec<u8>) {
        let width = self.column_of.len();
        let mut ids = vec![NONE; width * self.height];
        let mut rgba = vec![0; width * self.height * 4];
        let task = (width * ROWS_PER_TASK).max(1);
        let parts = ids.par_chunks_mut(task).zip(rgba.par_chunks_mut(task * 4)).enumerate();
        parts.for_each(|(part, (ids, rgba))| {
            for x in 0..width {
                for y in 0..ids.len() / width {
                    let (from, to) = (part * ROWS_PER_TASK + y, y * width + x);
                    ids[to] = self.id(x, from);
                    rgba[to * 4..to * 4 + 4].copy_from_slice(&self.pixel(x, from));
                }
            }
        });
        (ids, rgba)
    }

    #[inline]
    fn id(&self, x: usize, y: usize) -> u32 {
        self.column_of[x].map_or(NONE, |column| self.ids[column * self.height + y])
    }

    #[inline]
    fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let Some(column) = self.column_of[x] else { return [0; 4] };
        let [r, g, b, finish] = self.colors[column * self.height + y];
        let (color, window) = (Rgb(r, g, b), self.palette.window);
        let Rgb(r, g, b) = match finish {
            finish if finish == Finish::Empty as u8 => return [0; 4],
            finish if finish == Finish::Hatched as u8 => {
                if (x + y).is_multiple_of(HATCH_PX) {
                    color.mix(self.palette.muted, 0.22)
                } else {
                    color
                }
            }
            finish if finish == Finish::Striped as u8 => {
                color.mix(window, if y.is_multiple_of(3) { 0.15 } else { 0.65 })
            }
            _ if self.is_edge(x, y) => color.mix(window, 0.35),
            _ => color,
        };
        [r, g, b, 255]
    }

    /// Whether a pixel is the first from the top or from the left of a bar that is large enough.
    fn is_edge(&self, x: usize, y: usize) -> bool {
        let id = self.id(x, y);
        let is_top = y != 0 && self.id(x, y - 1) != id;
        let is_left = x != 0 && self.id(x - 1, y) != id;
        let is_tall = || y + MIN_EDGED_PX <= self.height && self.id(x, y + MIN_EDGED_PX - 1) == id;
        let is_wide = || x + MIN_EDGED_PX <= self.column_of.len() && self.id(x + MIN_EDGED_PX - 1, y) == id;
        (is_top && is_tall()) || (is_left && is_wide())
    }
}

#[cfg(test)]
#[path = "address_raster_tests.rs"]
mod tests;
