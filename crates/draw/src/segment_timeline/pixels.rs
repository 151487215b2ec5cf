//! The last step of a segment timeline's picture: from columns to rows, with hatching, stripes and edges.

use crate::{Palette, Rgb};
use rayon::prelude::*;

/// The id of pixels without an allocation.
pub(super) const NONE: u32 = u32::MAX;

/// Number of rows of pixels that one task writes.
const ROWS_PER_TASK: usize = 16;

/// Bars have an edge from this width or height on; on thinner ones it would hide the colour.
const MIN_EDGED_PX: usize = 4;

/// Distance from one line of hatching to the next, in pixels.
const HATCH_PX: usize = 6;

/// The surface of a pixel. It is stored in place of the pixel's opacity until the picture is put together,
/// since only then are a pixel's neighbours known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// Nothing is there.
    Empty,
    /// In use.
    Plain,
    /// Reserved and not in use.
    Hatched,
    /// Waiting for a stream.
    Striped,
}

impl Finish {
    const ALL: [Self; 4] = [Self::Empty, Self::Plain, Self::Hatched, Self::Striped];

    /// A colour with this surface in place of its opacity.
    pub(super) fn of(self, Rgb(r, g, b): Rgb) -> [u8; 4] {
        [r, g, b, self as u8]
    }
}

/// Painted columns. One may stand for several columns of the picture.
pub(super) struct PaintedColumns<'a> {
    /// The id in each pixel, column by column from the top.
    pub(super) ids: Vec<u32>,
    /// Red, green, blue and [`Finish`] of each pixel, in the same order.
    pub(super) colors: Vec<[u8; 4]>,
    /// The painted column of each column of the picture; `None` outside of the timeline.
    pub(super) column_of: Vec<Option<usize>>,
    pub(super) height: usize,
    pub(super) palette: &'a Palette,
}

impl PaintedColumns<'_> {
    /// The ids and the colours of the picture, row by row from the top.
    pub(super) fn rows(&self) -> (Vec<u32>, Vec<u8>) {
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
        let Rgb(r, g, b) = match Finish::ALL[usize::from(finish) % Finish::ALL.len()] {
            Finish::Empty => return [0; 4],
            Finish::Hatched if (x + y).is_multiple_of(HATCH_PX) => color.mix(self.palette.muted, 0.22),
            Finish::Striped => color.mix(window, if y.is_multiple_of(3) { 0.15 } else { 0.65 }),
            Finish::Plain if self.is_edge(x, y) => color.mix(window, 0.35),
            Finish::Hatched | Finish::Plain => color,
        };
        [r, g, b, 255]
    }

    /// True if a pixel is at the top or the left edge of a bar that is large enough to have edges.
    fn is_edge(&self, x: usize, y: usize) -> bool {
        let id = self.id(x, y);
        let is_top = y != 0 && self.id(x, y - 1) != id;
        let is_left = x != 0 && self.id(x - 1, y) != id;
        let is_tall = || y + MIN_EDGED_PX <= self.height && self.id(x, y + MIN_EDGED_PX - 1) == id;
        let is_wide = || x + MIN_EDGED_PX <= self.column_of.len() && self.id(x + MIN_EDGED_PX - 1, y) == id;
        (is_top && is_tall()) || (is_left && is_wide())
    }
}
