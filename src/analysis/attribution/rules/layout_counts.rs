//! How often each size of the parameters is there once more: as gradients, and as state of an optimizer.

use super::layout::Placed;
use std::collections::BTreeMap;

/// Most blocks that training has for a parameter: itself, its gradient, three tensors of state.
const MOST: usize = 5;

/// So many blocks of a sequence are compared.
const COMPARED: usize = 256;

/// Fewer blocks may be in any order by chance.
const MIN_LATER: usize = 8;

/// How many blocks of a size there are, and how many of them lie where parameters do.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Count {
    pub(super) all: usize,
    pub(super) early: usize,
    /// Whether each of the early ones fills what was left of a segment.
    is_filler_only: bool,
}

pub(super) type Counts = BTreeMap<i64, Count>;

/// What there is for each parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Blocks for each parameter, itself included, at least.
    pub(super) each: usize,
    /// How many of those are gradients.
    pub(super) gradients: usize,
    /// What is more than that: gradients of a backward under way, else state of a first step under way.
    pub(super) rest_is_gradients: bool,
    /// Whether there are as many of every size.
    pub(super) is_even: bool,
    /// Bytes of the blocks that this makes sense of, where numbers are even.
    pub(super) explained_bytes: i64,
}

pub(super) fn counts(placed: &[Placed]) -> Counts {
    let mut out = Counts::new();
    for block in placed {
        let count = out.entry(block.size).or_insert(Count { is_filler_only: true, ..Count::default() });
        count.all += 1;
        if block.is_early {
            count.early += 1;
            count.is_filler_only &= block.is_filler;
        }
    }
    out
}

impl Count {
    /// How many of them are parameters.
    pub(super) fn parameters(&self, rounds: Rounds) -> usize {
        if self.early == 0 {
            return 0;
        }
        if self.all < rounds.each || self.all == self.early {
            return if self.is_odd(rounds) { 0 } else { self.early };
        }
        if self.is_even(rounds.each) && rounds.is_even {
            return self.all / rounds.each;
        }
        if self.is_odd(rounds) { 0 } else { self.early.min(self.all / rounds.each) }
    }

    /// Whether it does not look like a parameter's size: it fills what segments of parameters left.
    fn is_odd(&self, rounds: Rounds) -> bool {
        let expected = self.early.saturating_mul(rounds.each);
        self.is_filler_only
            && self.early < self.all
            && !self.is_even(rounds.each)
            && !(expected..=expected.saturating_add(self.early)).contains(&self.all)
    }

    fn is_even(&self, each: usize) -> bool {
        let parameters = self.all / each;
        self.all.is_multiple_of(each) && parameters <= self.early && self.early <= 2 * parameters
    }
}

/// Find how many there are; the blocks are in address order.
pub(super) fn rounds(placed: &[Placed], counts: &Counts) -> Rounds {
    let weight = |size: i64, count: usize| size.max(0).saturating_mul(count as i64);
    let sizes = || counts.iter().filter(|(_, count)| 0 < count.early);
    let total: i64 = sizes().map(|(&size, count)| weight(size, count.early)).fold(0, i64::saturating_add);
    let fits = |each: usize| {
        let even = sizes().filter(|(_, count)| count.is_even(each));
        even.map(|(&size, count)| weight(size, count.all / each)).fold(0, i64::saturating_add)
    };
    let best = (1..=MOST).map(|each| (fits(each), std::cmp::Reverse(each))).max();
    let (share, each) = best.map_or((0, 1), |(share, each)| (share, each.0));
    if total / 10 * 7 <= share {
        return Rounds {
            each,
            gradients: gradients(placed, each),
            rest_is_gradients: true,
            is_even: true,
            explained_bytes: share.saturating_mul(each as i64),
        };
    }
    let all: i64 = sizes()
        .filter(|(_, count)| !count.is_filler_only || count.all <= MOST * count.early)
        .map(|(&size, count)| weight(size, count.all.min(MOST * count.early)))
        .fold(0, i64::saturating_add);
    let eighths = all.saturating_mul(8) / total.max(1);
    let each = usize::try_from(eighths.saturating_add(1) / 8).unwrap_or(1).clamp(1, 3);
    // A first step sets up state from the first parameter on; a backward leaves gradients from the last on.
    let first = placed.iter().find(|block| !block.is_small).and_then(|block| counts.get(&block.size));
    let is_first_step = 2 <= each && first.is_some_and(|first| each < first.all / first.early.max(1));
    if is_first_step {
        return Rounds { gradients: 1, rest_is_gradients: false, ..uneven(2) };
    }
    uneven(each)
}

fn uneven(each: usize) -> Rounds {
    Rounds { each, gradients: 0, rest_is_gradients: true, is_even: false, explained_bytes: 0 }
}

/// How many of the blocks for each parameter are gradients. State is made in the order of the parameters, one tensor or
/// more of each in turn; gradients come in another order, and in a new one each time.
fn gradients(placed: &[Placed], each: usize) -> usize {
    let sizes = |is_early: bool, is_small: bool| -> Vec<i64> {
        let those = placed.iter().filter(|block| block.is_early == is_early && block.is_small == is_small);
        those.map(|block| block.size).take(COMPARED).collect()
    };
    for is_small in [true, false] {
        let (parameters, later) = (sizes(true, is_small), sizes(false, is_small));
        let is_uniform = later.iter().min() == later.iter().max();
        if is_uniform || later.len() < MIN_LATER {
            continue;
        }
        let repeated = parameters.iter().flat_map(|&size| std::iter::repeat_n(size, each - 1));
        let states: Vec<i64> = repeated.take(COMPARED).collect();
        let (alike, most) = (common(&states, &later), later.len().min(states.len()));
        let runs = later.chunk_by(|a, b| a == b);
        let (odd, runs) =
            runs.fold((0, 0), |(odd, runs), run| (odd + usize::from(run.len() % 2 == 1), runs + 1));
        return usize::from(match each {
            2 => alike < most - most / 7,
            // Two tensors of state of each parameter lie side by side.
            3 => MIN_LATER <= runs && runs - runs / 4 <= odd,
            _ => alike < most - most / 20,
        });
    }
    usize::from(3 < each)
}

/// The length of the longest common subsequence.
fn common(a: &[i64], b: &[i64]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    for x in a.iter().take(COMPARED) {
        let mut before = 0;
        let mut left = 0;
        for (slot, y) in row.iter_mut().skip(1).zip(b) {
            let above = *slot;
            *slot = if x == y { before + 1 } else { above.max(left) };
            (before, left) = (above, *slot);
        }
    }
    row.last().copied().unwrap_or(0)
}
