//! How surely a category is known.

use super::worded::worded;

worded! {
    /// The kind of evidence that a category rests on, surest first.
    Basis
    /// Its meaning in a few words, for people.
    explains

    /// The user, the program or the recording declares it.
    Declared "declared" "you, the program or the recording say so";
    /// A frame of the stack, or the pool, shows it.
    Seen "seen" "a frame of its stack, or its pool, says so";
    /// The events around the allocation show it: when it was freed, and by what.
    Followed "followed" "the events around it say so";
    /// Sizes, counts, order or addresses suggest it.
    Inferred "inferred" "sizes, numbers, order or places suggest it";
    /// No evidence was found.
    Unknown "unknown" "nothing tells";
}

impl Basis {
    /// The basis with that key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.key().eq_ignore_ascii_case(key))
    }
}
