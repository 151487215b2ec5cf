//! Cells and errors that all CSV outputs share.

use oomscope_model::PoolKey;
use oomscope_units as units;
use std::borrow::Cow;
use std::io;

/// The system's error inside an error of the CSV writer. Callers end silently when a pipe was closed, which they
/// recognise by this error.
pub fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Text that spreadsheets do not run, since they take cells that start like this for formulas, and terminals do not obey.
/// Line breaks stay, between quotes.
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c != '\n' && units::is_unprintable(c);
    let text = if text.contains(is_obeyed) {
        Cow::Owned(text.replace(is_obeyed, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    };
    if text.starts_with(['=', '+', '-', '@']) { Cow::Owned(format!("'{text}")) } else { text }
}

/// A number; empty if unknown.
pub(super) fn optional(n: Option<i64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

/// A pool: `0.0`; empty if unknown.
pub(super) fn pool(pool: Option<PoolKey>) -> String {
    pool.map_or_else(String::new, |PoolKey(a, b)| format!("{a}.{b}"))
}
