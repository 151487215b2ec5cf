//! The sizes of a model's parameters.

use super::run::Run;
use crate::analysis::Category;
use foldhash::HashMap;

/// How many parameters there are of each size.
#[derive(Debug, Default)]
pub(super) struct Weights(HashMap<u64, u32>);

impl Weights {
    pub(super) fn of(run: &Run<'_>) -> Self {
        let mut out: HashMap<u64, u32> = HashMap::default();
        for id in run.timeline.ids().filter(|&id| run.category(id) == Category::Parameter) {
            *out.entry(run.bytes(id)).or_default() += 1;
        }
        Self(out)
    }

    /// How many have a size.
    #[inline]
    pub(super) fn count(&self, bytes: u64) -> u32 {
        self.0.get(&bytes).copied().unwrap_or(0)
    }

    /// Bytes of all of them.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().fold(0, |sum, (&bytes, &count)| bytes.saturating_mul(count.into()).saturating_add(sum))
    }

    /// Whether some parameter has a size, or has it in a type of half the width.
    #[inline]
    pub(super) fn have(&self, bytes: u64) -> bool {
        self.count(bytes) != 0 || self.count(bytes.saturating_mul(2)) != 0
    }
}
