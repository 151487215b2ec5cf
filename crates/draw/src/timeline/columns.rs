//! The columns of a stacked picture.
//!
//! A band that is at least a row high is drawn at its place in the stack. Between two such bands lies a run of
//! thinner ones. It is as high as their bytes, and shows the share of each colour, in the order of the legend. So bands
//! of one colour that lie together do not move when zooming in makes them large enough.

use super::bands::{Band, BandFill, BandTexture, Bands, NEVER, NONE, Share};
use super::live_bands::{BandPlace, LiveBands, Run, Slot, Stride};
use crate::{Palette, Rgb, View};
use oomscope_model::{Bytes, Moment, Timeline};
use std::ops::Range;

/// Bands have an edge at their top from this height on; on thinner ones it would hide the colour.
const MIN_EDGED_ROWS: usize = 4;

/// Opacity of bands that the filter leaves out.
const FADED_OPACITY: f32 = 0.25;

/// Share of the ground in the colours of what comes and goes around a column.
const PASSING_SHARE: f32 = 0.35;

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// The moment.
    pub(super) moment: Moment,
    /// The bytes above which memory comes and goes around it, and is paler.
    pub(super) least: Bytes,
}

/// The settings that all columns share.
pub(super) struct Painter<'a, B> {
    bands: &'a B,
    timeline: &'a Timeline,
    view: &'a View,
    palette: &'a Palette,
    rows: usize,
    rows_per_byte: f64,
    /// The fewest bytes that are at least a row high.
    tall_bytes: Bytes,
    /// Width of a column on the axis.
    column_width: f64,
}

/// One column, from the bottom.
struct Column<'a> {
    ids: &'a mut [u32],
    colors: &'a mut [[u8; 4]],
    /// The moment that it shows.
    moment: Moment,
    /// Bytes that are painted, and the row above them.
    bytes: Bytes,
    row: usize,
}

/// The bands that are there, from one moment to the next.
struct Walk {
    live: LiveBands,
    /// The moments that are painted, ascending.
    moments: Vec<Moment>,
    /// The bands that are gone at each of them, and were there at the one before.
    gone: Vec<Vec<BandPlace>>,
    /// Number of moments that were reached.
    reached: usize,
}

impl<'a, B: Bands> Painter<'a, B> {
    /// A painter of a view.
    pub(super) fn new(
        bands: &'a B,
        timeline: &'a Timeline,
        view: &'a View,
        [columns, rows]: [usize; 2],
        palette: &'a Palette,
    ) -> Self {
        let rows_per_byte = rows as f64 / view.height_bytes();
        let tall_bytes = Bytes((1.0 / rows_per_byte).ceil().max(1.0) as i64);
        let column_width = view.span() / columns as f64;
        Self { bands, timeline, view, palette, rows, rows_per_byte, tall_bytes, column_width }
    }

    /// Paint neighbouring columns, which lie one after another from the bottom up.
    pub(super) fn columns(&self, shown: &[Option<Shown>], ids: &mut [u32], colors: &mut [[u8; 4]]) {
        let mut walk = self.walk(shown);
        let mut run = Run::new(self.shares());
        for (i, &column) in shown.iter().enumerate() {
            let Some(Shown { moment, least }) = column else { continue };
            let at = i * self.rows..(i + 1) * self.rows;
            // Zoomed in, many columns show the same instant.
            if 0 < i && shown[i - 1] == column {
                ids.copy_within(at.start - self.rows..at.start, at.start);
                colors.copy_within(at.start - self.rows..at.start, at.start);
                continue;
            }
            // One that differs in what comes and goes alone has the same bands.
            if walk.reached == 0 || walk.moments.get(walk.reached - 1) != Some(&moment) {
                self.advance(&mut walk, moment);
            }
            let row = self.row_at(Bytes::ZERO);
            let (ids, colors) = (&mut ids[at.clone()], &mut colors[at]);
            let mut column = Column { ids, colors, moment, bytes: Bytes::ZERO, row };
            self.column(&walk.live, &mut run, &mut column);
            self.pale(least, &mut column);
        }
    }

    fn shares(&self) -> usize {
        2 * self.bands.classes()
    }

    fn walk(&self, shown: &[Option<Shown>]) -> Walk {
        let mut moments: Vec<Moment> = shown.iter().flatten().map(|shown| shown.moment).collect();
        debug_assert!(moments.is_sorted(), "the highest totals of later columns come later");
        moments.dedup();
        let gone = vec![Vec::new(); moments.len()];
        Walk { live: LiveBands::new(self.bands.groups(), self.shares()), moments, gone, reached: 0 }
    }

    /// Go to the next moment.
    fn advance(&self, walk: &mut Walk, moment: Moment) {
        let Walk { live, moments, gone, reached } = walk;
        let before = reached.checked_sub(1).and_then(|at| moments.get(at)).copied();
        if let Some(gone) = gone.get_mut(*reached) {
            for place in std::mem::take(gone) {
                live.remove(place);
            }
        }
        *reached += 1;
        let later = moments.get(*reached..).unwrap_or_default();
        let last = later.last().copied().unwrap_or(moment);
        self.bands.begun(before, moment, |band| {
            let place = live.add(band.group, self.slot(&band));
            if band.end <= last
                && let Some(place) = place
            {
                gone[*reached + later.partition_point(|&at| at < band.end)].push(place);
            }
        });
    }

