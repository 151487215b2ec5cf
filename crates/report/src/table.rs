//! Columns of text, aligned as terminals show it.
//!
//! Widths are counted in the terminal's cells, not in characters: CJK characters and emoji take two
//! cells, combining marks none.

use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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

/// Fewest cells that a column of texts is cut to: the beginning of a name.
const LEAST_CUT: usize = 12;

/// Write rows, the first of which has the names of columns, in lines of at most `width` cells. Where they are wider, columns go in
/// the order of `may_go`, and a line below says which; then texts are cut.
pub(super) fn write_fitted(
    out: &mut dyn Write,
    width: Option<usize>,
    align: &[Align],
    may_go: &[usize],
    mut rows: Vec<Vec<String>>,
) -> io::Result<()> {
    let Some(width) = width else { return write(out, align, &rows) };
    let mut shown: Vec<usize> = (0..align.len()).collect();
    let mut gone: Vec<&str> = Vec::new();
    let names = rows.first().cloned().unwrap_or_default();
    for &column in may_go {
        if line_width(&rows, &shown) <= width {
            break;
        }
        shown.retain(|&other| other != column);
        gone.push(names.get(column).map_or("", |name| name.trim()));
    }
    cut_last(&mut rows, &shown, align, width);
    let align: Vec<Align> = shown.iter().map(|&column| align[column]).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| shown.iter().map(|&column| row[column].clone()).collect()).collect();
    write(out, &align, &rows)?;
    gone.retain(|name| !name.is_empty());
    if gone.is_empty() {
        return Ok(());
    }
    writeln!(out, "(not shown for want of room: {})", gone.join(", "))
}

/// The cells of a line with some columns.
fn line_width(rows: &[Vec<String>], shown: &[usize]) -> usize {
    let columns = shown.iter().map(|&column| width_of(rows, column)).filter(|&cells| cells != 0);
    columns.map(|cells| cells + 2).sum::<usize>().saturating_sub(2)
}

/// Cut columns of texts as far as lines are too wide, the last one first. The first column says what a row is about, so it is cut
/// only where it is the only text.
fn cut_last(rows: &mut [Vec<String>], shown: &[usize], align: &[Align], width: usize) {
    let mut texts: Vec<usize> =
        shown.iter().copied().filter(|&column| align[column] == Align::Left).collect();
    if 1 < texts.len() && texts.first() == Some(&0) {
        texts.remove(0);
    }
    for column in texts.into_iter().rev() {
        let excess = line_width(rows, shown).saturating_sub(width);
        if excess == 0 {
            break;
        }
        let room = width_of(rows, column).saturating_sub(excess).max(LEAST_CUT);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = cut(cell, room);
        }
    }
}

/// The beginning of a text, in at most so many cells.
pub(super) fn cut(text: &str, cells: usize) -> String {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if cells < used {
            let mut short = text[..at].to_owned();
            // Room for the ellipsis.
            while cells <= short.width() && short.pop().is_some() {}
            return format!("{}…", short.trim_end());
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(width: usize) -> String {
        let rows = [["site", "size", "pool", "event"], ["train.py:55 attention", "2 GiB", "(0, 0)", "412"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        let mut out = Vec::new();
        let align = [Align::Left, Align::Right, Align::Left, Align::Right];
        write_fitted(&mut out, Some(width), &align, &[2, 3], rows).expect("memory takes everything");
        String::from_utf8(out).expect("a table is text")
    }

    #[test]
    fn columns_go_in_order_where_lines_are_too_wide() {
        let whole =
            "site                    size  pool    event\ntrain.py:55 attention  2 GiB  (0, 0)    412\n";
        assert_eq!(fitted(43), whole);
        let narrower = "site                    size  event\ntrain.py:55 attention  2 GiB    412\n";
        assert_eq!(fitted(42), format!("{narrower}(not shown for want of room: pool)\n"));
        let narrow = "site                    size\ntrain.py:55 attention  2 GiB\n";
        assert_eq!(fitted(28), format!("{narrow}(not shown for want of room: pool, event)\n"));
    }

    #[test]
    fn what_is_still_too_wide_is_cut_to_the_beginning_of_a_name() {
        let lines = |width| fitted(width).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(24)[1], "train.py:55 atte…  2 GiB");
        assert_eq!(lines(10)[1], "train.py:55…  2 GiB", "no less than the least");
    }

    fn written(align: &[Align], rows: &[[&str; 2]]) -> String {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let mut out = Vec::new();
        write(&mut out, align, &rows).expect("memory takes everything");
        String::from_utf8(out).expect("a table is text")
    }

    #[test]
    fn a_long_text_is_cut_at_the_width() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("exactly so", 10), "exactly so");
        assert_eq!(cut("a little longer", 10), "a little…");
        assert_eq!(cut("模型模型模型", 7), "模型模…");
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
