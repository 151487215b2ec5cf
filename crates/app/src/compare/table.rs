//! The table of a comparison.

use crate::tables::columns::Column;
use crate::tables::virtual_list::{ListRows, RowLook, TableCell};
use crate::texts::marked;
use oomscope_report::NamedRow;
use tr::tr;

pub(super) const COLUMNS: [Column; 5] = [
    Column::figure("A", marked!("Live bytes of the first side"), 78.0),
    Column::figure("B", marked!("Live bytes of the second side"), 78.0),
    Column::figure(
        marked!("Change"),
        marked!("B less A, without memory that another rule judges on the other side"),
        84.0,
    ),
    Column::text("", marked!("How it changed"), 76.0),
    Column::text(marked!("What"), marked!("The category, line of code, operator, module or pool"), 120.0),
];

/// The rows, with the filter that the user has set.
pub(super) struct Rows<'a> {
    pub(super) all: &'a [NamedRow],
    pub(super) query: &'a str,
}

impl ListRows for Rows<'_> {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(row) = self.all.get(row) else { return TableCell::default() };
        let text = match column {
            0 => &row.sides[0],
            1 => &row.sides[1],
            2 => &row.change,
            3 => return TableCell::muted(row.word),
            _ => &row.name,
        };
        if row.is_same { TableCell::muted(text) } else { TableCell::plain(text) }
    }

    fn look(&self, row: usize) -> RowLook {
        let query = self.all.get(row).and_then(|row| row.query.as_deref());
        RowLook { is_selected: query.is_some_and(|query| query == self.query), ..RowLook::default() }
    }

    fn hint(&self, row: usize, _: usize) -> Option<String> {
        let row = self.all.get(row)?;
        let mut lines = format!("{}\n{} → {}, {}", row.name, row.sides[0], row.sides[1], row.word);
        if let Some(query) = &row.query {
            lines = format!("{lines}\n{}", tr!("Click to filter B: {query}", query));
        }
        Some(lines)
    }
}
