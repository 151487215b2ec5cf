//! Figures beside those of a baseline, in words.

use super::diagnosis::{Cell, Column, Markdown, Sink as _, Span, Table};
use oomscope_analysis::comparison::{GateItem, GateRow};
use oomscope_analysis::{SiteFrame, frame_line};
use oomscope_units as units;

/// A checked figure of a place: a file and its device.
#[derive(Debug, Clone)]
pub struct GateLine {
    /// The file and the device.
    pub place: String,
    /// The figure in words.
    pub text: String,
    /// Whether it is within its limit.
    pub holds: bool,
}

/// What a row is about.
fn item_name(item: &GateItem) -> String {
    match item {
        GateItem::Peak => "peak".to_owned(),
        GateItem::Reserved => "reserved".to_owned(),
        GateItem::Category(category) => category.label().to_owned(),
        GateItem::Line(line) => units::printable(&frame_line(&SiteFrame {
            file: line.file.clone(),
            line: line.line,
            name: line.function.clone(),
        })),
    }
}

/// A row in a sentence.
pub fn gate_text(row: &GateRow) -> String {
    let (name, now, before) =
        (item_name(&row.item), units::bytes(row.now_bytes), units::bytes(row.before_bytes));
    let more = row.now_bytes - row.before_bytes;
    let text = match more {
        _ if 0 < more => format!("{name} {now} is {} above the baseline's {before}", units::bytes(more)),
        _ => format!("{name} {now}, baseline {before}"),
    };
    if row.is_judged_differently { format!("{text}, but is judged by other evidence") } else { text }
}

/// The outcome of all checks as a comment for a merge request.
pub fn gate_markdown(lines: &[GateLine], grown: &[(String, GateRow)]) -> String {
    let failed = lines.iter().filter(|line| !line.holds).count();
    let mut out = Markdown::default();
    out.open_section(if failed == 0 { "Memory: all limits hold" } else { "Memory: limits are exceeded" });
    if !grown.is_empty() {
        let column = |title, is_number| Column { title, is_number };
        let columns = vec![
            column("grew", false),
            column("baseline", true),
            column("now", true),
            column("more", true),
            column("where", false),
        ];
        let row = |(place, row): &(String, GateRow)| {
            let size = |bytes| Cell::Number(units::bytes(bytes));
            let name = item_name(&row.item);
            let name =
                if matches!(row.item, GateItem::Line(_)) { Cell::Code(name) } else { Cell::Plain(name) };
            let more = row.now_bytes - row.before_bytes;
            vec![name, size(row.before_bytes), size(row.now_bytes), size(more), Cell::Code(place.clone())]
        };
        out.table(&Table { style: None, columns, rows: grown.iter().map(row).collect() });
    }
    for line in lines {
        let word = if line.holds { "ok" } else { "EXCEEDED" };
        out.paragraph(&[Span::Strong(word), Span::Plain(&format!(": {}: {}", line.place, line.text))]);
    }
    out.out
}
