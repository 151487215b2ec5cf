//! A table as the documentation lists it.

use super::column::ColumnInfo;
use std::fmt::Write as _;

/// The section of a table.
pub(super) fn section(name: &str, about: &str, columns: &[ColumnInfo]) -> String {
    let mut out = format!("### {name}\n\nThe table has {about}.\n\n");
    out.push_str("| column | type | unit | is |\n| --- | --- | --- | --- |\n");
    for column in columns {
        let (kind, unit) = (column.kind.name(), column.unit.name());
        writeln!(out, "| `{}` | {kind} | {unit} | {} |", column.name, column.about).expect("memory");
    }
    out.push('\n');
    out
}
