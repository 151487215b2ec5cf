//! A frame as text.

use crate::model::{Frame, FrameId, Snapshot};
use crate::units;

/// A frame as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFrame {
    /// Full path as recorded.
    pub file: String,
    /// Line from 1; 0 where it is not known.
    pub line: i64,
    /// Function.
    pub name: String,
}

/// The text of a frame, control characters replaced.
pub fn site_frame(snapshot: &Snapshot, id: FrameId) -> SiteFrame {
    let Frame { file, line, name, .. } = snapshot.frames.get(id);
    SiteFrame {
        file: units::printable(&snapshot.strings.get(file)),
        line,
        name: units::printable(&snapshot.strings.get(name)),
    }
}
