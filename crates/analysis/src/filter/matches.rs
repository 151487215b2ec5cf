//! The allocations that a filter lets through: a bit each.

use oomscope_model::{AllocId, Bytes, Curve, Moment, Timeline};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Words that one task fills.
const WORDS_PER_TASK: usize = 256;

/// Allocations in a word.
const WORD: usize = u64::BITS as usize;

/// A set of one timeline's allocations.
#[derive(Debug)]
pub struct Matches {
    words: Vec<u64>,
    count: usize,
    over_time: OnceLock<OverTime>,
}

/// Results that take a pass over the whole trace.
#[derive(Debug)]
struct OverTime {
    curve: Curve,
    peak: (Moment, Bytes),
}

impl Matches {
    /// Those of `allocations` ids that hold.
    pub(super) fn from_test(allocations: usize, holds: impl Fn(AllocId) -> bool + Sync) -> Self {
        let word = |at: usize| {
            let ids = at * WORD..allocations.min((at + 1) * WORD);
            let bit = |(i, id): (usize, usize)| u64::from(holds(AllocId(id as u32))) << i;
            ids.enumerate().map(bit).fold(0, |word, bit| word | bit)
        };
        let words = (0..allocations.div_ceil(WORD)).into_par_iter().with_min_len(WORDS_PER_TASK);
        Self::new(words.map(word).collect())
    }

    /// Some of `allocations` ids.
    pub fn from_ids(allocations: usize, ids: impl Iterator<Item = AllocId>) -> Self {
        let mut words = vec![0; allocations.div_ceil(WORD)];
        for id in ids {
            words[id.index() / WORD] |= 1 << (id.index() % WORD);
        }
        Self::new(words)
    }

    fn new(words: Vec<u64>) -> Self {
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, count, over_time: OnceLock::new() }
    }

    /// Those of the set that are among some allocations.
    pub fn among(&self, ids: &[AllocId]) -> Self {
        let known = self.words.len() * WORD;
        Self::from_ids(known, ids.iter().copied().filter(|&id| self.contains(id)))
    }

    /// Whether an allocation is in the set.
    #[inline]
    pub fn contains(&self, id: AllocId) -> bool {
        let word = self.words.get(id.index() / WORD);
        word.is_some_and(|word| word >> (id.index() % WORD) & 1 != 0)
    }

    /// Number of allocations in the set.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The allocations, in allocation order.
    pub fn iter(&self) -> impl Iterator<Item = AllocId> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let next = |&rest: &u64| Some(rest & rest.wrapping_sub(1));
            let rests = std::iter::successors(Some(word), next).take_while(|&rest| rest != 0);
            rests.map(move |rest| AllocId((at * WORD) as u32 + rest.trailing_zeros()))
        })
    }

    /// Number of matches that are live at a moment.
    pub fn count_at(&self, timeline: &Timeline, moment: Moment) -> usize {
        timeline.lifetimes.live_at(moment).filter(|&id| self.contains(id)).count()
    }

    /// Requested bytes of the matches that are live at a moment.
    pub fn bytes_at(&self, timeline: &Timeline, moment: Moment) -> Bytes {
        if let Some(over_time) = self.over_time.get() {
            return over_time.curve.at(moment);
        }
        let live = timeline.lifetimes.live_at(moment).filter(|&id| self.contains(id));
        let sizes = live.map(|id| i128::from(timeline.size(id)));
        Bytes::clamped(sizes.sum::<i128>())
    }

    /// The first moment at which the matches have most bytes, and how many. Computed with
    /// [`curve`](Self::curve).
    pub fn peak(&self, timeline: &Timeline) -> (Moment, Bytes) {
        self.over_time(timeline).peak
    }

    /// The peak, if it was computed already.
    pub fn known_peak(&self) -> Option<(Moment, Bytes)> {
        self.over_time.get().map(|over_time| over_time.peak)
    }

    /// Requested bytes of the matches at every moment. Computed when it is first asked for, in one
    /// pass over the trace.
    pub fn curve(&self, timeline: &Timeline) -> &Curve {
        &self.over_time(timeline).curve
    }

    fn over_time(&self, timeline: &Timeline) -> &OverTime {
        self.over_time.get_or_init(|| {
            let curve = timeline.lifetimes.curve_of(&timeline.events, |id| self.contains(id));
            OverTime { peak: curve.peak(), curve }
        })
    }
}
