//! Notes that two windows, or a window and an editor, changed at once.

use super::file::Note;

/// The notes after both sides' changes to `base`: what either removed is gone, what either added is there. The order is
/// that of `mine`, with the other's additions at the end.
pub fn merged(base: &[Note], mine: &[Note], theirs: &[Note]) -> Vec<Note> {
    let gone = |note: &Note| base.contains(note) && !theirs.contains(note);
    let new = |note: &&Note| !base.contains(note) && !mine.contains(note);
    let kept = mine.iter().filter(|note| !gone(note));
    kept.chain(theirs.iter().filter(new)).cloned().collect()
}
