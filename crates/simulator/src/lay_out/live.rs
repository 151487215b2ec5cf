//! What lives at the end of the requests: where it was, where it is, and the code that asked for it.

use oomscope_model::StackId;
use std::collections::BTreeMap;

/// The stacks of what lives at the end.
pub(super) struct Stacks {
    /// Of blocks, by address.
    pub(super) of_blocks: BTreeMap<u64, StackId>,
    /// Of the requests for segments and pages, by address.
    pub(super) of_segments: BTreeMap<u64, StackId>,
}

/// Where what lives at the end was, and where it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Moved(BTreeMap<u64, Live>);

/// An allocation that lives at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    /// Where it is.
    pub(super) addr: u64,
    /// Requested bytes.
    pub(super) size: u64,
}

impl Moved {
    pub(super) fn of(live: impl Iterator<Item = (u64, Live)>) -> Self {
        Self(live.collect())
    }

    /// Where the byte at an address of the requests is; `None` if nothing lives there.
    pub(super) fn address(&self, before: u64) -> Option<u64> {
        let (&start, live) = self.0.range(..=before).next_back()?;
        let offset = before - start;
        (offset < live.size.max(1)).then(|| live.addr.saturating_add(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_within_what_lives_move_with_it() {
        let live = |addr, size| Live { addr, size };
        let moved = Moved::of([(512, live(4096, 100)), (1024, live(8192, 0))].into_iter());
        let found = [511, 512, 611, 612, 1024, 1025].map(|before| moved.address(before));
        assert_eq!(found, [None, Some(4096), Some(4195), None, Some(8192), None]);
    }
}
