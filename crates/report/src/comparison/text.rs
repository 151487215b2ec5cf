//! A comparison as text for a terminal.

use super::ComparisonReport;
use super::sentence::comparison_sentence;
use super::tables::{parts, side_text};
use crate::diagnosis::Cell;
use crate::table::{self, Align};
use crate::text_style::TextStyle;
use oomscope_units as units;
use std::io::{self, Write};

/// The columns that a narrow terminal does not show, the least important first.
const MAY_GO: [&str; 4] = ["A from before", "B from before", "A", "B"];

/// Write a comparison for people.
///
/// # Errors
/// When writing fails.
pub fn comparison_text(
    out: &mut dyn Write,
    report: &ComparisonReport<'_>,
    style: TextStyle,
) -> io::Result<()> {
    writeln!(out, "{}", units::capitalised(&comparison_sentence(report)))?;
    writeln!(out)?;
    for (name, side) in ["A", "B"].into_iter().zip([0, 1]) {
        writeln!(out, "{name}: {}", side_text(report, side))?;
    }
    for part in parts(report) {
        writeln!(out, "\n{}", part.title)?;
        let align = |is_number| if is_number { Align::Right } else { Align::Left };
        let aligns: Vec<Align> = part.table.columns.iter().map(|column| align(column.is_number)).collect();
        let mut rows: Vec<Vec<String>> =
            vec![part.table.columns.iter().map(|column| column.title.to_owned()).collect()];
        rows.extend(part.table.rows.iter().map(|row| row.iter().map(cell_text).collect()));
        let may_go: Vec<usize> = MAY_GO
            .iter()
            .filter_map(|name| part.table.columns.iter().position(|column| column.title == *name))
            .collect();
        table::write_fitted(out, style.table_width, &aligns, &may_go, rows)?;
        if let Some(remark) = part.remark {
            writeln!(out, "{remark}")?;
        }
    }
    Ok(())
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Plain(text) | Cell::Number(text) | Cell::Code(text) => text.clone(),
        Cell::Amount(amount) => amount.text.clone(),
        Cell::Codes(texts) => texts.join(" "),
    }
}
