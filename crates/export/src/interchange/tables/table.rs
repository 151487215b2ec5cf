//! A table: its name, its columns and its rows.

use super::rows::Rows;
use crate::interchange::column::ColumnInfo;
use crate::interchange::progress::Progress;
use crate::interchange::selection::Selection;
use crate::interchange::writers::TableWriter;
use std::io;

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// Its rows, as a phrase.
    pub about: &'static str,
    pub(super) columns: fn() -> Vec<ColumnInfo>,
    /// The most rows that it has, for progress; a filter may leave some out.
    pub(super) count: fn(&Selection<'_>) -> u64,
    pub(super) write: fn(&mut Rows<'_, '_>) -> io::Result<()>,
}

impl Table {
    /// Its columns, in order.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        (self.columns)()
    }

    /// The most rows that it has: a filter may leave some out.
    pub fn count(&self, selection: &Selection<'_>) -> u64 {
        (self.count)(selection)
    }

    /// Write all rows.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(
        &self,
        selection: &Selection<'_>,
        writer: &mut dyn TableWriter,
        progress: &mut Progress<'_>,
    ) -> io::Result<()> {
        writer.begin()?;
        (self.write)(&mut Rows::new(selection, &mut *writer, progress))?;
        writer.finish()
    }
}
