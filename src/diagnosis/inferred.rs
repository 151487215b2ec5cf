//! Figures that rest on categories which are only inferred.

use super::finding::Finding;
use crate::analysis::InferredPart;
use crate::units;

/// A size as text, marked if most of it is inferred.
pub(super) fn amount(bytes: i64, inferred_bytes: i64) -> String {
    let mark = if InferredPart::of(bytes, inferred_bytes).is_most() { "≈ " } else { "" };
    format!("{mark}{}", units::bytes(bytes))
}

impl Finding {
    /// Say how many of the bytes of a finding have a category that is only inferred, if any have.
    pub(super) fn limit_inferred(&mut self, what: &str, bytes: i64, inferred_bytes: i64) {
        let part = match InferredPart::of(bytes, inferred_bytes) {
            InferredPart::None => return,
            InferredPart::All => "all".to_owned(),
            InferredPart::Less | InferredPart::Most => units::bytes(inferred_bytes),
        };
        self.limit(format!(
            "oomscope infers from sizes, numbers, order or places that {part} of these are {what}."
        ));
    }
}
