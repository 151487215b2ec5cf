//! Totals of pixel columns, as far as a picture can show them.

use super::envelope;
use crate::View;
use oomscope_model::{Bytes, Curve, Timeline};
use std::ops::Range;

/// The largest totals within each pixel column; 0 for columns without moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnTotals {
    /// Active bytes by column.
    pub active: Vec<Bytes>,
    /// Allocated bytes by column.
    pub allocated: Vec<Bytes>,
    /// Reserved bytes by column.
    pub reserved: Vec<Bytes>,
}

impl ColumnTotals {
    /// The totals of the columns of a view.
    pub fn of_view(timeline: &Timeline, view: &View, columns: usize) -> Self {
        let of_curve = |curve: &Curve| {
            let peak = |moments| curve.peak_in(moments).map_or(Bytes::ZERO, |(_, value)| value);
            envelope::totals_of_view(timeline, view, columns, peak)
        };
        let reserved = |moments| timeline.reserved.max_in(moments);
        Self {
            active: of_curve(&timeline.active),
            allocated: of_curve(&timeline.allocated),
            reserved: envelope::totals_of_view(timeline, view, columns, reserved),
        }
    }
}

/// A curve as at most `most` points of moment and bytes, each the peak of one of as many equal ranges.
pub fn decimate(curve: &Curve, most: usize) -> Vec<[f64; 2]> {
    ranges(curve.len(), most)
        .filter_map(|range| curve.peak_in(range))
        .map(|(moment, value)| [f64::from(moment.0), value.as_f64()])
        .collect()
}

/// The ranges whose peaks [`decimate`] takes: `most` of them, or one for each moment if those are fewer.
pub fn ranges(len: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = most.min(len);
    (0..parts).map(move |i| len * i / parts..len * (i + 1) / parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn decimation_keeps_the_peak_and_the_bound() {
        let timeline = fixture::timeline(&fixture::sawtooth(3000));
        let points = decimate(&timeline.active, 100);
        assert_eq!(points.len(), 100);
        let highest = points.iter().map(|p| p[1]).fold(0.0, f64::max);
        assert_eq!(highest, timeline.active.peak().1.as_f64());
        assert_eq!(decimate(&timeline.active, 1 << 20).len(), timeline.active.len());
    }

    #[test]
    fn every_column_has_its_largest_total() {
        let timeline = fixture::timeline(&fixture::sawtooth(500));
        let view = View::fit(&timeline);
        let totals = ColumnTotals::of_view(&timeline, &view, 40);
        let highest = totals.allocated.iter().copied().max();
        assert_eq!(highest, Some(timeline.allocated.peak().1));
        assert_eq!(totals.active.iter().copied().max(), Some(timeline.active.peak().1));
    }
}
