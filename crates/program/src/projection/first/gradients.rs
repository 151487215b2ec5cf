//! Which gradients a backward is yet to make.

use crate::numbers::SEVERAL;
use std::collections::{BTreeMap, BTreeSet};

/// The gradients of parameters.
pub(super) struct Gradients {
    /// The sizes of those that are not yet made, in the order of their parameters.
    pub(super) left: Vec<u64>,
    /// The sizes of all.
    pub(super) trained: Vec<u64>,
}

impl Gradients {
    /// Those that a backward is yet to make, given the sizes of parameters, and of those that it made, in its order: that of the
    /// parameters in reverse, without those that are not trained. A size is not trained if the backward passed it over, and made
    /// none of it.
    pub(super) fn of(parameters: &[u64], made: impl Iterator<Item = u64>) -> Self {
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, &bytes) in parameters.iter().rev().enumerate() {
            places.entry(bytes).or_default().push(at);
        }
        let (mut next, mut found) = (0, 0);
        let mut passed: BTreeSet<u64> = BTreeSet::new();
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for bytes in made {
            *counts.entry(bytes).or_default() += 1;
            let places = places.get(&bytes).map_or(&[][..], Vec::as_slice);
            if let Some(&at) = places.get(places.partition_point(|&at| at < next)) {
                found += 1;
                passed.extend(parameters.iter().rev().take(at).skip(next).copied());
                next = at + 1;
            }
        }
        // A few may be something else of the size of a parameter.
        let is_trained =
            |bytes: &u64| found < SEVERAL || !passed.contains(bytes) || counts.contains_key(bytes);
        let trained: Vec<u64> = parameters.iter().copied().filter(is_trained).collect();
        let mut left: Vec<u64> = trained.iter().rev().copied().collect();
        take(&mut left, counts);
        left.reverse();
        Self { left, trained }
    }
}

/// Take the first of some sizes out, as many of each as there are counted.
pub(super) fn take(sizes: &mut Vec<u64>, mut counts: BTreeMap<u64, usize>) {
    sizes.retain(|bytes| match counts.get_mut(bytes) {
        Some(count) if *count != 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::Gradients;

    #[test]
    fn what_the_backward_passed_over_is_not_trained() {
        // Table, weight, two small ones beside it, weight, two small ones, head.
        let parameters = [90, 50, 7, 8, 50, 7, 8, 90];
        let Gradients { left, trained } = Gradients::of(&parameters, [90, 8, 7].into_iter());
        assert_eq!((left, trained), (vec![90, 50, 7, 8, 50], parameters.to_vec()));
        let Gradients { left, trained } = Gradients::of(&parameters, [8, 7, 8].into_iter());
        assert_eq!((left, trained), (vec![7], vec![7, 8, 7, 8]));
    }
}
