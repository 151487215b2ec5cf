//! Cells and errors that all CSV outputs share.

use crate::model::PoolKey;
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

/// Text that spreadsheets do not run: they take cells that start like this for formulas.
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t']);
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// A number; empty if unknown.
pub(super) fn optional(n: Option<i64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

/// A pool: `0.0`; empty if unknown.
pub(super) fn pool(pool: Option<PoolKey>) -> String {
    pool.map_or_else(String::new, |PoolKey(a, b)| format!("{a}.{b}"))
}
