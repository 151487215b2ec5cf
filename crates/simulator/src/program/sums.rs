//! Running sums of what a program has in use.
//!
//! The recorded program is added up once, also by stretches. A changed one is added up again only in the stretches in which it differs.

use super::peak::{Peak, Profile};
use super::point::Point;
use super::row::Row;
use oomscope_model::{Bytes, Moment, Timeline};
use std::ops::Range;

/// The number of stretches of equal length that a [`Profile`] has: enough to tell phases apart, few enough to combine
/// many profiles.
const STRETCHES: usize = 4096;

/// What the recorded program gains at its events.
#[derive(Debug)]
pub(super) struct OriginalSums {
    /// Of each moment, the bytes that the event before it adds.
    gained: Vec<Bytes>,
    /// The number of stretches, all equally long but for rounding.
    count: usize,
    stretches: Vec<StretchSum>,
}

/// What the events of a stretch add up to.
#[derive(Debug)]
struct StretchSum {
    gained: Bytes,
    /// The most above what there is before the stretch, and the first moment with it.
    most: Bytes,
    moment: Moment,
}

impl OriginalSums {
    pub(super) fn of<'r>(timeline: &Timeline, rows: impl Iterator<Item = &'r Row>) -> Self {
        let moments = timeline.events.len() + 1;
        let mut gained = vec![Bytes::ZERO; moments];
        for row in rows {
            let bytes = row.bytes_there();
            for (point, change) in [(row.start, bytes), (row.end, -bytes)] {
                if let Some(sum) = gained.get_mut(point.moment().index()) {
                    *sum += change;
                }
            }
        }
        let mut out = Self { gained, count: STRETCHES.min(moments), stretches: Vec::new() };
        out.stretches = (0..out.count).map(|stretch| out.sum_of(stretch)).collect();
        out
    }

    fn sum_of(&self, stretch: usize) -> StretchSum {
        let range = self.range(stretch);
        let mut sum =
            StretchSum { gained: Bytes::ZERO, most: Bytes::MIN, moment: Moment(range.start as u32) };
        for (index, &change) in range.clone().zip(&self.gained[range]) {
            sum.gained += change;
            if sum.most < sum.gained {
                (sum.most, sum.moment) = (sum.gained, Moment(index as u32));
            }
        }
        sum
    }

    /// The stretch that a moment is in.
    #[inline]
    fn stretch_of(&self, moment: usize) -> usize {
        moment * self.count / self.gained.len()
    }

    /// The moments of a stretch.
    fn range(&self, stretch: usize) -> Range<usize> {
        Profile::range(stretch, self.count, self.gained.len())
    }
}

/// What a changed program gains and loses, and when.
pub(super) struct ChangedSums<'r> {
    original: &'r OriginalSums,
    /// The stretches in which something else happens at events, by moment.
    own: Vec<Option<OwnStretch>>,
    /// What begins at further points.
    between: Vec<(Point, Bytes)>,
    /// What ends at them.
    ends: Vec<(Point, Bytes)>,
}

struct OwnStretch {
    start: usize,
    gained: Box<[Bytes]>,
}

impl<'r> ChangedSums<'r> {
    /// Those of the recorded program.
    pub(super) fn of(original: &'r OriginalSums) -> Self {
        let own = std::iter::repeat_with(|| None).take(original.count).collect();
        Self { original, own, between: Vec::new(), ends: Vec::new() }
    }

    /// Change the bytes of an allocation that begins and ends at events.
    pub(super) fn at_events(&mut self, row: Row, more: Bytes) {
        self.at_event(row.start, more);
        self.at_event(row.end, -more);
    }

    fn at_event(&mut self, point: Point, change: Bytes) {
        let (original, moment) = (self.original, point.moment().index());
        if original.gained.len() <= moment {
            return;
        }
        let stretch = original.stretch_of(moment);
        let own = self.own[stretch].get_or_insert_with(|| {
            let range = original.range(stretch);
            OwnStretch { start: range.start, gained: original.gained[range].into() }
        });
        let sum = &mut own.gained[moment - own.start];
        *sum += change;
    }

    /// Add an allocation that may begin and end between events.
    pub(super) fn anywhere(&mut self, row: Row) {
        let bytes = row.bytes_there();
        if bytes != 0 {
            self.between.push((row.start, bytes));
            if row.end != Point::NEVER {
                self.ends.push((row.end, -bytes));
            }
        }
    }

    /// Add everything up in order. What is lost at a point counts before what is gained there.
    pub(super) fn run(mut self) -> (Peak, Profile) {
        // Both are nearly in order by themselves, which a stable sort makes use of.
        self.between.append(&mut self.ends);
        self.between.sort();
        let mut between = &self.between[..];
        let mut now = Bytes::ZERO;
        let mut peak = Peak { bytes: 0, moment: Moment::START };
        let mut highest = Vec::with_capacity(self.original.count);
        for (stretch, (sum, own)) in self.original.stretches.iter().zip(&self.own).enumerate() {
            let range = self.original.range(stretch);
            let is_last = range.end == self.original.gained.len();
            let until = if is_last { Point::NEVER } else { Point::of(Moment(range.end as u32 - 1)) };
            let here = between.iter().take_while(|(point, _)| is_last || *point < until).count();
            let (points, rest) = between.split_at(here);
            between = rest;
            let mut top = Top { now, most: Bytes::ZERO, moment: Moment::START };
            if own.is_none() && points.is_empty() {
                top.rise(now + sum.most, sum.moment);
                top.now = now + sum.gained;
            } else {
                let gained = own.as_ref().map_or(&self.original.gained[range.clone()], |own| &own.gained);
                top.run(range.start, gained, points);
            }
            now = top.now;
            let bytes = top.most.unsigned_abs();
            highest.push(bytes);
            if peak.bytes < bytes {
                peak = Peak { bytes, moment: top.moment };
            }
        }
        (peak, Profile::of(highest))
    }
}

/// A running sum, with the most that it came to in a stretch.
struct Top {
    now: Bytes,
    /// Never negative.
    most: Bytes,
    moment: Moment,
}

impl Top {
    /// Add what is gained at the moments from one on, and at points before, between and after them.
    fn run(&mut self, start: usize, gained: &[Bytes], points: &[(Point, Bytes)]) {
        let mut done = 0;
        for &(point, change) in points {
            let before = point.moments_up_to().saturating_sub(start).clamp(done, gained.len());
            self.add_all(start + done, &gained[done..before]);
            done = before;
            self.add(change, Moment((start + done).min(start + gained.len() - 1) as u32));
        }
        self.add_all(start + done, &gained[done..]);
    }

    fn add_all(&mut self, start: usize, gained: &[Bytes]) {
        for (index, &change) in (start..).zip(gained) {
            self.add(change, Moment(index as u32));
        }
    }

    #[inline]
    fn add(&mut self, change: Bytes, moment: Moment) {
        self.now += change;
        self.rise(self.now, moment);
    }

    #[inline]
    fn rise(&mut self, to: Bytes, moment: Moment) {
        if self.most < to {
            (self.most, self.moment) = (to, moment);
        }
    }
}
