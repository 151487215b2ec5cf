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

/// Fewest cells that texts are cut to, behind their indent: the beginning of a name.
const LEAST_CUT: usize = 12;

/// Write rows, the first of which has the names of columns, in lines of at most `width` cells. Where they are wider, columns go:
/// empty ones, and others in the order of `may_go`. A line below says which. What is still too wide are texts, which are cut.
pub(super) fn write_fitted(
    out: &mut dyn Write,
    width: Option<usize>,
    align: &[Align],
    may_go: &[usize],
    mut rows: Vec<Vec<String>>,
) -> io::Result<()> {
    let Some(width) = width else { return write(out, align, &rows) };
    let gone = gone(&rows, align.len(), may_go, width);
    let shown: Vec<usize> = (0..align.len()).filter(|column| !gone.contains(column)).collect();
    cut_texts(&mut rows, &shown, align, width);
    let names: Vec<String> =
        gone.iter().filter_map(|&column| Some(rows.first()?.get(column)?.trim().to_owned())).collect();
    let align: Vec<Align> = shown.iter().map(|&column| align[column]).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| shown.iter().map(|&column| row[column].clone()).collect()).collect();
    write(out, &align, &rows)?;
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "(the terminal is too narrow for: {})", names.join(" · "))
}

/// The columns for which there is no room.
fn gone(rows: &[Vec<String>], columns: usize, may_go: &[usize], width: usize) -> Vec<usize> {
    let is_empty = |&column: &usize| rows.iter().skip(1).all(|row| row[column].is_empty());
    let empty = (1..columns).filter(is_empty);
    let order: Vec<usize> = empty.chain(may_go.iter().copied().filter(|column| !is_empty(column))).collect();
    let fits = |gone: &[usize]| {
        let shown: Vec<usize> = (0..columns).filter(|column| !gone.contains(column)).collect();
        line_width(rows, &shown) <= width
    };
    let mut gone: Vec<usize> = Vec::new();
    for column in order {
        if fits(&gone) {
            break;
        }
        gone.push(column);
    }
    // What went before a wide column may have room without it.
    for at in (0..gone.len()).rev() {
        let others: Vec<usize> = gone.iter().copied().filter(|&other| other != gone[at]).collect();
        if fits(&others) {
            gone.remove(at);
        }
    }
    gone
}

/// The cells of a line with some columns.
fn line_width(rows: &[Vec<String>], shown: &[usize]) -> usize {
    let columns = shown.iter().map(|&column| width_of(rows, column)).filter(|&cells| cells != 0);
    columns.map(|cells| cells + 2).sum::<usize>().saturating_sub(2)
}

/// Cut texts to the largest width with which lines are not too wide, as far as names can be cut.
fn cut_texts(rows: &mut [Vec<String>], shown: &[usize], align: &[Align], width: usize) {
    let texts: Vec<usize> = shown.iter().copied().filter(|&column| align[column] == Align::Left).collect();
    let widths: Vec<usize> = texts.iter().map(|&column| width_of(rows, column)).collect();
    let (line, all) = (line_width(rows, shown), widths.iter().sum::<usize>());
    if line <= width {
        return;
    }
    let room = (all + width).saturating_sub(line);
    let taken = |most: usize| widths.iter().map(|&cells| cells.min(most)).sum::<usize>();
    let most = (LEAST_CUT..=width).rev().find(|&most| taken(most) <= room).unwrap_or(LEAST_CUT);
    for row in rows {
        for &column in &texts {
            let indent = row[column].len() - row[column].trim_start().len();
            row[column] = cut(&row[column], most.max(indent + LEAST_CUT));
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
        assert_eq!(fitted(42), format!("{narrower}(the terminal is too narrow for: pool)\n"));
        let narrow = "site                    size\ntrain.py:55 attention  2 GiB\n";
        assert_eq!(fitted(28), format!("{narrow}(the terminal is too narrow for: pool · event)\n"));
    }

    #[test]
    fn what_is_still_too_wide_is_cut_to_the_beginning_of_a_name() {
        let lines = |width| fitted(width).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(24)[1], "train.py:55 atte…  2 GiB");
        assert_eq!(lines(10)[1], "train.py:55…  2 GiB", "no less than the least");
    }

    fn table(width: usize, may_go: &[usize], rows: &[[&str; 4]]) -> Vec<String> {
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        let (mut out, align) = (Vec::new(), [Align::Left, Align::Right, Align::Left, Align::Left]);
        write_fitted(&mut out, Some(width), &align, may_go, rows).expect("memory takes everything");
        String::from_utf8(out).expect("a table is text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn empty_columns_go_first_and_narrow_ones_come_back() {
        let rows = [["name", "size", "empty", "a long note"], ["a", "1", "", "what is said of it"]];
        assert_eq!(table(32, &[1, 3], &rows)[1], "a        1  what is said of it");
        let narrow = table(14, &[1, 3], &rows);
        assert_eq!(narrow[1], "a        1", "the size has room without the note");
        assert_eq!(narrow[2], "(the terminal is too narrow for: empty · a long note)");
    }

    #[test]
    fn all_texts_are_cut_alike_and_none_below_its_indent() {
        let long = ["a long name of settings", "1", "", "a long outcome of them"];
        assert_eq!(
            table(38, &[], &[["name", "size", "", "outcome"], long])[1],
            "a long name of…     1  a long outcome…"
        );
        let deep = ["                linear.py forward", "1", "", ""];
        assert_eq!(table(20, &[], &[["name", "size", "", ""], deep])[1].trim_start(), "linear.py f…     1");
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
