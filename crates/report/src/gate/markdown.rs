//! A comment for a merge request.

use super::{GateReport, GrownRow, item_name};
use crate::diagnosis::{Cell, Column, Markdown, Sink as _, Span, Table};
use oomscope_analysis::comparison::GateItem;
use oomscope_units as units;

/// The outcome of all checks as a comment for a merge request.
pub fn gate_markdown(report: &GateReport) -> String {
    let mut out = Markdown::default();
    let all_hold = report.exceeded().next().is_none();
    out.open_section(if all_hold { "Memory: all limits hold" } else { "Memory: limits are exceeded" });
    if !report.grown.is_empty() {
        let column = |title, is_number| Column { title, is_number };
        let columns = vec![
            column("grew", false),
            column("baseline", true),
            column("now", true),
            column("more", true),
            column("where", false),
        ];
        out.table(&Table { style: None, columns, rows: report.grown.iter().map(row).collect() });
    }
    for line in &report.lines {
        let word = if line.holds { "ok" } else { "EXCEEDED" };
        out.paragraph(&[Span::Strong(word), Span::Plain(&format!(": {}: {}", line.place(), line.text))]);
    }
    out.out
}

fn row(grown: &GrownRow) -> Vec<Cell> {
    let row = &grown.row;
    let size = |bytes| Cell::Number(units::bytes(bytes));
    let name = item_name(&row.item);
    let name = if matches!(row.item, GateItem::Line(_)) { Cell::Code(name) } else { Cell::Plain(name) };
    let more = row.now_bytes - row.before_bytes;
    let place = Cell::Code(format!("{}, {}", grown.file, grown.device));
    vec![name, size(row.before_bytes), size(row.now_bytes), size(more), place]
}
