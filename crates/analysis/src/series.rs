//! Memory over time in a few columns, without losing a peak.

use oomscope_model::{Bytes, Curve, Moment, Timeline};
use std::ops::Range;

/// Consecutive moments, and the largest totals among them, each with the first moment that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesColumn {
    /// The first moment.
    pub first: Moment,
    /// The last moment.
    pub last: Moment,
    /// Most active bytes.
    pub active: (Moment, Bytes),
    /// Most allocated bytes.
    pub allocated: (Moment, Bytes),
    /// Most reserved bytes.
    pub reserved: (Moment, Bytes),
    /// Most bytes of chosen allocations, if some are chosen.
    pub chosen: Option<(Moment, Bytes)>,
}

/// A range of moments in at most `columns` parts of about the same number of moments.
pub fn series(
    timeline: &Timeline,
    moments: Range<usize>,
    columns: usize,
    chosen: Option<&Curve>,
) -> Vec<SeriesColumn> {
    let moments = moments.start..moments.end.min(timeline.moments());
    let columns = columns.min(moments.len());
    let bound = |at: usize| moments.start + (moments.len() as u128 * at as u128 / columns as u128) as usize;
    (0..columns).filter_map(|at| column(timeline, bound(at)..bound(at + 1), chosen)).collect()
}

fn column(timeline: &Timeline, moments: Range<usize>, chosen: Option<&Curve>) -> Option<SeriesColumn> {
    Some(SeriesColumn {
        first: Moment(moments.start as u32),
        last: Moment(moments.end.checked_sub(1)? as u32),
        active: timeline.active.peak_in(moments.clone())?,
        allocated: timeline.allocated.peak_in(moments.clone())?,
        reserved: timeline.reserved.peak_in(moments.clone())?,
        chosen: chosen.and_then(|curve| curve.peak_in(moments)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::tables::{any_events, snapshot};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_cover_the_range_once_and_have_its_maxima(
            events in any_events(),
            range in (0usize..70, 0usize..70),
            columns in 0usize..80,
        ) {
            let file = snapshot(&events);
            let timeline = &file.timelines[0];
            let range = range.0.min(range.1)..range.0.max(range.1);
            let found = series(timeline, range.clone(), columns, Some(&timeline.allocated));
            let covered: Vec<u32> = found.iter().flat_map(|column| column.first.0..=column.last.0).collect();
            let asked = range.start as u32..range.end.min(timeline.moments()) as u32;
            let asked: Vec<u32> = if columns == 0 { Vec::new() } else { asked.collect() };
            prop_assert_eq!(&covered, &asked);
            prop_assert!(found.len() <= columns);
            for column in &found {
                let moments = || (column.first.0..=column.last.0).map(Moment);
                prop_assert_eq!(Some(column.active.1), moments().map(|m| timeline.active.at(m)).max());
                prop_assert_eq!(Some(column.reserved.1), moments().map(|m| timeline.reserved.at(m)).max());
                prop_assert_eq!(timeline.active.at(column.active.0), column.active.1);
                prop_assert_eq!(column.chosen, Some(column.allocated));
            }
            let peak = found.iter().map(|column| column.active.1).max();
            prop_assert_eq!(peak, timeline.active.peak_in(range).map(|(_, bytes)| bytes).filter(|_| columns != 0));
        }
    }
}
