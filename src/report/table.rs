//! Columns of text, aligned.

use std::io::{self, Write};

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Write rows of equally many cells, each column as wide as its widest cell.
pub(super) fn write(out: &mut dyn Write, align: &[Align], rows: &[Vec<String>]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), &align) in row.iter().zip(&widths).zip(align) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            match align {
                Align::Left => line.extend([cell.as_str(), &padding]),
                Align::Right => line.extend([&padding, cell.as_str()]),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
