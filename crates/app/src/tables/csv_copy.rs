//! The button that copies rows as CSV.

use crate::theme;
use eframe::egui;
use oomscope_units as units;
use std::io::{self, Write};
use std::ops::Range;
use tr::tr;

/// Rows that are copied at most: a clipboard and a spreadsheet take them without complaint.
const MAX_ROWS: usize = 10_000;

/// Seconds for which the note about the copied rows stays.
const NOTE_S: f64 = 6.0;

/// A note about the rows that were copied, and the time of the copy in seconds.
#[derive(Debug, Default)]
pub(crate) struct Note {
    text: String,
    at: f64,
}

/// The first of the rows that are copied where there are too many for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Top,
    Cursor,
}

/// The button and its note. `write` writes a range of the `total` rows. If there are too many, the range
/// begins at row `from`, which the user knows as `place`.
pub(crate) fn ui(
    ui: &mut egui::Ui,
    note: &mut Note,
    total: usize,
    from: usize,
    place: From,
    write: impl FnOnce(&mut dyn Write, Range<usize>) -> io::Result<()>,
) {
    let most = units::count(MAX_ROWS as u64);
    let hint = match place {
        From::Top => tr!("Copy these rows as CSV, at most {} from the top on", most),
        From::Cursor => tr!("Copy these rows as CSV, at most {} from the cursor on", most),
    };
    let button = ui.add_enabled(total != 0, egui::Button::new(tr!("Copy as CSV"))).on_hover_text(hint);
    let now = ui.input(|input| input.time);
    if button.clicked() {
        let rows = rows_to_copy(total, from);
        let mut out = Vec::new();
        // Writing to memory does not fail, and CSV of text is text, so the text is there.
        let text = write(&mut out, rows.clone()).ok().and_then(|()| String::from_utf8(out).ok());
        note.text = match text {
            Some(text) => {
                ui.copy_text(text);
                describe(&rows, total, place)
            }
            None => tr!("The rows could not be copied"),
        };
        note.at = now;
    }
    if !note.text.is_empty() && now - note.at < NOTE_S {
        ui.label(theme::muted(ui, note.text.as_str()));
        ui.request_repaint_after(std::time::Duration::from_secs_f64(NOTE_S));
    }
}

fn rows_to_copy(total: usize, from: usize) -> Range<usize> {
    if total <= MAX_ROWS {
        return 0..total;
    }
    let from = from.min(total - 1);
    from..total.min(from + MAX_ROWS)
}

fn describe(rows: &Range<usize>, total: usize, place: From) -> String {
    let copied = units::count(rows.len() as u64);
    if rows.len() == total {
        return tr!("{copied} row copied" | "{copied} rows copied" % total, copied);
    }
    let all = units::count(total as u64);
    match place {
        From::Top => tr!("{copied} of {all} rows copied, from the top on", copied, all),
        From::Cursor => tr!("{copied} of {all} rows copied, from the cursor on", copied, all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_rows_are_copied_from_a_place_on() {
        assert_eq!(rows_to_copy(0, 0), 0..0);
        assert_eq!(rows_to_copy(10_000, 77), 0..10_000);
        assert_eq!(rows_to_copy(1_000_000, 77), 77..10_077);
        assert_eq!(rows_to_copy(1_000_000, 999_990), 999_990..1_000_000);
        assert_eq!(
            describe(&(77..10_077), 1_000_000, From::Cursor),
            "10,000 of 1,000,000 rows copied, from the cursor on"
        );
        assert_eq!(describe(&(0..3), 3, From::Top), "3 rows copied");
    }
}