    fn slot(&self, band: &Band) -> Slot {
        let (id, share, bytes) = (band.id, band.share.index() as u8, band.bytes);
        let is_tall = self.tall_bytes <= bytes;
        Slot { id, share, bytes, is_tall, is_brief: is_tall && self.is_brief(band) }
    }

    /// True if a band is over within less than the width of a column.
    fn is_brief(&self, band: &Band) -> bool {
        if band.end == NEVER {
            return false;
        }
        let scale = self.view.on(self.timeline);
        let [start, end] = [band.start, band.end].map(|at| scale.position_from_moment(f64::from(at.0)));
        end - start < self.column_width
    }

    fn column(&self, live: &LiveBands, run: &mut Run, column: &mut Column<'_>) {
        for (at, group) in live.groups.iter().enumerate() {
            let hidden = Bytes(self.view.y0.max(0.0) as i64) - column.bytes;
            group.walk(hidden, |step| {
                match step {
                    Stride::Below(bytes) => drop(self.raise(bytes, column)),
                    Stride::Sums(sums) => run.add_sums(sums),
                    Stride::Band(slot) if slot.is_tall => {
                        self.run(run, column);
                        self.band(slot, column);
                    }
                    Stride::Band(slot) => run.add(slot),
                }
                column.row < self.rows
            });
            self.run(run, column);
            if let Some((id, bytes)) = self.bands.above(at, column.moment, group.bytes) {
                let rows = self.raise(bytes, column);
                self.fill(id, self.bands.fill(id, column.moment), rows, column);
            }
        }
    }

    /// Make paler what comes and goes around a column: what lies above some bytes.
    fn pale(&self, least: Bytes, column: &mut Column<'_>) {
        let top = column.row.min(column.colors.len());
        let from = self.row_at(least.or_zero()).min(top);
        let Rgb(red, green, blue) = self.palette.window;
        let mix = |color: u8, ground: u8| {
            (f32::from(color) * (1.0 - PASSING_SHARE) + f32::from(ground) * PASSING_SHARE).round() as u8
        };
        for [r, g, b, a] in column.colors[from..top].iter_mut().filter(|color| color[3] != 0) {
            (*r, *g, *b, *a) = (mix(*r, red), mix(*g, green), mix(*b, blue), *a);
        }
    }

    /// Paint the shares of a run, and empty it.
    fn run(&self, run: &mut Run, column: &mut Column<'_>) {
        run.drain(|share, bytes| {
            let rows = self.raise(bytes, column);
            self.plain(share.id(), share, rows, column);
        });
    }

    /// Fill rows with the legend's colour.
    fn plain(&self, id: u32, share: Share, rows: Range<usize>, column: &mut Column<'_>) {
        column.ids[rows.clone()].fill(id);
        column.colors[rows].fill(self.faded(self.bands.class_color(share.class), share.is_faded));
    }

    fn band(&self, slot: Slot, column: &mut Column<'_>) {
        let rows = self.raise(slot.bytes, column);
        if slot.is_brief {
            // Neighbouring columns show others, whose shades, edges and stripes would make a pattern that means
            // nothing.
            self.plain(slot.id, Share::at(usize::from(slot.share)), rows, column);
        } else {
            self.fill(slot.id, self.bands.fill(slot.id, column.moment), rows, column);
        }
    }

    /// The rows of the next bytes from the bottom.
    fn raise(&self, bytes: Bytes, column: &mut Column<'_>) -> Range<usize> {
        let from = column.row;
        column.bytes += bytes;
        column.row = self.row_at(column.bytes);
        if column.row < from {
            // Only a negative size, which a damaged file may have, moves the row back.
            column.ids[column.row..from].fill(NONE);
            column.colors[column.row..from].fill([0; 4]);
        }
        from..column.row.max(from)
    }

    /// The first row whose middle is not below a number of bytes.
    fn row_at(&self, bytes: Bytes) -> usize {
        let height = (bytes.as_f64() - self.view.y0) * self.rows_per_byte;
        (height - 0.5).ceil().clamp(0.0, self.rows as f64) as usize
    }

    fn fill(&self, id: u32, fill: BandFill, rows: Range<usize>, column: &mut Column<'_>) {
        column.ids[rows.clone()].fill(id);
        let ground = self.palette.window;
        let shade = |share: f32| self.faded(fill.color.mix(ground, share), fill.is_faded);
        let Some(shares) = fill.texture.lined() else {
            let edge = (MIN_EDGED_ROWS <= rows.len()).then(|| rows.end - 1);
            column.colors[rows].fill(shade(0.0));
            if let Some(edge) = edge {
                column.colors[edge] = shade(0.35);
            }
            return;
        };
        let stripes = shares.map(shade);
        for row in rows {
            column.colors[row] = stripes[usize::from(row.is_multiple_of(BandTexture::LINE_EVERY))];
        }
    }

    fn faded(&self, color: Rgb, is_faded: bool) -> [u8; 4] {
        let Rgb(r, g, b) = if is_faded { color.mix(self.palette.window, 1.0 - FADED_OPACITY) } else { color };
        [r, g, b, 255]
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
