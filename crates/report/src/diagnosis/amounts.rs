//! The tables of a report that compare amounts.

use super::document::{Document, FindingText};
use super::sink::{Amount, Cell, Column, Sink, Table, UNTITLED};
use super::words::place;
use crate::modules::{main_module_rows, module_cells, module_columns, module_indent, module_label};
use oomscope_analysis::{Category, MODULE_COLUMNS, ModuleRow};
use oomscope_diagnosis::{Number, Value};

/// The memory of modules, if any is known to be a module's.
pub(super) fn modules(sink: &mut impl Sink, document: &Document) {
    let Some(table) = document.modules.as_ref().filter(|table| !table.rows.is_empty()) else { return };
    let number = |title| Column { title, is_number: true };
    let module = Column { title: "Module", is_number: false };
    let columns = std::iter::once(module).chain(module_columns().map(number)).collect();
    let row = |row: &ModuleRow| {
        let indent = "\u{2003}".repeat(module_indent(row));
        let label = Cell::Plain(format!("{indent}{}", module_label(row)));
        let figures = module_cells(row).into_iter().zip(MODULE_COLUMNS).zip(row.total);
        let figures = figures.map(|((text, category), bytes)| {
            Cell::Amount(Amount { text, bytes, category: Some(category), is_inferred: false })
        });
        std::iter::once(label).chain(figures).collect()
    };
    let rows = main_module_rows(table).map(row).collect();
    sink.fold("Memory by module", |sink| sink.table(&Table { style: None, columns, rows }));
}

/// The lines of code that a finding names.
pub(super) fn sites<S: Sink>(sink: &mut S, finding: &FindingText) {
    if finding.sites.is_empty() {
        return;
    }
    let mut columns = vec![
        Column { title: "Code", is_number: false },
        Column { title: "Bytes", is_number: true },
        UNTITLED,
    ];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for site in &finding.sites {
        let code = Cell::Code(place(&site.file, site.line, &site.name));
        let role = Cell::Plain(site.role.text(site.count));
        rows.push(vec![code, Cell::Amount(Amount::of(site.bytes)), role]);
    }
    if S::SIZES_FIRST {
        columns.swap(0, 1);
        for row in &mut rows {
            row.swap(0, 1);
        }
    }
    sink.table(&Table { style: Some("sites"), columns, rows });
}

/// The figures of a finding.
pub(super) fn figures(sink: &mut impl Sink, finding: &FindingText) {
    if finding.numbers.is_empty() {
        return;
    }
    let rows = finding.numbers.iter();
    let rows = rows.map(|row| vec![Cell::Plain(row.label.to_owned()), figure(row)]);
    let number = Column { is_number: true, ..UNTITLED };
    sink.table(&Table { style: None, columns: vec![UNTITLED, number], rows: rows.collect() });
}

/// A figure. The keys of a category's bytes are those of the breakdown.
fn figure(number: &Number) -> Cell {
    let text = number.figure.text();
    let Value::Bytes(bytes) = number.figure.value() else { return Cell::Number(text) };
    let inferred = number.key.strip_prefix("inferred_");
    let key = inferred.unwrap_or(number.key).strip_suffix("_bytes");
    let category = key.and_then(Category::from_key);
    Cell::Amount(Amount { text, bytes, category, is_inferred: inferred.is_some() })
}
