//! How rows of addresses are arranged, apart from how large the surface is that shows them.

use super::layout::{Expanded, RowHeights, RowLayout};
use crate::analysis::{RowOrder, SegmentRows};

/// Heights of rows in points.
const THIN_PT: f32 = 10.0;
const EXPANDED_MIN_PT: f32 = 40.0;
const EXPANDED_MAX_PT: std::ops::RangeInclusive<f32> = 96.0..=320.0;
const GAP_PT: f32 = 2.0;

/// The part of the surface that the largest expanded row takes: one of a few, or of all.
const EXPANDED_SHARE: f32 = 0.75;
const ALL_EXPANDED_SHARE: f32 = 0.4;

/// Which rows are large, in which order, and which is the first in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrangedRows {
    /// From top to bottom.
    pub order: RowOrder,
    /// Rows that are large.
    pub expanded: Expanded,
    /// The first row that is whole in sight; [`None`] for the top.
    pub first: Option<u32>,
}

impl RowHeights {
    /// On a surface of a height, in points. `px` turns points into pixels.
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
    /// Lay the rows out on a surface of a height, and say how many pixels are hidden above.
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
    use crate::draw::fixture::{self, Step};
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
