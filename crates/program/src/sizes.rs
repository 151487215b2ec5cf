//! How many blocks there are of each size, which tells sets of weights from others.

use super::run::Run;
use oomscope_model::{AllocId, SaturatingSum as _};
use std::collections::BTreeMap;

/// Numbers of blocks by their bytes.
#[derive(Debug, Clone, Default)]
pub struct Sizes(BTreeMap<u64, u32>);

impl Sizes {
    /// The sizes of some allocations.
    pub fn of(run: &Run<'_>, ids: impl IntoIterator<Item = AllocId>) -> Self {
        let mut out = Self::default();
        for id in ids {
            out.add(run.bytes(id));
        }
        out
    }

    /// Add a block.
    pub fn add(&mut self, bytes: u64) {
        *self.0.entry(bytes).or_default() += 1;
    }

    /// Of each size, at least as many as others have.
    pub(super) fn raise_to(&mut self, other: &Self) {
        for (&bytes, &count) in &other.0 {
            let most = self.0.entry(bytes).or_default();
            *most = count.max(*most);
        }
    }

    /// How many have a size.
    #[inline]
    pub fn count(&self, bytes: u64) -> u32 {
        self.0.get(&bytes).copied().unwrap_or(0)
    }

    /// How many different sizes there are.
    pub fn different(&self) -> usize {
        self.0.len()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.bytes_of(|_, count| count)
    }

    /// Bytes that both have in blocks of the same sizes.
    pub fn shared_bytes(&self, other: &Self) -> u64 {
        self.bytes_of(|bytes, count| count.min(other.count(bytes)))
    }

    /// The bytes of as many blocks of each size as `counted` says, given the size and how many there are.
    pub(super) fn bytes_of(&self, counted: impl Fn(u64, u32) -> u32) -> u64 {
        let bytes = self.0.iter().map(|(&bytes, &count)| bytes.saturating_mul(counted(bytes, count).into()));
        bytes.saturating_sum()
    }
}
