//! The places of a segment timeline's rows: thin ones, and expanded ones to scale.
//!
//! Thin rows share the room that is left, by size.

use oomscope_analysis::SegmentRows;
use std::collections::BTreeSet;
use std::ops::Range;

/// A row in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowBand {
    /// The index of the row in [`SegmentRows`].
    pub row: u32,
    /// Its top edge, in pixels from the top of the picture; negative if it is scrolled out.
    pub top_px: i64,
    /// Its height in pixels.
    pub height_px: u32,
}

impl RowBand {
    /// Its bottom edge, in pixels from the top of the picture.
    pub fn bottom_px(&self) -> i64 {
        self.top_px + i64::from(self.height_px)
    }
}

/// Heights of rows, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowHeights {
    /// Least height of a row that is not expanded.
    pub thin_px: u32,
    /// Least height of an expanded row.
    pub expanded_min_px: u32,
    /// Height of the expanded row of the largest segment; smaller ones are to the same scale.
    pub expanded_max_px: u32,
    /// Space between two rows.
    pub gap_px: u32,
    /// Height that all rows together fill at least.
    pub fill_px: u32,
}

/// The rows that are expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expanded {
    /// Only these, by index.
    Rows(BTreeSet<u32>),
    /// Every row.
    #[default]
    All,
}

impl Expanded {
    /// True if a row is expanded.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Rows(rows) => rows.contains(&row),
            Self::All => true,
        }
    }
}

/// All rows from top to bottom.
#[derive(Debug, Clone, Default)]
pub struct RowLayout {
    /// The rows from top to bottom; the top of the first is 0.
    bands: Vec<RowBand>,
    height_px: i64,
}

impl RowLayout {
    /// Place rows below each other, in the given order.
    pub fn new(rows: &SegmentRows, order: &[u32], expanded: &Expanded, heights: RowHeights) -> Self {
        let size = |row: u32| rows.rows().get(row as usize).map(|row| row.size_bytes as f64);
        let shown: Vec<(u32, f64)> = order.iter().filter_map(|&row| Some((row, size(row)?))).collect();
        let largest = shown.iter().map(|&(_, bytes)| bytes).fold(1.0, f64::max);
        let px_per_byte = f64::from(heights.expanded_max_px) / largest;
        let least = |&(row, bytes): &(u32, f64)| {
            if expanded.contains(row) {
                ((bytes * px_per_byte).round() as u32).max(heights.expanded_min_px)
            } else {
                heights.thin_px
            }
        };
        let gaps = i64::from(heights.gap_px) * shown.len().saturating_sub(1) as i64;
        let taken: i64 = shown.iter().map(|row| i64::from(least(row))).sum();
        let spare_px = (i64::from(heights.fill_px) - taken - gaps).max(0) as f64;
        let thin_bytes: f64 = shown.iter().filter(|row| !expanded.contains(row.0)).map(|row| row.1).sum();
        let mut bands = Vec::with_capacity(shown.len());
        let mut top_px = 0;
        for row in &shown {
            let is_thin = !expanded.contains(row.0);
            let more_px = if is_thin { (spare_px * row.1 / thin_bytes.max(1.0)).floor() as u32 } else { 0 };
            let height_px = least(row).saturating_add(more_px);
            bands.push(RowBand { row: row.0, top_px, height_px });
            top_px += i64::from(height_px) + i64::from(heights.gap_px);
        }
        let height_px = bands.last().map_or(0, RowBand::bottom_px);
        Self { bands, height_px }
    }

    /// The height of all rows together, in pixels.
    pub fn height_px(&self) -> i64 {
        self.height_px
    }

    /// All rows from top to bottom, before scrolling.
    pub fn bands(&self) -> &[RowBand] {
        &self.bands
    }

    /// The rows that are at least partly in a window of pixels, relative to the window's top.
    pub fn visible(&self, window: Range<i64>) -> Vec<RowBand> {
        let first = self.bands.partition_point(|band| band.bottom_px() <= window.start);
        let shown = self.bands[first..].iter().take_while(|band| band.top_px < window.end);
        shown.map(|band| RowBand { top_px: band.top_px - window.start, ..*band }).collect()
    }

    /// The place of a row before scrolling; `None` if it is not shown.
    pub fn band_of(&self, row: u32) -> Option<RowBand> {
        self.bands.iter().find(|band| band.row == row).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};

    const HEIGHTS: RowHeights =
        RowHeights { thin_px: 10, expanded_min_px: 24, expanded_max_px: 200, gap_px: 2, fill_px: 0 };

    fn rows() -> SegmentRows {
        let mib = 1 << 20;
        let steps = [Step::Reserve(0, 10 * mib), Step::Reserve(20, 5 * mib), Step::Reserve(30, mib)];
        SegmentRows::build(&fixture::timeline(&steps))
    }

    #[test]
    fn expanded_rows_are_to_scale_and_thin_ones_are_not() {
        let rows = rows();
        let all = RowLayout::new(&rows, &[0, 1, 2], &Expanded::All, HEIGHTS);
        let heights: Vec<u32> = all.bands().iter().map(|band| band.height_px).collect();
        assert_eq!(heights, [200, 100, 24]);
        assert_eq!(all.height_px(), 200 + 2 + 100 + 2 + 24);
        let one = RowLayout::new(&rows, &[2, 1, 0], &Expanded::Rows(BTreeSet::from([1])), HEIGHTS);
        let tops: Vec<(u32, i64, u32)> =
            one.bands().iter().map(|band| (band.row, band.top_px, band.height_px)).collect();
        assert_eq!(tops, [(2, 0, 10), (1, 12, 100), (0, 114, 10)]);
        assert_eq!(one.band_of(1).map(|band| band.top_px), Some(12));
    }

    #[test]
    fn thin_rows_share_the_room_by_size() {
        let heights = RowHeights { fill_px: 194, ..HEIGHTS };
        let height = |expanded: &[u32]| {
            let expanded = Expanded::Rows(expanded.iter().copied().collect());
            let layout = RowLayout::new(&rows(), &[0, 1, 2], &expanded, heights);
            layout.bands().iter().map(|band| band.height_px).collect::<Vec<_>>()
        };
        assert_eq!(height(&[]), [110, 60, 20]);
        assert_eq!(height(&[1]), [73, 100, 16]);
        assert_eq!(height(&[0]), [200, 10, 10]);
    }

    #[test]
    fn only_rows_in_the_window_are_visible() {
        let layout = RowLayout::new(&rows(), &[0, 1, 2], &Expanded::Rows(BTreeSet::new()), HEIGHTS);
        let of =
            |window| layout.visible(window).iter().map(|band| (band.row, band.top_px)).collect::<Vec<_>>();
        assert_eq!(of(0..100), [(0, 0), (1, 12), (2, 24)]);
        assert_eq!(of(5..24), [(0, -5), (1, 7)]);
        assert_eq!(of(10..12), []);
        assert_eq!(of(34..50), []);
    }
}
