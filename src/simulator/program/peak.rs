//! The most bytes that a program asks for at once: the running sum of its requests.

use super::{Point, Program, last_moment};
use crate::model::{AllocId, Moment};

/// The number of stretches of equal length that a [`Profile`] has: enough to tell phases apart, few enough to combine
/// many profiles.
const STRETCHES: usize = 4096;

/// The most bytes in use at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Requested bytes of what is in use.
    pub bytes: u64,
    /// The first moment with that many.
    pub moment: Moment,
}

/// The most bytes in use at once in each of several stretches of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    highest: Vec<u64>,
}

impl Profile {
    /// The highest of each stretch. They are equally long, but for rounding, and together all moments.
    pub fn highest(&self) -> &[u64] {
        &self.highest
    }

    /// The highest of all stretches.
    pub fn peak_bytes(&self) -> u64 {
        self.highest.iter().copied().max().unwrap_or(0)
    }

    /// The profile of this recorded program with several changes, if each saves what it saves alone.
    #[must_use]
    pub fn with_all<'p>(&self, alone: impl Iterator<Item = &'p Self>) -> Self {
        alone.fold(self.clone(), |sum, one| sum.with(one, self))
    }

    /// The profile of a program with two changes, if each saves what it saves alone.
    #[must_use]
    pub fn with(&self, other: &Self, recorded: &Self) -> Self {
        let both = self.highest.iter().zip(&other.highest).zip(&recorded.highest);
        let highest = both.map(|((&a, &b), &from)| a.saturating_add(b).saturating_sub(from)).collect();
        Self { highest }
    }
}

impl Program<'_> {
    /// The most bytes in use at once. A request that failed counts at its event.
    pub fn peak(&self) -> Peak {
        self.sums().0
    }

    /// The most bytes in use at once, as a whole and by stretches.
    pub fn sums(&self) -> (Peak, Profile) {
        let moments = last_moment(self.timeline).index() + 1;
        let mut changes = Changes { by_moment: vec![0; moments], between: Vec::new() };
        for (index, row) in
            self.rows.iter().enumerate().filter(|(_, row)| row.bytes != 0 && row.start < row.end)
        {
            if self.is_in_place(AllocId(index as u32)) {
                changes.at_events(row.start, row.end, row.bytes);
            } else {
                changes.anywhere(row.start, row.end, row.bytes);
            }
        }
        for added in &self.added {
            changes.anywhere(added.row.start, added.row.end, added.row.bytes);
        }
        for failed in self.failed.iter().filter(|failed| failed.bytes != 0) {
            changes.anywhere(Point::at(failed.event), Point::after(failed.event, 0), failed.bytes);
        }
        changes.run(moments)
    }
}

/// What a program gains and loses, and when.
struct Changes {
    /// Of each moment, the bytes that the event before it adds.
    by_moment: Vec<i64>,
    /// Further points.
    between: Vec<(Point, i64)>,
}

impl Changes {
    fn at_events(&mut self, start: Point, end: Point, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        for (point, change) in [(start, bytes), (end, -bytes)] {
            if let Some(sum) = self.by_moment.get_mut(point.moment().index()) {
                *sum = sum.saturating_add(change);
            }
        }
    }

    fn anywhere(&mut self, start: Point, end: Point, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.between.push((start, bytes));
        if end != Point::NEVER {
            self.between.push((end, -bytes));
        }
    }

    /// Add everything up in order. What is lost at a point counts before what is gained there.
    fn run(mut self, moments: usize) -> (Peak, Profile) {
        self.between.sort_unstable();
        let mut sums = Sums {
            now: 0,
            peak: Peak { bytes: 0, moment: Moment::START },
            highest: vec![0; STRETCHES.min(moments)],
            moments,
        };
        let mut between = self.between.iter().peekable();
        for (index, &change) in self.by_moment.iter().enumerate() {
            let moment = Moment(index as u32);
            let at = Point::of(moment);
            while let Some(&(_, change)) = between.next_if(|&&(point, _)| point < at) {
                sums.add(change, moment);
            }
            sums.add(change, moment);
        }
        let last = Moment(moments.saturating_sub(1) as u32);
        between.for_each(|&(_, change)| sums.add(change, last));
        (sums.peak, Profile { highest: sums.highest })
    }
}

/// A running sum.
struct Sums {
    now: i64,
    peak: Peak,
    highest: Vec<u64>,
    moments: usize,
}

impl Sums {
    #[inline]
    fn add(&mut self, change: i64, moment: Moment) {
        self.now = self.now.saturating_add(change);
        let now = self.now.max(0).unsigned_abs();
        let stretch = (moment.index() * self.highest.len()).checked_div(self.moments).unwrap_or(0);
        if let Some(highest) = self.highest.get_mut(stretch) {
            *highest = now.max(*highest);
        }
        if self.peak.bytes < now {
            self.peak = Peak { bytes: now, moment };
        }
    }
}
