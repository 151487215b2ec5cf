//! Line numbers of one function in two versions of a program.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An edit above a line moves it with its neighbours. One that is this many lines away from where its neighbours went, about a
/// screen, is another line for a reader.
const NEARBY_LINES: i64 = 50;

/// The most pairs of lines that are weighed against each other: 256 lines of one function on both sides. In larger functions,
/// which are generated, only equal numbers match.
const MAX_PAIRS: usize = 1 << 16;

/// Pairs of lines that are the same, as indexes into two ascending lists. Their order is kept. Of all ways to pair them, it is one
/// with most pairs and, of these, one with the shortest ways from where the usual shift would put each line.
pub(super) fn pair_lines(a: &[i64], b: &[i64], fits: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    debug_assert!(a.is_sorted() && b.is_sorted(), "lines ascend");
    if MAX_PAIRS < a.len().saturating_mul(b.len()) {
        let equal = |(i, line): (usize, &i64)| Some((i, b.binary_search(line).ok()?));
        return a.iter().enumerate().filter_map(equal).filter(|&(i, j)| fits(i, j)).collect();
    }
    let shift = usual_shift(a, b);
    let far = |i: usize, j: usize| b[j].saturating_sub(a[i]).saturating_sub(shift).saturating_abs();
    // The best of what is left from each pair of places on: most pairs, shortest ways.
    let width = b.len() + 1;
    let mut best = vec![(0u32, Reverse(0i64)); (a.len() + 1) * width];
    let pair = |best: &[(u32, Reverse<i64>)], i: usize, j: usize| {
        let (pairs, Reverse(way)) = best[(i + 1) * width + j + 1];
        let is_near = far(i, j) <= NEARBY_LINES && fits(i, j);
        is_near.then(|| (pairs + 1, Reverse(way.saturating_add(far(i, j)))))
    };
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let skipped = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = pair(&best, i, j).map_or(skipped, |paired| paired.max(skipped));
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        let now = best[i * width + j];
        if pair(&best, i, j) == Some(now) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] == now {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The difference that most pairs of lines have; of several the smallest, since most edits are small.
fn usual_shift(a: &[i64], b: &[i64]) -> i64 {
    let mut seen: BTreeMap<i64, u32> = BTreeMap::new();
    for &to in b {
        for &from in a {
            *seen.entry(to.saturating_sub(from)).or_default() += 1;
        }
    }
    let usual = seen.into_iter().max_by_key(|&(shift, count)| (count, Reverse(shift.saturating_abs())));
    usual.map_or(0, |(shift, _)| shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paired(a: &[i64], b: &[i64]) -> Vec<(i64, i64)> {
        pair_lines(a, b, |_, _| true).into_iter().map(|(i, j)| (a[i], b[j])).collect()
    }

    #[test]
    fn lines_that_moved_together_keep_their_neighbours() {
        assert_eq!(paired(&[10, 12, 20], &[15, 17, 25]), [(10, 15), (12, 17), (20, 25)]);
        // One was added before them, and one between them.
        assert_eq!(paired(&[10, 12, 20], &[10, 11, 13, 21]), [(10, 11), (12, 13), (20, 21)]);
        assert_eq!(paired(&[10, 12, 20], &[10, 12, 17, 20]), [(10, 10), (12, 12), (20, 20)]);
        // The last one is another line, far from where the others went.
        assert_eq!(paired(&[10, 12], &[10, 90]), [(10, 10)]);
        assert_eq!(paired(&[10], &[300]), [(10, 300)]);
        assert_eq!(paired(&[], &[300]), []);
    }

    #[test]
    fn what_does_not_fit_is_no_pair() {
        assert_eq!(pair_lines(&[10, 11], &[10, 11], |i, j| i < j), [(0, 1)]);
    }

    #[test]
    fn hostile_numbers_and_many_lines_end() {
        assert_eq!(paired(&[i64::MIN, i64::MAX], &[i64::MIN, i64::MAX]).len(), 2);
        let many: Vec<i64> = (0..100_000).collect();
        assert_eq!(pair_lines(&many, &many, |_, _| true).len(), many.len());
    }

    proptest! {
        #[test]
        fn a_moved_function_is_found_as_a_whole(
            lines in prop::collection::btree_set(0i64..400, 1..30), shift in -500i64..500,
        ) {
            let a: Vec<i64> = lines.into_iter().collect();
            let b: Vec<i64> = a.iter().map(|line| line + shift).collect();
            let all: Vec<(usize, usize)> = (0..a.len()).map(|i| (i, i)).collect();
            prop_assert_eq!(pair_lines(&a, &b, |_, _| true), all);
        }
    }
}
