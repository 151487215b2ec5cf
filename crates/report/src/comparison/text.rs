//! A comparison as text for a terminal.

use super::ComparisonReport;
use super::sentence::comparison_sentence;
use super::tables::{parts, side_text};
use crate::diagnosis::Cell;
use crate::table::{self, Align};
use oomscope_units as units;
use std::io::{self, Write};

/// Write a comparison for people.
///
/// # Errors
/// When writing fails.
pub fn comparison_text(out: &mut dyn Write, report: &ComparisonReport<'_>) -> io::Result<()> {
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
        table::write(out, &aligns, &rows)?;
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
