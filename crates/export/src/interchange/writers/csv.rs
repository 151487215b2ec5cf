//! Tables as CSV (RFC 4180): a header line, `\n` between rows, empty fields for unknown values.

use super::TableWriter;
use crate::interchange::cell::Cell;
use crate::interchange::column::ColumnInfo;
use oomscope_report::{csv_error, spreadsheet_safe};
use std::io::{self, Write};

/// Bytes that are kept until they are written. Each time, the writer looks through the rest of the text for quotes: with few bytes,
/// a text of megabytes would take seconds.
const BUFFER_BYTES: usize = 1 << 20;

struct Csv<'a> {
    out: csv::Writer<&'a mut (dyn Write + Send)>,
    names: Vec<&'static str>,
    /// Digits of a number, kept to save an allocation for each.
    text: String,
}

/// A writer of CSV.
pub(in crate::interchange) fn csv_writer<'a>(
    out: &'a mut (dyn Write + Send),
    columns: &[ColumnInfo],
) -> Box<dyn TableWriter + 'a> {
    let names = columns.iter().map(|column| column.name).collect();
    let out = csv::WriterBuilder::new().buffer_capacity(BUFFER_BYTES).from_writer(out);
    Box::new(Csv { out, names, text: String::new() })
}

impl Csv<'_> {
    fn field(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        use std::fmt::Write as _;
        self.text.clear();
        // Memory takes all text.
        self.text.write_fmt(text).ok();
        self.out.write_field(&self.text).map_err(csv_error)
    }
}

impl TableWriter for Csv<'_> {
    fn begin(&mut self) -> io::Result<()> {
        self.out.write_record(&self.names).map_err(csv_error)
    }

    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match cell {
            Cell::Null => self.out.write_field("").map_err(csv_error),
            Cell::Int(number) => self.field(format_args!("{number}")),
            Cell::Address(number) => self.field(format_args!("{number}")),
            Cell::Bool(value) => {
                self.out.write_field(if value { "true" } else { "false" }).map_err(csv_error)
            }
            Cell::Pool(pool) => self.field(format_args!("({}, {})", pool.0, pool.1)),
            Cell::Text(text) => self.out.write_field(&*spreadsheet_safe(&text)).map_err(csv_error),
        }
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.out.write_record(None::<&[u8]>).map_err(csv_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
