//! Figures that rest on categories which are only inferred.

use super::finding::Finding;
use crate::figure::{self, Figure};
use crate::sentence::{Sentence, say};
use oomscope_analysis::InferredPart;
use oomscope_model::Bytes;

/// A size, marked if most of it is inferred.
pub(super) fn amount(bytes: Bytes, inferred_bytes: Bytes) -> Figure {
    figure::bytes(bytes).inferred(InferredPart::of(bytes, inferred_bytes).is_most())
}

impl Finding {
    /// Say how many of the bytes of a finding have a category that is only inferred, if any have.
    pub(super) fn limit_inferred(&mut self, what: &'static str, bytes: Bytes, inferred_bytes: Bytes) {
        let part = match InferredPart::of(bytes, inferred_bytes) {
            InferredPart::None => return,
            InferredPart::All => Sentence::from("all"),
            InferredPart::Less | InferredPart::Most => say!("{}", figure::bytes(inferred_bytes).of(bytes)),
        };
        self.limit(say!(
            "oomscope infers from sizes, numbers, order or places that {} of these are {}.",
            part,
            what
        ));
    }
}
