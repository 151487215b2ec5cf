//! What rules found so far. What the user, the program or the recording declared stays as it is.

use super::{Category, Reason, Verdict};
use crate::model::AllocId;

/// The verdict of each allocation while rules write them.
#[derive(Debug, Default)]
pub(super) struct Verdicts(Vec<Verdict>);

impl Verdicts {
    /// The verdict so far.
    #[inline]
    pub(super) fn get(&self, id: AllocId) -> Verdict {
        self.0.get(id.index()).copied().unwrap_or((Category::Unknown, Reason::Nothing))
    }

    /// Whether an allocation has a category so far.
    #[inline]
    pub(super) fn is(&self, id: AllocId, category: Category) -> bool {
        self.get(id).0 == category
    }

    /// Write a verdict, unless one was declared. No rule needs to ask for that itself.
    #[inline]
    pub(super) fn set(&mut self, id: AllocId, verdict: Verdict) {
        if let Some(slot) = self.0.get_mut(id.index()).filter(|slot| !slot.1.is_declared()) {
            *slot = verdict;
        }
    }

    pub(super) fn into_inner(self) -> Vec<Verdict> {
        self.0
    }
}

impl FromIterator<Verdict> for Verdicts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        Self(verdicts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_declared_stays() {
        let declared = [Reason::Rule, Reason::Recorded, Reason::Annotated];
        let mut verdicts: Verdicts =
            declared.into_iter().chain([Reason::Loader]).map(|reason| (Category::Input, reason)).collect();
        let found = (Category::KvCache, Reason::CacheBlocks);
        (0..4).for_each(|id| verdicts.set(AllocId(id), found));
        let kept: Vec<Verdict> = declared.map(|reason| (Category::Input, reason)).into();
        assert_eq!(verdicts.into_inner(), [kept, vec![found]].concat());
    }
}
