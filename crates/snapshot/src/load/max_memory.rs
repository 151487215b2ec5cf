//! How much memory a load may take, where the user says so.

use oomscope_pickle::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

/// What every load of this process may take, in bytes; 0 until the user says so.
static MAX_MEMORY_BYTES: AtomicU64 = AtomicU64::new(0);

/// Let every load of this process take this much memory, in bytes, instead of what is in proportion to its input. It counts
/// what is kept while a file is read; an answer takes up to four times that.
pub fn set_max_memory(bytes: u64) {
    MAX_MEMORY_BYTES.store(bytes, Ordering::Relaxed);
}

/// What an input may take of which so many bytes were read. `asked` is what the user allows this load; 0 if nothing is said.
pub(super) fn bound(stored: u64, asked: u64) -> Bound {
    let bound = Bound::of_stored(stored);
    match [asked, MAX_MEMORY_BYTES.load(Ordering::Relaxed)] {
        [0, 0] => bound,
        [0, bytes] | [bytes, _] => bound.with_memory(bytes),
    }
}

/// The memory to allow where an input met a bound, in bytes: twice what it met, and a round number.
pub(super) fn more_than(bytes: u64) -> u64 {
    bytes.saturating_mul(2).checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// A number of bytes as `--max-memory` takes it.
pub(super) fn argument(bytes: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1 << 30, "GiB"), (1 << 20, "MiB")];
    let unit = UNITS.into_iter().find(|(size, _)| bytes.is_multiple_of(*size));
    unit.map_or_else(|| bytes.to_string(), |(size, name)| format!("{}{name}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_bound_is_a_round_size_of_at_least_twice_as_much() {
        let next = |bytes| argument(more_than(bytes));
        assert_eq!([next(137_040_328), next(600 << 20), next(16 << 30)], ["512MiB", "2GiB", "32GiB"]);
        assert_eq!(next(1000), "2048");
        assert_eq!(more_than(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_load_that_may_take_more_is_bounded_by_that_alone() {
        assert_eq!(bound(10, 0), Bound::of_stored(10));
        assert_eq!(bound(10, 1 << 40), Bound::of_stored(10).with_memory(1 << 40));
    }
}
