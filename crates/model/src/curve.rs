//! Totals over time.

use super::{Bytes, Moment};
use std::collections::BTreeMap;
use std::ops::Range;

/// Moments per entry of the summary: its 16 bytes are 1/64 of the offsets that they stand for, and a
/// group is scanned quickly.
const GROUP: usize = 256;

/// A total in bytes at every moment, stored in four bytes each. A summary makes the maximum of any range
/// cheap.
#[derive(Debug, Default)]
pub struct Curve {
    /// Difference between each value and the smallest of its group.
    offsets: Vec<u32>,
    /// The smallest value of each group.
    group_min: Vec<Bytes>,
    /// The largest value of each group.
    group_max: Vec<Bytes>,
    /// The values of the groups that span more than 4 GiB, by group.
    wide: BTreeMap<usize, Vec<Bytes>>,
}

/// Builds a curve from its end, since events are undone from the last to the first.
#[derive(Debug)]
pub(super) struct CurveBuilder {
    curve: Curve,
    /// The values of the group in progress, the latest moment first.
    group: Vec<Bytes>,
    /// Number of moments that have no value yet.
    left: usize,
}

impl CurveBuilder {
    /// A builder for a curve of `moments` moments.
    pub(super) fn new(moments: usize) -> Self {
        let groups = moments.div_ceil(GROUP);
        let curve = Curve {
            offsets: vec![0; moments],
            group_min: vec![Bytes::ZERO; groups],
            group_max: vec![Bytes::ZERO; groups],
            wide: BTreeMap::new(),
        };
        Self { curve, group: Vec::with_capacity(GROUP), left: moments }
    }

    /// Set the value of the latest moment that has none yet.
    #[inline]
    pub(super) fn push_front(&mut self, value: Bytes) {
        debug_assert!(0 < self.left, "more values than moments");
        self.group.push(value);
        self.left -= 1;
        if self.left.is_multiple_of(GROUP) {
            self.finish_group();
        }
    }

    fn finish_group(&mut self) {
        let (at, first) = (self.left / GROUP, self.left);
        // A loop, since `Iterator::min` and `max` are not inlined in every build.
        let (mut min, mut max) =
            self.group.first().map_or((Bytes::ZERO, Bytes::ZERO), |&value| (value, value));
        for &value in &self.group {
            (min, max) = (min.min(value), max.max(value));
        }
        (self.curve.group_min[at], self.curve.group_max[at]) = (min, max);
        let values = self.group.drain(..).rev();
        if u32::try_from((max - min).0).is_ok() {
            let offsets = &mut self.curve.offsets[first..first + values.len()];
            offsets.iter_mut().zip(values).for_each(|(offset, value)| *offset = (value - min).0 as u32);
        } else {
            self.curve.wide.insert(at, values.collect());
        }
    }

    /// The curve, once every moment has its value.
    pub(super) fn finish(self) -> Curve {
        debug_assert_eq!(self.left, 0);
        self.curve
    }
}

impl Curve {
    /// A curve with these values, one per moment.
    pub fn from_values(values: Vec<Bytes>) -> Self {
        let mut builder = CurveBuilder::new(values.len());
        values.into_iter().rev().for_each(|value| builder.push_front(value));
        builder.finish()
    }

    /// The total at a moment, in bytes.
    ///
    /// # Panics
    ///
    /// If the curve has no such moment.
    #[inline]
    pub fn at(&self, moment: Moment) -> Bytes {
        let i = moment.index();
        if !self.wide.is_empty()
            && let Some(values) = self.wide.get(&(i / GROUP))
        {
            return values[i % GROUP];
        }
        self.group_min[i / GROUP] + Bytes(self.offsets[i].into())
    }

    /// Number of moments: one more than there are events.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// True if there is no moment; never in a timeline.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The first moment of a range at which the range's maximum is reached, and that maximum. `None` if the
    /// range is empty or starts after the last moment.
    pub fn peak_in(&self, range: Range<usize>) -> Option<(Moment, Bytes)> {
        let range = range.start..range.end.min(self.len());
        let mut best: Option<(usize, Bytes)> = None;
        let mut at = range.start;
        while at < range.end {
            let group = at / GROUP;
            let group_end = ((group + 1) * GROUP).min(range.end);
            // A group's maximum bounds the values of any part of it.
            if best.is_none_or(|(_, max)| max < self.group_max[group]) {
                for i in at..group_end {
                    let value = self.at(Moment(i as u32));
                    if best.is_none_or(|(_, max)| max < value) {
                        best = Some((i, value));
                    }
                }
            }
            at = group_end;
        }
        best.map(|(i, value)| (Moment(i as u32), value))
    }

    /// The smallest total of a range. `None` if the range is empty or starts after the last moment.
    pub fn min_in(&self, range: Range<usize>) -> Option<Bytes> {
        let range = range.start..range.end.min(self.len());
        let mut least: Option<Bytes> = None;
        let mut at = range.start;
        while at < range.end {
            let group = at / GROUP;
            let (start, end) = (group * GROUP, ((group + 1) * GROUP).min(self.len()));
            let past = end.min(range.end);
            let is_whole = at == start && past == end;
            let min = if is_whole {
                Some(self.group_min[group])
            } else if least.is_none_or(|least| self.group_min[group] < least) {
                (at..past).map(|i| self.at(Moment(i as u32))).min()
            } else {
                None
            };
            least = min.map_or(least, |min| Some(least.map_or(min, |least| least.min(min))));
            at = past;
        }
        least
    }

    /// The first moment at which the overall maximum is reached, and that maximum.
    pub fn peak(&self) -> (Moment, Bytes) {
        self.peak_in(0..self.len()).unwrap_or((Moment::START, Bytes::ZERO))
    }
}

