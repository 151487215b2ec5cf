//! How far a statement rests on categories that are only inferred.

use super::{Context, Finding};
use crate::analysis::{Basis, Category, InferredPart};
use crate::model::Allocation;
use crate::units;

impl Context<'_> {
    /// Requested bytes of some allocations whose categories are only inferred.
    pub fn inferred_bytes<'a>(&self, allocations: impl IntoIterator<Item = &'a Allocation>) -> i64 {
        let categories = &self.attribution.categories;
        let inferred = allocations.into_iter().filter(|a| categories.basis(a.id) == Basis::Inferred);
        inferred.fold(0, |sum, a| sum.saturating_add(a.size))
    }

    /// Those of what is live of a category.
    pub fn inferred_bytes_of(&self, category: Category) -> i64 {
        self.inferred_bytes(self.live.iter().filter(|a| self.category(a.id) == category))
    }
}

impl Finding {
    /// Say how much of the bytes that a finding is about has a category that is only inferred; nothing where none has.
    pub fn limit_inferred(&mut self, what: &str, bytes: i64, inferred_bytes: i64) {
        if inferred_bytes <= 0 {
            return;
        }
        let part = if inferred_bytes == bytes { "all".to_owned() } else { units::bytes(inferred_bytes) };
        self.limit(format!(
            "oomscope infers from sizes, numbers, order or places that {part} of these are {what}."
        ));
    }
}

/// Adam at 32 bits beside parameters of 16 keeps four times their bytes, and may keep a copy of them. If sizes suggest
/// more, they are misread.
pub(super) const MOST_STATE_TIMES: f64 = 7.0;

/// A size of which most is inferred is marked as such.
pub(super) fn amount(bytes: i64, inferred_bytes: i64) -> String {
    let mark = if InferredPart::of(bytes, inferred_bytes).is_most() { "≈ " } else { "" };
    format!("{mark}{}", units::bytes(bytes))
}
