//! How far predictions of each remedy were off: one table, for what is stated beside them.

/// The share by which predictions of the peak of requested bytes were off, at most, in nineteen of twenty pairs: of the zoo
/// (`tests/zoo`) and, where it has none, of the programs that docs/fixes.md names.
const ERRORS: [(&str, f64); 22] = [
    ("adamw-foreach-false", 0.01),
    ("adamw-fused", 0.01),
    ("bf16-autocast", 0.35),
    ("bf16-model", 0.17),
    ("checkpoint-all", 0.17),
    ("checkpoint-half", 0.07),
    ("checkpoint-largest", 0.07),
    ("checkpoint-some", 0.07),
    ("chunk-loss", 0.13),
    ("detach", 0.08),
    ("eighth-batch", 0.03),
    ("eval-no-grad", 0.02),
    ("half-batch", 0.02),
    ("micro-batch", 0.03),
    ("no-copy", 0.05),
    ("offload-state", 0.01),
    ("quarter-batch", 0.03),
    ("save-on-cpu", 0.13),
    ("sdpa", 0.05),
    ("sgd", 0.01),
    ("sgd-momentum", 0.01),
    ("zero-grad-none", 0.01),
];

/// The same where the blocks of a model are unlike: then a library may checkpoint other parts than those that are found.
const OF_UNLIKE_BLOCKS: [(&str, f64); 3] =
    [("checkpoint-all", 0.43), ("checkpoint-half", 0.15), ("checkpoint-largest", 0.15)];

/// The error of a remedy for blocks that are unlike.
pub(super) fn of_unlike_blocks(id: &str) -> Option<f64> {
    OF_UNLIKE_BLOCKS.iter().find(|row| row.0 == id).map(|row| row.1)
}

/// The error of a remedy; `None` if it was not measured. Settings change no request.
pub(super) fn measured(id: &str) -> Option<f64> {
    if id.starts_with("set:") {
        return Some(0.0);
    }
    ERRORS.iter().find(|row| row.0 == id).map(|row| row.1)
}

/// A figure that may be off by more than a fifth is none to go by. Of the zoo's remedies, autocast is, and all checkpoints of unlike
/// blocks.
const NARROW: f64 = 0.2;

/// Whether an error is small enough to state a figure.
pub(super) fn is_narrow(error: Option<f64>) -> bool {
    error.is_some_and(|share| share <= NARROW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::FAMILIES;

    #[test]
    fn errors_are_of_remedies_that_there_are() {
        let ids: Vec<&str> = FAMILIES.iter().flat_map(|family| family.ids).copied().collect();
        assert!(
            ERRORS
                .iter()
                .chain(&OF_UNLIKE_BLOCKS)
                .all(|(id, share)| ids.contains(id) && (0.0..1.0).contains(share))
        );
        assert_eq!(measured("set:max_split_size_mb=64"), Some(0.0));
        assert_eq!(measured("shard-N"), None);
    }
}
