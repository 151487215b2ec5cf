//! All tables as one database of `SQLite`, and questions about it in SQL.

mod answers;
mod rows;

pub use answers::{SqlAnswer, SqlError, SqlValue, ask, rows_for};

use super::progress::Progress;
use super::selection::Selection;
use super::tables::{TABLES, Table};
use rows::write_table;
use rusqlite::Connection;
use std::io::{self, Write};

/// Write all tables as a database. It is made in a temporary file, as a database is not written from its beginning to its end.
///
/// # Errors
/// When the temporary file or the output cannot be written.
pub(super) fn sqlite(
    selection: &Selection<'_>,
    out: &mut (dyn Write + Send),
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let connection = Connection::open(file.path()).map_err(io::Error::other)?;
    fill(&connection, selection, &TABLES, progress)?;
    connection.close().map_err(|(_, error)| io::Error::other(error))?;
    io::copy(&mut file.reopen()?, out)?;
    Ok(())
}

/// Put tables into a database that nobody else has open.
fn fill(
    connection: &Connection,
    selection: &Selection<'_>,
    tables: &[&Table],
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    // A database that is not finished is thrown away, so that nothing has to be brought back.
    let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN";
    connection.execute_batch(settings).map_err(io::Error::other)?;
    for table in tables {
        write_table(connection, table, selection, progress)?;
    }
    connection.execute_batch("COMMIT").map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