/// A total in bytes that changes rarely, stored as its value from each change on.
#[derive(Debug, Default)]
pub struct StepCurve {
    /// First moment of each value, ascending; the first is [`Moment::START`].
    steps: Vec<(Moment, Bytes)>,
}

impl StepCurve {
    /// A curve of these changes: the moments ascend, and the first is [`Moment::START`].
    pub fn from_steps(steps: Vec<(Moment, Bytes)>) -> Self {
        debug_assert!(steps.is_sorted_by(|a, b| a.0 < b.0), "moments ascend");
        debug_assert!(
            steps.first().is_none_or(|step| step.0 == Moment::START),
            "the curve begins at the start"
        );
        Self { steps }
    }

    /// The total at a moment, in bytes.
    pub fn at(&self, moment: Moment) -> Bytes {
        let after = self.steps.partition_point(|&(start, _)| start <= moment);
        after.checked_sub(1).map_or(Bytes::ZERO, |i| self.steps[i].1)
    }

    /// The first moment at which the overall maximum is reached, and that maximum.
    pub fn peak(&self) -> (Moment, Bytes) {
        let mut best = self.steps.first().copied().unwrap_or((Moment::START, Bytes::ZERO));
        for &(moment, value) in &self.steps {
            if best.1 < value {
                best = (moment, value);
            }
        }
        best
    }

    /// The first moment of a range at which the range's maximum is reached, and that maximum. `None` if the
    /// range is empty.
    pub fn peak_in(&self, range: Range<usize>) -> Option<(Moment, Bytes)> {
        if range.is_empty() {
            return None;
        }
        let first = Moment(range.start as u32);
        let mut best = (first, self.at(first));
        let from = self.steps.partition_point(|&(start, _)| start <= first);
        for &(moment, value) in self.steps[from..].iter().take_while(|(start, _)| start.index() < range.end) {
            if best.1 < value {
                best = (moment, value);
            }
        }
        Some(best)
    }

    /// The smallest total in a range of moments, in bytes; that of its start if the range is empty.
    pub fn min_in(&self, range: Range<usize>) -> Bytes {
        self.values_in(range).reduce(Bytes::min).unwrap_or_default()
    }

    /// The largest total in a range of moments, in bytes; that of its start if the range is empty.
    pub fn max_in(&self, range: Range<usize>) -> Bytes {
        self.values_in(range).reduce(Bytes::max).unwrap_or_default()
    }

    /// The total at the start of a range, and those that it changes to within.
    fn values_in(&self, range: Range<usize>) -> impl Iterator<Item = Bytes> + '_ {
        let first = self.at(Moment(range.start as u32));
        let from = self.steps.partition_point(|&(start, _)| start.index() <= range.start);
        let later = self.steps.iter().skip(from).take_while(move |(start, _)| start.index() < range.end);
        std::iter::once(first).chain(later.map(|&(_, bytes)| bytes))
    }

    /// Whether another total is larger at some moment.
    pub(super) fn is_exceeded_by(&self, other: &Curve) -> bool {
        let ends = self.steps.iter().skip(1).map(|(end, _)| end.index()).chain([other.len()]);
        let mut parts = self.steps.iter().zip(ends);
        parts.any(|(&(start, value), end)| {
            other.peak_in(start.index()..end).is_some_and(|(_, most)| value < most)
        })
    }

    /// The changes, by moment.
    pub fn steps(&self) -> &[(Moment, Bytes)] {
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(values: &[Bytes]) -> Curve {
        Curve::from_values(values.to_vec())
    }

    #[test]
    fn values_of_any_span_are_kept() {
        let values: Vec<Bytes> =
            (0..1000).map(|i: i64| Bytes(if i / 256 == 1 { i << 40 } else { i - 500 })).collect();
        let read: Vec<Bytes> = (0..1000).map(|m| curve(&values).at(Moment(m))).collect();
        assert_eq!(read, values);
        let extreme = [Bytes::MIN, Bytes::ZERO, Bytes::MAX];
        assert_eq!((0..3).map(|m| curve(&extreme).at(Moment(m))).collect::<Vec<_>>(), extreme);
    }

    proptest! {
        #[test]
        fn the_peak_of_a_range_is_the_first_maximum(
            values in proptest::collection::vec((-50i64..50).prop_map(Bytes), 1..1500),
            a in 0usize..1500,
            b in 0usize..1500,
        ) {
            let range = a.min(b)..a.max(b).min(values.len());
            let curve = curve(&values);
            let naive = values.iter().enumerate().take(range.end).skip(range.start)
                .max_by_key(|&(i, &v)| (v, std::cmp::Reverse(i)))
                .map(|(i, &v)| (Moment(i as u32), v));
            prop_assert_eq!(curve.peak_in(range), naive);
        }
    }

    #[test]
    fn steps_hold_until_the_next() {
        let curve =
            StepCurve::from_steps(vec![(Moment(0), Bytes(5)), (Moment(3), Bytes(9)), (Moment(7), Bytes(2))]);
        let read: Vec<Bytes> = (0..9).map(|m| curve.at(Moment(m))).collect();
        assert_eq!(read, [5, 5, 5, 9, 9, 9, 9, 2, 2]);
        assert_eq!(curve.peak(), (Moment(3), Bytes(9)));
        assert_eq!(curve.peak_in(0..9), Some((Moment(3), Bytes(9))));
        assert_eq!(curve.peak_in(4..9), Some((Moment(4), Bytes(9))));
        assert_eq!(curve.peak_in(7..8), Some((Moment(7), Bytes(2))));
        assert_eq!(curve.peak_in(8..8), None);
        assert_eq!(curve.max_in(0..3), 5);
        assert_eq!(curve.max_in(1..4), 9);
        assert_eq!(curve.max_in(7..9), 2);
    }
}
