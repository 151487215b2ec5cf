//! Rows of texts as aligned columns.

use super::csv_text::io_error;
use super::table::{self, Align};
use std::io::{self, Write};

/// Write rows of equal length, the first of which has the names. Columns of numbers are aligned to the right.
///
/// # Errors
/// When writing fails.
pub fn columns_text(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let Some((names, values)) = rows.split_first() else { return Ok(()) };
    let is_number = |text: &String| text.parse::<f64>().is_ok();
    let align = |column: usize| {
        let mut cells =
            values.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        if cells.peek().is_some() && cells.all(is_number) { Align::Right } else { Align::Left }
    };
    let align: Vec<Align> = (0..names.len()).map(align).collect();
    table::write(out, &align, rows)
}

/// Writes rows of texts as CSV, as they are.
pub struct CsvRows<'o>(csv::Writer<&'o mut (dyn Write + 'o)>);

impl<'o> CsvRows<'o> {
    /// Nothing is written yet.
    pub fn new(out: &'o mut (dyn Write + 'o)) -> Self {
        Self(csv::Writer::from_writer(out))
    }

    /// Write a row.
    ///
    /// # Errors
    /// When writing fails.
    pub fn row(&mut self, cells: impl Iterator<Item = String>) -> io::Result<()> {
        self.0.write_record(cells).map_err(io_error)
    }

    /// Write what is left.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::columns_text;

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["site", "bytes", "note"]), row(["a.py:1", "7", "x"]), row(["b", "1200", ""])];
        let mut out = Vec::new();
        columns_text(&mut out, &rows).expect("memory can be written");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "site    bytes  note\na.py:1      7  x\nb        1200\n");
    }
}
