//! Reserved addresses as runs: ranges that touch are one.

use std::collections::BTreeMap;

/// A set of addresses.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The first address after each run, by its first. Runs neither overlap nor touch.
    ends: BTreeMap<u64, u64>,
}

impl Runs {
    /// Add the addresses from `from` up to `to`.
    pub(super) fn add(&mut self, mut from: u64, mut to: u64) {
        if to <= from {
            return;
        }
        while let Some((&start, &end)) = self.ends.range(..=to).next_back().filter(|&(_, &end)| from <= end) {
            self.ends.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.ends.insert(from, to);
    }

    /// Remove the addresses from `from` up to `to`.
    pub(super) fn remove(&mut self, from: u64, to: u64) {
        if to <= from {
            return;
        }
        while let Some((&start, &end)) = self.ends.range(..to).next_back().filter(|&(_, &end)| from < end) {
            self.ends.remove(&start);
            if start < from {
                self.ends.insert(start, from);
            }
            if to < end {
                self.ends.insert(to, end);
            }
        }
    }

    /// Whether all addresses from `from` up to `to` are in the set.
    pub(super) fn holds(&self, from: u64, to: u64) -> bool {
        self.ends.range(..=from).next_back().is_some_and(|(_, &end)| to <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_addresses(steps in proptest::collection::vec((any::<bool>(), 0u64..40, 0u64..12), 1..40)) {
            let (mut runs, mut set) = (Runs::default(), std::collections::BTreeSet::new());
            for (adds, from, length) in steps {
                if adds {
                    runs.add(from, from + length);
                    set.extend(from..from + length);
                } else {
                    runs.remove(from, from + length);
                    set.retain(|at| !(from..from + length).contains(at));
                }
                for from in 0..50 {
                    let to = from + 1 + length;
                    prop_assert_eq!(runs.holds(from, to), (from..to).all(|at| set.contains(&at)));
                }
            }
        }
    }
}
