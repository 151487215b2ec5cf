//! How far a builder's tables go.

/// Lengths of a builder's tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) strings: usize,
    pub(super) frames: usize,
    pub(super) stacks: usize,
    pub(super) actions: usize,
    pub(super) pools: usize,
    pub(super) dimensions: usize,
    pub(super) dicts: usize,
    pub(super) lists: usize,
    pub(super) record_lists: usize,
}
