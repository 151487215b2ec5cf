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
    all: usize,
    early: usize,
}

pub(super) type Counts = BTreeMap<i64, Count>;

/// What there is for each parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Blocks for each parameter, itself included, at least.
    pub(super) each: usize,
    /// How many of those are gradients.
    pub(super) gradients: usize,
    /// Bytes of the blocks that this makes sense of.
    pub(super) explained_bytes: i64,
}

pub(super) fn counts(placed: &[Placed]) -> Counts {
    let mut out = Counts::new();
    for block in placed {
        let count = out.entry(block.size).or_default();
        count.all += 1;
        count.early += usize::from(block.is_early);
    }
    out
}

impl Count {
    /// How many of them are parameters, where there are so many of each.
    pub(super) fn parameters(&self, each: usize) -> Option<usize> {
        let parameters = self.all / each;
        let is_even = self.all.is_multiple_of(each);
        (is_even && parameters <= self.early && self.early <= 2 * parameters).then_some(parameters)
    }
}

/// Find how many there are, if most sizes that matter agree; the blocks are in address order.
pub(super) fn rounds(placed: &[Placed], counts: &Counts) -> Option<Rounds> {
    let weight = |size: i64, count: usize| size.max(0).saturating_mul(count as i64);
    let sizes = || counts.iter().filter(|(_, count)| 0 < count.early);
    let total: i64 = sizes().map(|(&size, count)| weight(size, count.early)).fold(0, i64::saturating_add);
    let fits = |each: usize| {
        let even = sizes().filter_map(|(&size, count)| Some(weight(size, count.parameters(each)?)));
        even.fold(0, i64::saturating_add)
    };
    let (share, each) = (1..=MOST).map(|each| (fits(each), std::cmp::Reverse(each))).max()?;
    let each = each.0;
    let is_even = total / 10 * 7 <= share && 1 < each;
    is_even.then(|| Rounds {
        each,
        gradients: gradients(placed, each),
        explained_bytes: share.saturating_mul(each as i64),
    })
}

/// How many of the blocks for each parameter are gradients. State is made in the order of the parameters, one tensor or
/// more of each in turn; gradients come in another order, and in a new one each time.
fn gradients(placed: &[Placed], each: usize) -> usize {
    if 3 < each {
        return 1;
    }
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
            _ => MIN_LATER <= runs && runs - runs / 4 <= odd,
        });
    }
    0
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
