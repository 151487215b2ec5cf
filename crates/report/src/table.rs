//! Columns of text, aligned as terminals show it.
//!
//! Widths are counted in the terminal's cells, not in characters: CJK characters and emoji take two
//! cells, combining marks none.

use std::io::{self, Write};
use unicode_width::UnicodeWidthStr as _;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// The cells of the widest cell of a column.
pub(super) fn width_of(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter().filter_map(|row| Some(row.get(column)?.width())).max().unwrap_or(0)
}

/// Write rows, all with a cell for each column. A column is as wide as its widest cell.
pub(super) fn write(out: &mut dyn Write, align: &[Align], rows: &[Vec<String>]) -> io::Result<()> {
    debug_assert!(rows.iter().all(|row| row.len() == align.len()), "a cell for each column");
    let widths: Vec<usize> = (0..align.len()).map(|column| width_of(rows, column)).collect();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), &align) in row.iter().zip(&widths).zip(align) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            match align {
                Align::Left => line.extend([cell.as_str(), &padding]),
                Align::Right => line.extend([&padding, cell.as_str()]),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(align: &[Align], rows: &[[&str; 2]]) -> String {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let mut out = Vec::new();
        write(&mut out, align, &rows).expect("memory takes everything");
        String::from_utf8(out).expect("a table is text")
    }

    #[test]
    fn columns_line_up_where_characters_are_two_cells_wide_or_none() {
        let names = [["模型.py", "1"], ["train.py", "2"], ["🔥.py", "3"], ["e\u{301}.py", "4"]];
        assert_eq!(
            written(&[Align::Left, Align::Left], &names),
            "模型.py   1\ntrain.py  2\n🔥.py     3\ne\u{301}.py      4\n"
        );
        assert_eq!(
            written(&[Align::Right, Align::Left], &names),
            " 模型.py  1\ntrain.py  2\n   🔥.py  3\n    e\u{301}.py  4\n"
        );
    }
}
