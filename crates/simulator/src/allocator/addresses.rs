//! Addresses for memory that no recording has.

use crate::requests::FIRST_SIMULATED_ADDRESS;
use oomscope_model::allocator_sizes::ROUND_LARGE;
use std::collections::BTreeMap;

/// Where addresses that are used again end: drivers hand out addresses below it, falling.
const PAST_HIGHEST: u64 = 0x7f00_0000_0000;

/// The lowest of these addresses, 1 TiB.
const LOWEST: u64 = 1 << 40;

/// A source of addresses for segments.
#[derive(Debug, Clone)]
pub(super) enum Addresses {
    /// Rising ones that no recorded segment has, each once: this is the next.
    Fresh(u64),
    /// Falling ones as a driver hands out, again once they are free.
    Reused(Gaps),
}

impl Addresses {
    /// Addresses that no recorded segment has.
    pub(super) fn fresh() -> Self {
        Self::Fresh(FIRST_SIMULATED_ADDRESS)
    }

    /// Addresses like those of recorded segments.
    pub(super) fn reused() -> Self {
        Self::Reused(Gaps::default())
    }

    /// An address for so many bytes; `None` if there is none left.
    pub(super) fn take(&mut self, size: u64) -> Option<u64> {
        match self {
            Self::Fresh(next) => {
                let addr = *next;
                let past = addr.checked_add(size.next_multiple_of(ROUND_LARGE.unsigned_abs()));
                // Absurd sizes use up all addresses; then it does not matter that some are given out again.
                *next = past.filter(|&past| past < u64::MAX >> 1).unwrap_or(FIRST_SIMULATED_ADDRESS);
                Some(addr)
            }
            Self::Reused(gaps) => gaps.take(size),
        }
    }

    /// Nothing is at an address any more.
    pub(super) fn give_back(&mut self, addr: u64, size: u64) {
        if let Self::Reused(gaps) = self {
            gaps.give_back(addr, size);
        }
    }
}

/// The ranges of addresses where nothing is: their first addresses, and those behind their last.
#[derive(Debug, Clone)]
pub(super) struct Gaps(BTreeMap<u64, u64>);

impl Default for Gaps {
    fn default() -> Self {
        Self(BTreeMap::from([(LOWEST, PAST_HIGHEST)]))
    }
}

impl Gaps {
    /// The upper end of the highest gap that has room.
    fn take(&mut self, size: u64) -> Option<u64> {
        let size = size.checked_next_multiple_of(ROUND_LARGE.unsigned_abs())?;
        let (start, past) =
            self.0.iter().rev().map(|(&start, &past)| (start, past)).find(|gap| size <= gap.1 - gap.0)?;
        self.0.remove(&start);
        if start < past - size {
            self.0.insert(start, past - size);
        }
        Some(past - size)
    }

    /// Make a gap of what was taken, joined with the gaps beside it.
    fn give_back(&mut self, addr: u64, size: u64) {
        let past = addr.saturating_add(size.next_multiple_of(ROUND_LARGE.unsigned_abs()));
        let past = self.0.remove(&past).unwrap_or(past);
        let before = self.0.range(..addr).next_back().filter(|before| *before.1 == addr);
        let start = before.map_or(addr, |(&start, _)| start);
        self.0.insert(start, past);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = ROUND_LARGE.unsigned_abs();

    #[test]
    fn addresses_fall_and_are_used_again() {
        let mut addresses = Addresses::reused();
        let [a, b, c] = [PAGE, 3 * PAGE, 1].map(|size| addresses.take(size).expect("there is room"));
        assert_eq!([a, b, c], [1, 4, 5].map(|pages| PAST_HIGHEST - pages * PAGE));
        addresses.give_back(b, 3 * PAGE);
        assert_eq!(addresses.take(2 * PAGE), Some(b + PAGE));
        assert_eq!(addresses.take(2 * PAGE), Some(c - 2 * PAGE));
        assert_eq!(addresses.take(PAGE), Some(b));
    }

    #[test]
    fn what_is_given_back_is_one_gap_again() {
        let mut gaps = Gaps::default();
        let taken: Vec<u64> = (0..4).filter_map(|_| gaps.take(PAGE)).collect();
        for at in [1, 3, 0, 2] {
            gaps.give_back(taken[at], PAGE);
        }
        assert_eq!(gaps.0, Gaps::default().0);
    }

    #[test]
    fn more_than_there_is_has_no_address() {
        let mut addresses = Addresses::reused();
        assert_eq!([PAST_HIGHEST, u64::MAX].map(|size| addresses.take(size)), [None; 2]);
        assert_eq!(addresses.take(PAST_HIGHEST - LOWEST), Some(LOWEST));
        assert_eq!(addresses.take(PAGE), None);
    }
}
