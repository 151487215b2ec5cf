//! Memory by lines of code, as lines of text that show who called whom.

use super::words::short_place;
use crate::table::{self, Align};
use oomscope_diagnosis::{CodeRow, CodeTree};
use oomscope_units as units;
use std::io;
use unicode_width::UnicodeWidthStr as _;

/// Cells that the lines of a row may take, where nothing else limits them: with bytes, share and indent, about a line of a terminal.
const LINES_WIDTH: usize = 72;

/// Cells that bytes, share and indent take.
const BEFORE_LINES: usize = 28;

/// The title: `In use, 21.9 GiB by line of code`.
pub(super) fn title(tree: &CodeTree) -> String {
    format!("{}: {} by line of code", tree.title, units::bytes(tree.bytes))
}

/// Write a row for each row of the tree: bytes, share of all, lines. A row takes about `width` cells.
///
/// # Errors
/// When writing fails.
pub(super) fn write(out: &mut dyn io::Write, indent: &str, tree: &CodeTree, width: usize) -> io::Result<()> {
    let room = width.saturating_sub(BEFORE_LINES);
    let row = |row: &CodeRow| {
        let bytes = format!("{indent}{}", units::bytes(row.bytes));
        let share = format!("{:.0} %", tree.share_of(row) * 100.0);
        vec![bytes, share, format!("{}{}", "  ".repeat(row.depth), label_within(row, room))]
    };
    let rows: Vec<Vec<String>> = tree.rows.iter().map(row).collect();
    table::write(out, &[Align::Left, Align::Right, Align::Left], &rows)
}

/// The whole tree as text.
pub(super) fn text(tree: &CodeTree) -> String {
    let mut out = Vec::new();
    match write(&mut out, "", tree, BEFORE_LINES + LINES_WIDTH) {
        Ok(()) => String::from_utf8_lossy(&out).trim_end().to_owned(),
        // Memory takes everything.
        Err(_) => String::new(),
    }
}

/// The lines of a row, outermost first, without the first ones if they are too many.
pub(super) fn label(row: &CodeRow) -> String {
    label_within(row, LINES_WIDTH)
}

fn label_within(row: &CodeRow, room: usize) -> String {
    let Some((last, before)) = row.lines.split_last() else {
        return if row.is_rest { "other lines" } else { "no line of your own code" }.to_owned();
    };
    let mut label = short_place(last);
    if row.is_package {
        label = format!("in {label}");
    }
    for (left, site) in before.iter().enumerate().rev() {
        let longer = format!("{} › {label}", short_place(site));
        if room < longer.width() {
            return if left + 1 == row.lines.len() { label } else { format!("… › {label}") };
        }
        label = longer;
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_diagnosis::{Role, Site};
    use oomscope_model::Bytes;

    fn site(line: i64, name: &str) -> Site {
        let (file, name) = ("/home/me/train.py".to_owned(), name.to_owned());
        Site { file, line, name, bytes: Bytes::ZERO, count: 1, role: Role::Live }
    }

    fn row(depth: usize, bytes: i64, lines: Vec<Site>) -> CodeRow {
        CodeRow { depth, lines, is_package: false, is_rest: false, bytes: Bytes(bytes), count: 1 }
    }

    #[test]
    fn calls_stand_below_their_callers() {
        let package = CodeRow { is_package: true, ..row(2, 1 << 29, vec![site(7, "attend")]) };
        let rows = vec![
            row(0, 3 << 30, vec![site(9, "<module>"), site(5, "main")]),
            row(1, 1 << 30, vec![site(3, "forward")]),
            package,
            CodeRow { is_rest: true, ..row(1, 1 << 20, Vec::new()) },
            CodeRow { is_rest: true, ..row(0, 2 << 20, Vec::new()) },
            row(0, 1 << 20, Vec::new()),
        ];
        let tree = CodeTree { title: "In use", bytes: Bytes(4 << 30), rows };
        let expected = "\
3.00 GiB  75 %  train.py:9 <module> › train.py:5 main
1.00 GiB  25 %    train.py:3 forward
512 MiB   12 %      in train.py:7 attend
1.00 MiB   0 %    other lines
2.00 MiB   0 %  other lines
1.00 MiB   0 %  no line of your own code";
        assert_eq!(text(&tree), expected);
        assert_eq!(title(&tree), "In use: 4.00 GiB by line of code");
    }

    #[test]
    fn of_a_long_chain_the_innermost_lines_stay() {
        let lines = (0..9).map(|line| site(line, "a_rather_long_name")).collect();
        let label = label(&row(0, 1, lines));
        assert_eq!(label, "… › train.py:7 a_rather_long_name › train.py:8 a_rather_long_name");
    }
}
