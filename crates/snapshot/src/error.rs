//! Reasons why a pickle is not a snapshot.

use thiserror::Error;

/// The pickle was read, but it holds something else.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A dict without any of the keys of a snapshot.
    #[error("expected a dict with the key 'segments' or 'device_traces', found {}", describe_keys(.keys))]
    NoSnapshotKeys {
        /// The keys that it has instead, the first few of them.
        keys: Vec<String>,
    },
    /// Another object.
    #[error(
        "expected a dict with the key 'segments' or 'device_traces', or a list of segments, found {found}"
    )]
    WrongRoot {
        /// The Python type that was found.
        found: String,
    },
    /// Damage came before anything that could be used.
    #[error("nothing usable before byte {offset}: {reason}")]
    NothingUsable {
        /// Offset of the damage.
        offset: u64,
        /// The reason for the damage.
        reason: String,
    },
}

fn describe_keys(keys: &[String]) -> String {
    if keys.is_empty() {
        return "an empty dict".to_owned();
    }
    format!(
        "a dict with the keys {}",
        keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ")
    )
}
