//! The layout of a segment map: rows on lines of equal length, to one scale.

use super::{HEADING_PX, LINE_PX, MIN_BYTES_PER_PX};
use oomscope_analysis::SegmentState;
use oomscope_analysis::segment_state::Row;
use std::cmp::Reverse;
use std::ops::Range;

/// Ratio between the scales that fitting tries: the result is at most 5 % coarser than the best.
const FIT_STEP: f64 = 1.05;

/// A scale that breaks no row is chosen if it is at most this many times coarser than the finest that fits.
const MAX_COARSER: f64 = 2.5;

/// Rows from this share of a line on may be broken at its end. Shorter ones move to the next line, since
/// whole rows are easier to read and little room is lost.
const MIN_BROKEN_SHARE: f32 = 0.35;

/// The rest of a line stays empty if it is shorter than this share: a piece as short as that says little.
const MIN_REST_SHARE: f32 = 0.12;

/// A group that takes at most this share of a line has its heading behind it, which saves a line. The rest
/// is room for the heading.
const MAX_SHORT_SHARE: f32 = 0.42;

/// The grouping of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MapGrouping {
    /// One group for each pool, stream and size class.
    #[default]
    Pool,
    /// One group of all rows.
    None,
}

/// The order of rows in a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MapOrder {
    /// Lowest address first.
    #[default]
    Address,
    /// Largest first.
    Size,
    /// Emptiest first.
    Fill,
}

/// The size and the arrangement of a sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapSheet {
    /// Length of a line.
    pub width_px: f32,
    /// The scale.
    pub bytes_per_px: f64,
    /// The grouping of rows.
    pub grouping: MapGrouping,
    /// The order of rows in a group.
    pub order: MapOrder,
}

/// A stretch of a row on one line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Index into [`SegmentState::rows`].
    pub row: usize,
    /// First address.
    pub addr: u64,
    /// First address after it.
    pub past_end: u64,
    /// Bytes of the pieces before it on the line.
    pub bytes_before: f64,
    /// Length of the gaps before it on the line, which do not grow by zooming.
    pub gaps_px: f32,
}

impl Piece {
    /// Its length in bytes.
    pub fn bytes(&self) -> f64 {
        self.past_end.saturating_sub(self.addr) as f64
    }
}

/// A line of pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its top on the sheet.
    pub y_px: f32,
    /// Its pieces: a range of [`MapLayout::pieces`].
    pub pieces: Range<usize>,
}

/// A heading above a group, or behind one that takes a small part of a single line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heading {
    /// Its top on the sheet.
    pub y_px: f32,
    /// Index into [`MapLayout::lines`] of the line that it stands behind; `None` if it has a line of its own.
    pub behind: Option<usize>,
    /// Index into [`SegmentState::groups`]; `None` for the heading of all rows.
    pub group: Option<usize>,
}

/// Rows on a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct MapLayout {
    /// Its size and arrangement.
    pub sheet: MapSheet,
    /// Headings from the top.
    pub headings: Vec<Heading>,
    /// Lines from the top.
    pub lines: Vec<Line>,
    /// Pieces, line by line.
    pub pieces: Vec<Piece>,
    /// The pieces of each row, as ranges of `pieces`.
    row_pieces: Vec<Range<usize>>,
    /// Height of the sheet.
    pub height_px: f32,
}

impl MapLayout {
    /// Lay out a map.
    pub fn new(state: &SegmentState, sheet: MapSheet) -> Self {
        let mut writer = Writer::new(state, sheet);
        match sheet.grouping {
            MapGrouping::None => {
                let mut rows: Vec<usize> = (0..state.rows.len()).collect();
                sort(&mut rows, state, sheet.order);
                writer.heading(None);
                writer.group(&rows);
            }
            MapGrouping::Pool => {
                let mut groups = vec![Vec::new(); state.groups.len()];
                for (i, row) in state.rows.iter().enumerate() {
                    groups[row.group].push(i);
                }
                for (group, rows) in groups.iter_mut().enumerate() {
                    sort(rows, state, sheet.order);
                    if writer.is_short(rows) {
                        writer.group(rows);
                        writer.heading_behind(group);
                    } else {
                        writer.heading(Some(group));
                        writer.group(rows);
                    }
                }
            }
        }
        writer.layout.height_px = writer.y_px;
        writer.layout
    }

