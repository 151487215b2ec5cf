//! How far a number of bytes rests on categories that are only inferred: the one place that decides what is marked `≈`.

use oomscope_model::Bytes;

/// How much of some bytes has a category that is only inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferredPart {
    /// Nothing.
    None,
    /// At most half.
    Less,
    /// More than half.
    Most,
    /// Everything.
    All,
}

impl InferredPart {
    /// The part that `inferred_bytes` are of `bytes`.
    pub fn of(bytes: Bytes, inferred_bytes: Bytes) -> Self {
        match inferred_bytes {
            _ if inferred_bytes <= 0 => Self::None,
            _ if inferred_bytes == bytes => Self::All,
            _ if bytes / 2 < inferred_bytes => Self::Most,
            _ => Self::Less,
        }
    }

    /// Whether more than half is inferred.
    pub fn is_most(self) -> bool {
        matches!(self, Self::Most | Self::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_not_most() {
        let parts =
            [0, 1, 4, 5, 7, 8].map(|inferred_bytes| InferredPart::of(Bytes(8), Bytes(inferred_bytes)));
        use InferredPart::{All, Less, Most, None};
        assert_eq!(parts, [None, Less, Less, Most, Most, All]);
        assert_eq!(InferredPart::of(Bytes::ZERO, Bytes::ZERO), None);
    }
}
