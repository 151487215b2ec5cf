//! Where rows go: lines of equal length, to one scale.

use super::{HEADING_PX, LINE_PX, MIN_BYTES_PER_PX};
use crate::analysis::SegmentState;
use crate::analysis::segment_state::Row;
use std::cmp::Reverse;
use std::ops::Range;

/// Steps of scale that fitting tries.
const FIT_STEP: f64 = 1.05;

/// Which rows stand together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Grouping {
    /// Those of one pool, stream and size class.
    #[default]
    Pool,
    /// All.
    None,
}

/// The order of rows that stand together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// Lowest address first.
    #[default]
    Address,
    /// Largest first.
    Size,
    /// Emptiest first.
    Fill,
}

/// How to lay out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    /// Length of a line.
    pub width_px: f32,
    /// The scale.
    pub bytes_per_px: f64,
    /// Which rows stand together.
    pub grouping: Grouping,
    /// In which order.
    pub order: Order,
}

/// A stretch of a row on one line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Index into [`SegmentState::rows`].
    pub row: usize,
    /// First address.
    pub addr: u64,
    /// Address behind the last.
    pub past_end: u64,
    /// Bytes of the pieces before it on the line.
    pub bytes_before: f64,
    /// Gaps between the pieces before it on the line, which do not grow by zooming.
    pub gaps_px: f32,
}

impl Piece {
    /// Its bytes.
    pub fn bytes(&self) -> f64 {
        self.past_end.saturating_sub(self.addr) as f64
    }
}

/// A line of pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its top on the sheet.
    pub y_px: f32,
    /// Its pieces: a range of [`Layout::pieces`].
    pub pieces: Range<usize>,
}

/// A heading over a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heading {
    /// Its top on the sheet.
    pub y_px: f32,
    /// Index into [`SegmentState::groups`].
    pub group: usize,
}

/// Rows on a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// How they were laid out.
    pub sheet: Sheet,
    /// Headings from the top.
    pub headings: Vec<Heading>,
    /// Lines from the top.
    pub lines: Vec<Line>,
    /// Pieces, line by line.
    pub pieces: Vec<Piece>,
    /// The pieces of each row, which follow one another.
    row_pieces: Vec<Range<usize>>,
    /// Height of the sheet.
    pub height_px: f32,
}

impl Layout {
    /// Lay out a map.
    pub fn new(state: &SegmentState, sheet: Sheet) -> Self {
        let mut writer = Writer::new(state, sheet);
        match sheet.grouping {
            Grouping::None => {
                let mut rows: Vec<usize> = (0..state.rows.len()).collect();
                sort(&mut rows, state, sheet.order);
                writer.group(&rows);
            }
            Grouping::Pool => {
                let mut groups = vec![Vec::new(); state.groups.len()];
                for (i, row) in state.rows.iter().enumerate() {
                    groups[row.group].push(i);
                }
                for (group, rows) in groups.iter_mut().enumerate() {
                    sort(rows, state, sheet.order);
                    writer.heading(group);
                    writer.group(rows);
                }
            }
        }
        writer.layout.height_px = writer.y_px;
        writer.layout
    }

    /// The finest scale at which a map is no higher than `height_px`, as far as headings allow.
    pub fn fit(state: &SegmentState, sheet: Sheet, height_px: f32) -> f64 {
        let bytes: f64 = state.rows.iter().map(span).sum();
        let coarsest = (bytes / f64::from(sheet.width_px.max(1.0))).max(MIN_BYTES_PER_PX);
        let height = |bytes_per_px| Self::new(state, Sheet { bytes_per_px, ..sheet }).height_px;
        // Where not even the coarsest scale fits, most of what wrapping costs is not worth it.
        let bound = height_px.max(height(coarsest) * 1.25);
        let lines = f64::from((bound / LINE_PX).max(1.0));
        let (mut low, mut high) = (0, ((lines * 2.0).ln() / FIT_STEP.ln()).ceil() as i32);
        let scale = |steps: i32| (coarsest / FIT_STEP.powi(steps)).max(MIN_BYTES_PER_PX);
        while low < high {
            let middle = (low + high + 1) / 2;
            if height(scale(middle)) <= bound { low = middle } else { high = middle - 1 }
        }
        scale(low)
    }

    /// The pieces of a row.
    pub fn pieces_of(&self, row: usize) -> &[Piece] {
        self.row_pieces.get(row).map_or(&[], |range| &self.pieces[range.clone()])
    }

