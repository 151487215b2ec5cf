//! What every document says of a damaged file.

use oomscope_model::Snapshot;
use oomscope_units as units;
use serde::Serialize;

/// The damage of a file, as JSON has it: null for a file that is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DamageRecord {
    /// Bytes of the decompressed input before the damage.
    offset: u64,
    reason: String,
}

impl DamageRecord {
    /// The damage of a snapshot's file, if there is any.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        snapshot.damage.as_ref().map(|damage| Self { offset: damage.offset, reason: damage.reason.clone() })
    }
}

/// A line that says that a file is damaged and where; `None` for a file that is whole.
pub(super) fn damage_line(snapshot: &Snapshot) -> Option<String> {
    let offset = units::count(snapshot.damage.as_ref()?.offset);
    Some(format!("The file is damaged at byte {offset}; only what is whole before it is shown"))
}
