//! Formats of tables: one file each.

mod csv;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;

use super::cell::Cell;
use std::io;

pub(super) use csv::csv_writer;
pub(super) use jsonl::jsonl_writer;
#[cfg(feature = "parquet")]
pub(super) use parquet::parquet_writer;

/// Writes one table. Each row has a cell for every column, in order.
pub trait TableWriter {
    /// Write what comes before the first row.
    ///
    /// # Errors
    /// When writing fails.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Write the next cell of the row.
    ///
    /// # Errors
    /// When writing fails.
    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()>;

    /// End the row.
    ///
    /// # Errors
    /// When writing fails.
    fn end_row(&mut self) -> io::Result<()>;

    /// Write what is left, after the last row.
    ///
    /// # Errors
    /// When writing fails.
    fn finish(&mut self) -> io::Result<()>;
}
