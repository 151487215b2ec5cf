//! What stood in for values that an estimate could not know, in words.

use oomscope_model::{EstimateNote, Snapshot};
use oomscope_units as units;

/// The most notes that are listed; JSON has all.
const MAX_LISTED: usize = 5;

/// A line for each note of an estimate, up to a few, and one for those left out; none where a device recorded the file.
pub fn stand_ins(snapshot: &Snapshot) -> Vec<String> {
    let notes = snapshot.estimate().map(|estimate| estimate.notes).unwrap_or_default();
    let mut lines: Vec<String> = notes.iter().take(MAX_LISTED).map(line).collect();
    if let Some(more) = notes.len().checked_sub(MAX_LISTED).filter(|&more| 0 < more) {
        lines.push(format!("… {} more in the JSON", units::count(more as i64)));
    }
    lines
}

/// `stands in: topk() of values that are not known: normal numbers (train.py:9, 3 times)`.
fn line(note: &EstimateNote<'_>) -> String {
    let place = units::printable(units::basename(note.place));
    let times = (note.count != 1).then(|| format!("{} times", units::count(note.count)));
    let about: Vec<String> = (!place.is_empty()).then_some(place).into_iter().chain(times).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
    format!("stands in: {}{about}", units::printable(note.what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_where_and_how_often() {
        let of = |what, place, count| line(&EstimateNote { what, place, count });
        assert_eq!(of("nonzero()", "/home/me/train.py:9", 3), "stands in: nonzero() (train.py:9, 3 times)");
        assert_eq!(of("nonzero()", "train.py:9", 1), "stands in: nonzero() (train.py:9)");
        assert_eq!(of("nonzero()", "", 1), "stands in: nonzero()");
        assert_eq!(of("a\u{1b}b", "", i64::MIN).matches('\u{1b}').count(), 0);
    }
}
