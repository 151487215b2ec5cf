//! Totals over time.

use super::Moment;
use std::ops::Range;

/// Moments per entry of the summary.
const GROUP: usize = 256;

/// A total after every event, with a summary so that the maximum of any range is cheap.
#[derive(Debug, Default)]
pub struct Curve {
    values: Vec<i64>,
    /// The largest value of each group.
    group_max: Vec<i64>,
}

impl Curve {
    pub(super) fn new(values: Vec<i64>) -> Self {
        let group_max = values.chunks(GROUP).map(|group| group.iter().copied().max().unwrap_or(0)).collect();
        Self { values, group_max }
    }

    /// The total at a moment, in bytes.
    #[inline]
    pub fn at(&self, moment: Moment) -> i64 {
        self.values[moment.index()]
    }

    /// Number of moments: one more than there are events.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no moment; never in a timeline.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The first moment of the range at which its maximum is reached.
    pub fn peak_in(&self, range: Range<usize>) -> Option<(Moment, i64)> {
        let range = range.start..range.end.min(self.values.len());
        let mut best: Option<(usize, i64)> = None;
        let mut at = range.start;
        while at < range.end {
            let group = at / GROUP;
            let group_end = ((group + 1) * GROUP).min(range.end);
            let whole = at.is_multiple_of(GROUP) && group_end - at == GROUP.min(self.values.len() - at);
            if !(whole && best.is_some_and(|(_, max)| self.group_max[group] <= max)) {
                for (i, &value) in self.values[at..group_end].iter().enumerate() {
                    if best.is_none_or(|(_, max)| max < value) {
                        best = Some((at + i, value));
                    }
                }
            }
            at = group_end;
        }
        best.map(|(i, value)| (Moment(i as u32), value))
    }

    /// The first moment at which the overall maximum is reached.
    pub fn peak(&self) -> (Moment, i64) {
        self.peak_in(0..self.values.len()).unwrap_or((Moment::START, 0))
    }
}

/// A total that changes rarely: its value from each change on.
#[derive(Debug, Default)]
pub struct StepCurve {
    /// First moment of each value, ascending; the first is [`Moment::START`].
    steps: Vec<(Moment, i64)>,
}

impl StepCurve {
    /// From changes in ascending order, the first at the start.
    pub(super) fn new(steps: Vec<(Moment, i64)>) -> Self {
        Self { steps }
    }

    /// The total at a moment.
    pub fn at(&self, moment: Moment) -> i64 {
        let after = self.steps.partition_point(|&(start, _)| start <= moment);
        after.checked_sub(1).map_or(0, |i| self.steps[i].1)
    }

    /// The first moment at which the maximum is reached.
    pub fn peak(&self) -> (Moment, i64) {
        let mut best = self.steps.first().copied().unwrap_or((Moment::START, 0));
        for &(moment, value) in &self.steps {
            if best.1 < value {
                best = (moment, value);
            }
        }
        best
    }

    /// The largest value in a range of moments.
    pub fn max_in(&self, range: Range<usize>) -> i64 {
        let first = self.at(Moment(range.start as u32));
        let from = self.steps.partition_point(|&(start, _)| start.index() <= range.start);
        self.steps[from..]
            .iter()
            .take_while(|(start, _)| start.index() < range.end)
            .map(|&(_, v)| v)
            .fold(first, i64::max)
    }

    /// The changes, in order.
    pub fn steps(&self) -> &[(Moment, i64)] {
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_peak_of_a_range_is_the_first_maximum(
            values in proptest::collection::vec(-50i64..50, 1..1500),
            a in 0usize..1500,
            b in 0usize..1500,
        ) {
            let range = a.min(b)..a.max(b).min(values.len());
            let curve = Curve::new(values.clone());
            let naive = values.iter().enumerate().take(range.end).skip(range.start)
                .max_by_key(|&(i, &v)| (v, std::cmp::Reverse(i)))
                .map(|(i, &v)| (Moment(i as u32), v));
            prop_assert_eq!(curve.peak_in(range), naive);
        }
    }

    #[test]
    fn steps_hold_until_the_next() {
        let curve = StepCurve::new(vec![(Moment(0), 5), (Moment(3), 9), (Moment(7), 2)]);
        let read: Vec<i64> = (0..9).map(|m| curve.at(Moment(m))).collect();
        assert_eq!(read, [5, 5, 5, 9, 9, 9, 9, 2, 2]);
        assert_eq!(curve.peak(), (Moment(3), 9));
        assert_eq!(curve.max_in(0..3), 5);
        assert_eq!(curve.max_in(1..4), 9);
        assert_eq!(curve.max_in(7..9), 2);
    }
}
