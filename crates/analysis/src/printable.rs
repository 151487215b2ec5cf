//! Texts of a file as they are shown: safe for a terminal or a label, and bounded.

use oomscope_model::{Snapshot, StrId};
use oomscope_units as units;
use std::borrow::Cow;

/// A text of a file on one line; see [`units::printable`].
pub fn printable(snapshot: &Snapshot, text: StrId) -> String {
    units::printable_bytes(snapshot.strings.whole_bytes(text))
}

/// A text of a file with its lines; see [`units::printable_lines`].
pub fn printable_lines(snapshot: &Snapshot, text: StrId) -> String {
    units::printable_lines(snapshot.strings.whole_bytes(text))
}

/// A text of a file as it was recorded, for formats that escape what terminals obey; a long one as it is shown.
pub fn recorded(snapshot: &Snapshot, text: StrId) -> Cow<'_, str> {
    let bytes = snapshot.strings.whole_bytes(text);
    if units::is_shown_whole(bytes) {
        String::from_utf8_lossy(bytes)
    } else {
        Cow::Owned(printable(snapshot, text))
    }
}
