//! Frames as text.

use crate::printable;
use oomscope_model::{Frame, FrameId, Snapshot};

/// A frame as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFrame {
    /// The full path, as it was recorded.
    pub file: String,
    /// The line, from 1; 0 if it is unknown.
    pub line: i64,
    /// The function.
    pub name: String,
    /// Whether the user says that this code is their own.
    pub is_own: bool,
}

/// The text of a frame, with control characters replaced.
pub fn site_frame(snapshot: &Snapshot, id: FrameId) -> SiteFrame {
    let Frame { file, line, name, .. } = snapshot.frames.get(id);
    let file = printable(snapshot, file);
    SiteFrame { is_own: snapshot.assumed.own_code.has(&file), file, line, name: printable(snapshot, name) }
}
