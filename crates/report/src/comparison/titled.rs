//! Tables with headings.

use crate::diagnosis::{Cell, Column, Table};

/// A table with its heading, and a remark below it.
pub(super) struct TitledTable {
    pub(super) title: &'static str,
    pub(super) table: Table,
    pub(super) remark: Option<String>,
}

pub(super) const fn text(title: &'static str) -> Column {
    Column { title, is_number: false }
}

pub(super) const fn number(title: &'static str) -> Column {
    Column { title, is_number: true }
}

pub(super) fn part(
    title: &'static str,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    remark: Option<String>,
) -> TitledTable {
    TitledTable { title, table: Table { style: None, columns, rows }, remark }
}