    /// The line of a piece.
    pub fn line_of(&self, piece: usize) -> Option<&Line> {
        let line = self.lines.partition_point(|line| line.pieces.end <= piece);
        self.lines.get(line).filter(|line| line.pieces.contains(&piece))
    }

    /// The indices of a row's pieces.
    pub fn piece_indices(&self, row: usize) -> Range<usize> {
        self.row_pieces.get(row).cloned().unwrap_or(0..0)
    }

    /// The lines between two heights on the sheet.
    pub fn lines_between(&self, from_px: f32, to_px: f32) -> Range<usize> {
        let first = self.lines.partition_point(|line| line.y_px + LINE_PX <= from_px);
        let end = self.lines.partition_point(|line| line.y_px < to_px);
        first..end.max(first)
    }
}

/// Bytes from a row's first address to behind its last.
fn span(row: &Row) -> f64 {
    row.past_end.saturating_sub(row.addr) as f64
}

fn sort(rows: &mut [usize], state: &SegmentState, order: Order) {
    let row = |i: &usize| &state.rows[*i];
    match order {
        Order::Address => {}
        Order::Size => rows.sort_by_key(|i| Reverse(row(i).past_end.saturating_sub(row(i).addr))),
        Order::Fill => rows.sort_by(|a, b| row(a).figures.fill().total_cmp(&row(b).figures.fill())),
    }
}

/// A layout in progress.
struct Writer<'a> {
    state: &'a SegmentState,
    layout: Layout,
    y_px: f32,
    /// What the line in progress holds.
    bytes_before: f64,
    gaps_px: f32,
}

impl<'a> Writer<'a> {
    fn new(state: &'a SegmentState, sheet: Sheet) -> Self {
        let layout = Layout {
            sheet,
            headings: Vec::new(),
            lines: Vec::new(),
            pieces: Vec::with_capacity(state.rows.len()),
            row_pieces: vec![0..0; state.rows.len()],
            height_px: 0.0,
        };
        Self { state, layout, y_px: 0.0, bytes_before: 0.0, gaps_px: 0.0 }
    }

    fn heading(&mut self, group: usize) {
        self.layout.headings.push(Heading { y_px: self.y_px, group });
        self.y_px += HEADING_PX;
    }

    /// Place rows that stand together, from a new line on.
    fn group(&mut self, rows: &[usize]) {
        self.new_line();
        for &row in rows {
            self.row(row);
        }
        if !self.is_line_empty() {
            self.y_px += LINE_PX;
        } else if self.layout.lines.pop().is_some() {
            // The line was started for a row that did not come.
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
        let Sheet { width_px, bytes_per_px, .. } = self.layout.sheet;
        let bytes = span(&self.state.rows[row]);
        let gap_px = gap_px(bytes / bytes_per_px);
        if !self.is_line_empty() {
            let used = self.bytes_before / bytes_per_px + f64::from(self.gaps_px + gap_px);
            if f64::from(width_px) < used + bytes / bytes_per_px {
                self.next_line();
            } else {
                self.gaps_px += gap_px;
            }
        }
        let first = self.layout.pieces.len();
        self.pieces(row, (f64::from(width_px) * bytes_per_px).max(1.0) as u64);
        self.layout.row_pieces[row] = first..self.layout.pieces.len();
    }

    /// Cut a row into pieces that are at most a line long.
    fn pieces(&mut self, row: usize, line_bytes: u64) {
        let (mut addr, past_end) = (self.state.rows[row].addr, self.state.rows[row].past_end);
        loop {
            let end = past_end.min(addr.saturating_add(line_bytes));
            let piece =
                Piece { row, addr, past_end: end, bytes_before: self.bytes_before, gaps_px: self.gaps_px };
            self.layout.pieces.push(piece);
            if let Some(line) = self.layout.lines.last_mut() {
                line.pieces.end = self.layout.pieces.len();
            }
            self.bytes_before += piece.bytes();
            if past_end <= end {
                return;
            }
            addr = end;
            self.next_line();
        }
    }
}

/// The gap before a piece: none before those that are a few points wide, of which there are many.
fn gap_px(width_px: f64) -> f32 {
    match width_px {
        w if w < 3.0 => 0.0,
        w if w < 8.0 => 1.0,
        _ => 3.0,
    }
}
