//! The arrangement of a segment timeline's rows, independent of the size of the surface.

use super::layout::{Expanded, RowHeights, RowLayout};
use oomscope_analysis::{RowOrder, SegmentRows};

/// Height in points of a row that is not expanded: one line of small text.
const THIN_PT: f32 = 10.0;

/// Height in points of the smallest expanded row: three lines of its label.
const EXPANDED_MIN_PT: f32 = 40.0;

/// Height in points of the largest expanded row, whatever the surface.
const EXPANDED_MAX_PT: std::ops::RangeInclusive<f32> = 96.0..=320.0;

/// Space in points between rows.
const GAP_PT: f32 = 2.0;

/// Share of the surface's height that the largest row takes if only some are expanded: it fills most of
/// it, and a few thin ones stay in sight.
const EXPANDED_SHARE: f32 = 0.75;

/// Share of the surface's height that the largest row takes if all are expanded: two fit.
const ALL_EXPANDED_SHARE: f32 = 0.4;

/// The order of rows, the expanded ones, and the first in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrangedRows {
    /// The order from top to bottom.
    pub order: RowOrder,
    /// The expanded rows.
    pub expanded: Expanded,
    /// The first row that is wholly in sight; `None` for the topmost.
    pub first: Option<u32>,
}

impl RowHeights {
    /// The heights on a surface of a height in points. `px` turns points into pixels.
    pub fn on_surface(height: f32, expanded: &Expanded, px: &dyn Fn(f32) -> u32) -> Self {
        let share = if *expanded == Expanded::All { ALL_EXPANDED_SHARE } else { EXPANDED_SHARE };
        let largest = (height * share).clamp(*EXPANDED_MAX_PT.start(), *EXPANDED_MAX_PT.end());
        Self {
            thin_px: px(THIN_PT),
            expanded_min_px: px(EXPANDED_MIN_PT),
            expanded_max_px: px(largest),
            gap_px: px(GAP_PT).max(1),
            fill_px: px(height),
        }
    }
}

impl ArrangedRows {
    /// Lay out the rows on a surface of a height in points. Returns the layout and the number of pixels
    /// that are hidden above. `px` turns points into pixels.
    pub fn place(&self, rows: &SegmentRows, height: f32, px: &dyn Fn(f32) -> u32) -> (RowLayout, i64) {
        let heights = RowHeights::on_surface(height, &self.expanded, px);
        let layout = RowLayout::new(rows, &rows.sorted(self.order), &self.expanded, heights);
        let most_px = (layout.height_px() - i64::from(px(height))).max(0);
        let first = self.first.and_then(|row| layout.band_of(row));
        let hidden_px = first.map_or(0, |band| band.top_px.clamp(0, most_px));
        (layout, hidden_px)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use std::collections::BTreeSet;

    const MIB: i64 = 1 << 20;

    fn rows() -> SegmentRows {
        let steps: Vec<Step> = (0..30).map(|i| Step::Reserve(i * 20, (1 + i as i64 % 3) * MIB)).collect();
        SegmentRows::build(&fixture::timeline(&steps))
    }

    #[test]
    fn the_first_row_in_sight_is_at_the_top_as_far_as_there_are_rows_below() {
        let rows = rows();
        let px = |points: f32| (points * 2.0) as u32;
        let arranged = |first| ArrangedRows {
            order: RowOrder::Address,
            expanded: Expanded::Rows(BTreeSet::from([20])),
            first,
        };
        let (layout, hidden_px) = arranged(Some(5)).place(&rows, 100.0, &px);
        assert_eq!(layout.visible(hidden_px..hidden_px + 200)[0].row, 5);
        let (layout, hidden_px) = arranged(Some(29)).place(&rows, 100.0, &px);
        assert_eq!(hidden_px, layout.height_px() - 200);
        assert_eq!(arranged(None).place(&rows, 100.0, &px).1, 0);
        assert_eq!(arranged(Some(99)).place(&rows, 100.0, &px).1, 0);
        assert!(
            layout.band_of(20).expect("the row").height_px > layout.band_of(21).expect("the row").height_px
        );
    }
}