    /// The finest scale, in bytes per point, at which a map is no higher than `height_px`, as far as
    /// headings allow. If a scale that is a little coarser breaks no row, it is that one, since unbroken
    /// rows are easier to compare.
    pub fn fit(state: &SegmentState, sheet: MapSheet, height_px: f32) -> f64 {
        let finest = Self::finest_fit(state, sheet, height_px);
        let longest = state.rows.iter().map(span).fold(0.0, f64::max);
        // A hair more, so that rounding does not break the longest row.
        let unbroken = longest / f64::from(sheet.width_px.max(1.0)) * 1.000_001;
        if unbroken <= finest * MAX_COARSER { finest.max(unbroken) } else { finest }
    }

    fn finest_fit(state: &SegmentState, sheet: MapSheet, height_px: f32) -> f64 {
        let bytes: f64 = state.rows.iter().map(span).sum();
        let coarsest = (bytes / f64::from(sheet.width_px.max(1.0))).max(MIN_BYTES_PER_PX);
        let height = |bytes_per_px| Self::new(state, MapSheet { bytes_per_px, ..sheet }).height_px;
        // Where hardly the coarsest scale fits, as with many groups, a quarter more height buys a finer one.
        let bound = height_px.max(height(coarsest) * 1.25);
        let lines = f64::from((bound / LINE_PX).max(1.0));
        // At this many steps, rows need about twice the lines there are: an upper bound.
        let (mut low, mut high) = (0, ((lines * 2.0).ln() / FIT_STEP.ln()).ceil() as i32);
        let scale = |steps: i32| (coarsest / FIT_STEP.powi(steps)).max(MIN_BYTES_PER_PX);
        while low < high {
            let middle = (low + high + 1) / 2;
            if height(scale(middle)) <= bound { low = middle } else { high = middle - 1 }
        }
        scale(low)
    }

    /// The pieces of a row, by address; none for a row that does not exist.
    pub fn pieces_of(&self, row: usize) -> &[Piece] {
        self.row_pieces.get(row).map_or(&[], |range| &self.pieces[range.clone()])
    }

    /// The line of a piece, by its index in `pieces`.
    pub fn line_of(&self, piece: usize) -> Option<&Line> {
        let line = self.lines.partition_point(|line| line.pieces.end <= piece);
        self.lines.get(line).filter(|line| line.pieces.contains(&piece))
    }

    /// The indices of a row's pieces in `pieces`.
    pub fn piece_indices(&self, row: usize) -> Range<usize> {
        self.row_pieces.get(row).cloned().unwrap_or(0..0)
    }

    /// The first row of the line at a height on the sheet; `None` between lines.
    pub fn first_row_at(&self, y_px: f32) -> Option<usize> {
        let line = self.lines.partition_point(|line| line.y_px <= y_px).checked_sub(1)?;
        let line = self.lines.get(line).filter(|line| y_px <= line.y_px + LINE_PX)?;
        self.pieces.get(line.pieces.start).map(|piece| piece.row)
    }

    /// The indices of the lines between two heights on the sheet.
    pub fn lines_between(&self, from_px: f32, to_px: f32) -> Range<usize> {
        let first = self.lines.partition_point(|line| line.y_px + LINE_PX <= from_px);
        let end = self.lines.partition_point(|line| line.y_px < to_px);
        first..end.max(first)
    }
}

/// The length of a row in bytes, with unmapped parts.
fn span(row: &Row) -> f64 {
    row.past_end.saturating_sub(row.addr) as f64
}

/// Sort rows, which are in address order.
fn sort(rows: &mut [usize], state: &SegmentState, order: MapOrder) {
    let row = |i: &usize| &state.rows[*i];
    match order {
        MapOrder::Address => {}
        MapOrder::Size => rows.sort_by_key(|i| Reverse(row(i).past_end.saturating_sub(row(i).addr))),
        MapOrder::Fill => rows.sort_by(|a, b| row(a).figures.fill().total_cmp(&row(b).figures.fill())),
    }
}

/// A layout in progress.
struct Writer<'a> {
    state: &'a SegmentState,
    layout: MapLayout,
    /// Top of the line in progress.
    y_px: f32,
    /// Bytes on the line in progress.
    bytes_before: f64,
    /// Length of the gaps on the line in progress.
    gaps_px: f32,
}

impl<'a> Writer<'a> {
    fn new(state: &'a SegmentState, sheet: MapSheet) -> Self {
        let layout = MapLayout {
            sheet,
            headings: Vec::new(),
            lines: Vec::new(),
            pieces: Vec::with_capacity(state.rows.len()),
            row_pieces: vec![0..0; state.rows.len()],
            height_px: 0.0,
        };
        Self { state, layout, y_px: 0.0, bytes_before: 0.0, gaps_px: 0.0 }
    }

