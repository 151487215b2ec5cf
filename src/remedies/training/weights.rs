//! The sizes of a model's parameters.

use crate::analysis::Category;
use crate::remedies::scene::Scene;
use foldhash::HashMap;

/// How many parameters there are of each size.
#[derive(Debug, Default)]
pub(super) struct Weights(HashMap<u64, u32>);

impl Weights {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let mut out: HashMap<u64, u32> = HashMap::default();
        for id in scene.timeline.ids().filter(|&id| scene.category(id) == Category::Parameter) {
            *out.entry(scene.bytes(id)).or_default() += 1;
        }
        Self(out)
    }

    /// How many have a size.
    #[inline]
    pub(super) fn count(&self, bytes: u64) -> u32 {
        self.0.get(&bytes).copied().unwrap_or(0)
    }

    /// Whether some parameter has a size, or has it in a type of half the width.
    #[inline]
    pub(super) fn have(&self, bytes: u64) -> bool {
        self.count(bytes) != 0 || self.count(bytes.saturating_mul(2)) != 0
    }
}
