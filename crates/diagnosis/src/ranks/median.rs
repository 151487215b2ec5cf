//! The median, in one way for all that compares ranks.

/// The median of what is in order; of an even number, the lower one of the two in the middle.
pub fn middle<T>(sorted: &[T]) -> Option<&T> {
    sorted.get(sorted.len().checked_sub(1)? / 2)
}
