//! What all CSV output shares.

use crate::model::PoolKey;
use std::io;

/// The system's error as it was, so that a pipe that closed is still known as one.
pub(super) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Spreadsheets run cells that start like a formula.
pub(super) fn spreadsheet_safe(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t']) { format!("'{text}") } else { text.to_owned() }
}

/// Nothing where a number is not known.
pub(super) fn optional(n: Option<i64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

/// `0.0`; nothing where the pool is not known.
pub(super) fn pool(pool: Option<PoolKey>) -> String {
    pool.map_or_else(String::new, |PoolKey(a, b)| format!("{a}.{b}"))
}
