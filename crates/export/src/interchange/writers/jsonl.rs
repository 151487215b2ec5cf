//! Tables as JSON lines: an object per row, with every column in each.

use super::TableWriter;
use crate::interchange::cell::Cell;
use crate::interchange::column::ColumnInfo;
use oomscope_report::write_json_text;
use std::io::{self, Write};

struct JsonLines<'a> {
    out: &'a mut (dyn Write + Send),
    columns: Vec<&'static str>,
    /// The next column.
    at: usize,
}

/// A writer of JSON lines.
pub(in crate::interchange) fn jsonl_writer<'a>(
    out: &'a mut (dyn Write + Send),
    columns: &[ColumnInfo],
) -> Box<dyn TableWriter + 'a> {
    let columns = columns.iter().map(|column| column.name).collect();
    Box::new(JsonLines { out, columns, at: 0 })
}

impl TableWriter for JsonLines<'_> {
    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()> {
        let before = if self.at == 0 { '{' } else { ',' };
        let name = self.columns.get(self.at).copied().unwrap_or_default();
        write!(self.out, "{before}\"{name}\":")?;
        self.at += 1;
        match cell {
            Cell::Null => self.out.write_all(b"null"),
            Cell::Int(number) => write!(self.out, "{number}"),
            Cell::Address(number) => write!(self.out, "{number}"),
            Cell::Bool(value) => write!(self.out, "{value}"),
            Cell::Pool(pool) => write!(self.out, "\"({}, {})\"", pool.0, pool.1),
            Cell::Text(text) => write_json_text(self.out, &text),
        }
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.at = 0;
        self.out.write_all(b"}\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
