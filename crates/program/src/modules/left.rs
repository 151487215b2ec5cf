//! What a forward would keep if some of it were checkpointed.

/// What is left of a part of a forward, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// What is kept as before, and the result of each block.
    kept: u64,
    /// All that the largest block keeps: its backward computes it again.
    largest: u64,
}

impl Left {
    /// Something that is no block.
    pub(super) fn whole(kept: u64) -> Self {
        Self { kept, largest: 0 }
    }

    /// A block, given the bytes of its result and of all that it keeps.
    pub(super) fn block(result: u64, all: u64) -> Self {
        Self { kept: result, largest: all }
    }

    /// Two parts of one forward.
    pub(super) fn and(self, other: Self) -> Self {
        Self { kept: self.kept.saturating_add(other.kept), largest: self.largest.max(other.largest) }
    }

    /// All of it, in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.kept.saturating_add(self.largest)
    }
}