    fn heading(&mut self, group: Option<usize>) {
        self.layout.headings.push(Heading { y_px: self.y_px, behind: None, group });
        self.y_px += HEADING_PX;
    }

    /// True if rows take so small a part of a line that their heading fits behind them.
    fn is_short(&self, rows: &[usize]) -> bool {
        let MapSheet { width_px, bytes_per_px, .. } = self.layout.sheet;
        let lengths = rows.iter().map(|&row| span(&self.state.rows[row]) / bytes_per_px);
        let length_px: f64 = lengths.map(|px| px + f64::from(gap_px(px))).sum();
        length_px <= f64::from(width_px * MAX_SHORT_SHARE)
    }

    fn heading_behind(&mut self, group: usize) {
        if let Some(line) = self.layout.lines.len().checked_sub(1) {
            let y_px = self.layout.lines[line].y_px;
            self.layout.headings.push(Heading { y_px, behind: Some(line), group: Some(group) });
        }
    }

    /// Place the rows of a group, from a new line on.
    fn group(&mut self, rows: &[usize]) {
        self.new_line();
        for &row in rows {
            self.row(row);
        }
        if !self.is_line_empty() {
            self.y_px += LINE_PX;
        } else if self.layout.lines.pop().is_some() {
            // A group without rows has no line.
        }
    }

    fn new_line(&mut self) {
        let at = self.layout.pieces.len();
        self.layout.lines.push(Line { y_px: self.y_px, pieces: at..at });
        (self.bytes_before, self.gaps_px) = (0.0, 0.0);
    }

    fn is_line_empty(&self) -> bool {
        self.layout.lines.last().is_none_or(|line| line.pieces.is_empty())
    }

    fn next_line(&mut self) {
        self.y_px += LINE_PX;
        self.new_line();
    }

    fn row(&mut self, row: usize) {
        let MapSheet { width_px, bytes_per_px, .. } = self.layout.sheet;
        let length_px = span(&self.state.rows[row]) / bytes_per_px;
        let gap_px = gap_px(length_px);
        let mut line_px = f64::from(width_px);
        if !self.is_line_empty() {
            let rest_px = line_px - self.bytes_before / bytes_per_px - f64::from(self.gaps_px + gap_px);
            let is_broken = length_px > line_px * f64::from(MIN_BROKEN_SHARE);
            let min_rest_px = if is_broken { line_px * f64::from(MIN_REST_SHARE) } else { length_px };
            if rest_px < length_px.min(min_rest_px) {
                self.next_line();
            } else {
                self.gaps_px += gap_px;
                line_px = rest_px;
            }
        }
        let first = self.layout.pieces.len();
        self.pieces(row, line_px);
        self.layout.row_pieces[row] = first..self.layout.pieces.len();
    }

    /// Cut a row into pieces. The first is at most `first_px` long, the others at most as long as a line.
    fn pieces(&mut self, row: usize, first_px: f64) {
        let MapSheet { width_px, bytes_per_px, .. } = self.layout.sheet;
        let (mut addr, past_end) = (self.state.rows[row].addr, self.state.rows[row].past_end);
        let mut room_px = first_px;
        loop {
            let end = past_end.min(break_after(addr, (room_px * bytes_per_px).max(1.0) as u64));
            let piece =
                Piece { row, addr, past_end: end, bytes_before: self.bytes_before, gaps_px: self.gaps_px };
            self.layout.pieces.push(piece);
            debug_assert!(!self.layout.lines.is_empty(), "`group` starts a line before any row");
            if let Some(line) = self.layout.lines.last_mut() {
                line.pieces.end = self.layout.pieces.len();
            }
            self.bytes_before += piece.bytes();
            if past_end <= end {
                return;
            }
            (addr, room_px) = (end, f64::from(width_px));
            self.next_line();
        }
    }
}

/// The address at which to break a row that starts at `addr` and has room for `room_bytes`: as round a number
/// as can be without wasting much room.
fn break_after(addr: u64, room_bytes: u64) -> u64 {
    let end = addr.saturating_add(room_bytes);
    // Rounding down to a multiple of this wastes at most 1/256 of the room.
    let step = 1u64 << (room_bytes / 256).max(1).ilog2();
    let round = end / step * step;
    if addr < round { round } else { end }
}

/// The gap before a row of a width. Rows a few points wide have none, since there are many of them.
fn gap_px(width_px: f64) -> f32 {
    match width_px {
        w if w < 3.0 => 0.0,
        w if w < 8.0 => 1.0,
        _ => 3.0,
    }
}
