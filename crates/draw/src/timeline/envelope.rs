//! What columns show that are wide enough to hold a whole turn of a loop, or a good part of one.
//!
//! Each column shows the instant of its highest total. Where a program repeats itself every few columns, one column has the peak
//! of a turn and the next has not, and the picture would be a comb that moves with every zoom and means nothing. So valleys that
//! are narrower than [`WIDTH`] columns are filled with what the lower of their edges shows: a closing, as image processing calls it.
//! What lies below the most and above the least is told by [`lowest`], likewise without narrow peaks.

use super::bands::Bands;
use crate::{Axis, View};
use oomscope_model::{Bytes, Moment, Timeline};
use rayon::prelude::*;
use std::ops::Range;

/// Columns; turns of a loop that are at least as wide are seen one by one.
const WIDTH: usize = 8;

/// Moments in a column, on average, from which single ones are not seen anyway.
const MIN_MOMENTS: f64 = 8.0;

/// Whether columns of a view hold so many moments, on average over the recording, that narrow valleys are filled: it depends on the
/// scale alone.
pub(super) fn is_coarse(timeline: &Timeline, view: &View, columns: usize) -> bool {
    let moments = match view.axis {
        Axis::Event => view.span(),
        Axis::Time => timeline.moments() as f64 * view.span() / (timeline.times.span_us() as f64).max(1.0),
    };
    MIN_MOMENTS <= moments / columns.max(1) as f64
}

/// Columns beside a picture that decide what its first and last columns show, so that moving a view changes no column.
const BESIDE: usize = WIDTH - 1;

/// The moment that each column of a view shows, and the least total around it, from which on upwards memory comes and goes. `None`
/// outside of the timeline.
pub(super) fn of_view(
    bands: &impl Bands,
    timeline: &Timeline,
    view: &View,
    width: usize,
) -> Vec<Option<(Moment, Bytes)>> {
    let beside = BESIDE as i64;
    let columns: Vec<Range<usize>> =
        (-beside..width as i64 + beside).map(|at| view.on(timeline).moments_beside(at, width)).collect();
    of_columns(bands, &columns).split_off(BESIDE).into_iter().take(width).collect()
}

fn of_columns(bands: &impl Bands, columns: &[Range<usize>]) -> Vec<Option<(Moment, Bytes)>> {
    let most = |range: &Range<usize>| {
        let moment = bands.moment_in(range.clone())?;
        Some((moment, bands.total(moment)))
    };
    let most: Vec<Option<(Moment, Bytes)>> = columns.par_iter().map(most).collect();
    let mut out = Vec::with_capacity(columns.len());
    for run in most.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let known: Vec<(Moment, Bytes)> = run.iter().copied().flatten().collect();
        if known.is_empty() {
            out.extend(run.iter().map(|_| None));
            continue;
        }
        let ranges = &columns[out.len()..out.len() + known.len()];
        let least: Vec<Bytes> = ranges.par_iter().map(|range| bands.least_in(range.clone())).collect();
        let shown = closed(&known).into_iter().map(|(moment, _)| moment);
        out.extend(shown.zip(lowest(&least)).map(Some));
    }
    out
}

/// Totals without narrow valleys, each with the place that it is of. Places stay in their order.
pub(super) fn closed<T: Copy + Ord>(values: &[(T, Bytes)]) -> Vec<(T, Bytes)> {
    if values.len() < WIDTH {
        return values.to_vec();
    }
    // Of equals the first, here and below, so that places of later columns do not come before.
    let first_highest = |window: &[(T, Bytes)]| {
        window.iter().copied().reduce(|best, one| if best.1 < one.1 { one } else { best })
    };
    let windows: Vec<(T, Bytes)> = values.windows(WIDTH).filter_map(first_highest).collect();
    let around = |at: usize| (at + 1).saturating_sub(WIDTH)..(at + 1).min(windows.len());
    let lowest_around = |at: usize| {
        windows[around(at)].iter().copied().reduce(|best, one| if one.1 < best.1 { one } else { best })
    };
    let mut shown: Vec<(T, Bytes)> = (0..values.len()).filter_map(lowest_around).collect();
    // A column that needs no filling shows itself, where that keeps the order.
    let around: Vec<T> = shown.iter().map(|(place, _)| *place).collect();
    for (at, (&(place, own), shown)) in values.iter().zip(&mut shown).enumerate() {
        let is_after = at == 0 || around[at - 1] <= place;
        let is_before = around.get(at + 1).is_none_or(|next| place <= *next);
        if own == shown.1 && is_after && is_before {
            shown.0 = place;
        }
    }
    shown
}

