//! From rows to a writer.

use crate::interchange::column::{Column, ColumnInfo};
use crate::interchange::progress::Progress;
use crate::interchange::selection::Selection;
use crate::interchange::writers::TableWriter;
use std::io;

/// The place where a table puts its rows.
pub(super) struct Rows<'a, 'p> {
    pub(super) selection: &'a Selection<'a>,
    writer: &'a mut dyn TableWriter,
    progress: &'a mut Progress<'p>,
}

impl<'a, 'p> Rows<'a, 'p> {
    pub(super) fn new(
        selection: &'a Selection<'a>,
        writer: &'a mut dyn TableWriter,
        progress: &'a mut Progress<'p>,
    ) -> Self {
        Self { selection, writer, progress }
    }

    /// Write one row.
    pub(super) fn push<R>(&mut self, columns: &[Column<R>], row: &R) -> io::Result<()> {
        for column in columns {
            self.writer.cell((column.get)(self.selection, row))?;
        }
        self.progress.step();
        self.writer.end_row()
    }
}

/// The columns without their rows.
pub(super) fn infos<R>(columns: &[Column<R>]) -> Vec<ColumnInfo> {
    columns.iter().map(|column| column.info).collect()
}