/// A total of each column of a view, from its moments, without narrow valleys where columns hold many; 0 outside of the timeline.
pub(super) fn totals_of_view(
    timeline: &Timeline,
    view: &View,
    width: usize,
    most: impl Fn(Range<usize>) -> Bytes + Sync,
) -> Vec<Bytes> {
    let beside = if is_coarse(timeline, view, width) { BESIDE as i64 } else { 0 };
    let column = |at: i64| {
        let moments = view.on(timeline).moments_beside(at, width);
        (!moments.is_empty()).then(|| most(moments))
    };
    let columns: Vec<i64> = (-beside..width as i64 + beside).collect();
    let totals: Vec<Option<Bytes>> = columns.into_par_iter().map(column).collect();
    let mut shown: Vec<Bytes> = Vec::with_capacity(totals.len());
    for run in totals.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let known: Vec<Bytes> = run.iter().copied().flatten().collect();
        match (known.is_empty(), beside) {
            (true, _) => shown.resize(shown.len() + run.len(), Bytes::ZERO),
            (false, 0) => shown.extend(known),
            (false, _) => shown.extend(closed_totals(&known)),
        }
    }
    shown.split_off(beside as usize).into_iter().take(width).collect()
}

/// The most totals of columns without narrow valleys.
pub(super) fn closed_totals(totals: &[Bytes]) -> Vec<Bytes> {
    let values: Vec<((), Bytes)> = totals.iter().map(|&bytes| ((), bytes)).collect();
    closed(&values).into_iter().map(|((), bytes)| bytes).collect()
}

/// The least totals of columns without narrow peaks.
fn lowest(least: &[Bytes]) -> Vec<Bytes> {
    let negative: Vec<Bytes> = least.iter().map(|&bytes| Bytes::ZERO - bytes).collect();
    closed_totals(&negative).into_iter().map(|bytes| Bytes::ZERO - bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered(totals: &[i64]) -> Vec<(usize, Bytes)> {
        totals.iter().map(|&bytes| Bytes(bytes)).enumerate().collect()
    }

    #[test]
    fn narrow_valleys_are_filled_and_wide_ones_and_peaks_stay() {
        let shown = |totals: &[i64]| closed(&numbered(totals)).iter().map(|(_, b)| b.0).collect::<Vec<_>>();
        let comb: Vec<i64> = (0..60).map(|at| if at % 3 == 0 { 9 } else { 2 }).collect();
        assert!(shown(&comb)[..58].iter().all(|&bytes| bytes == 9), "{:?}", shown(&comb));
        let wide: Vec<i64> = (0..60).map(|at| if at % 20 < 10 { 9 } else { 2 }).collect();
        assert_eq!(shown(&wide), wide);
        let peak: Vec<i64> = (0..60).map(|at| if at == 30 { 9 } else { 2 }).collect();
        assert_eq!(shown(&peak), peak);
        assert_eq!(shown(&[3, 1, 2]), [3, 1, 2]);
    }

    #[test]
    fn peaks_of_the_least_are_left_out() {
        let comb: Vec<Bytes> = (0..60).map(|at| Bytes(if at % 3 == 0 { 2 } else { 9 })).collect();
        assert!(lowest(&comb)[..58].iter().all(|&bytes| bytes == 2));
    }

    proptest! {
        #[test]
        fn columns_show_near_places_in_order_and_no_less_than_their_own(totals in prop::collection::vec(0_i64..50, 0..200)) {
            let values = numbered(&totals);
            let shown = closed(&values);
            prop_assert_eq!(shown.len(), values.len());
            prop_assert!(shown.is_sorted_by_key(|(place, _)| *place));
            for (at, &(place, bytes)) in shown.iter().enumerate() {
                prop_assert_eq!(bytes, values[place].1);
                prop_assert!(values[at].1 <= bytes && at.abs_diff(place) < WIDTH);
            }
            let again: Vec<(usize, Bytes)> = shown.iter().map(|(_, bytes)| *bytes).enumerate().collect();
            let twice: Vec<Bytes> = closed(&again).into_iter().map(|(_, bytes)| bytes).collect();
            prop_assert_eq!(twice, shown.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>());
        }
    }
}
