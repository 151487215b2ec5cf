//! The table of a range: its changes by category or by line of code.

use super::computing::{RangeFigures, RangeRow};
use crate::tables::cells;
use crate::tables::columns::Column;
use crate::tables::virtual_list::{ListRows, RowLook, TableCell};
use crate::texts::marked;
use oomscope_analysis::{RangeSums, StackLabels};
use oomscope_model::{Bytes, Snapshot, StackId};
use oomscope_units as units;
use std::cmp::Reverse;
use tr::tr;

/// The column of names.
const NAME: usize = 4;

pub(super) const COLUMNS: [Column; 5] = [
    Column::figure(
        marked!("Net"),
        marked!("Live bytes at the end of the range, less those at its start"),
        84.0,
    ),
    Column::figure(marked!("Allocated"), marked!("Allocated within the range, freed or not"), 78.0),
    Column::figure(marked!("Kept"), marked!("Allocated within the range and live at its end"), 78.0),
    Column::figure(marked!("Freed"), marked!("Freed within the range, whenever it was allocated"), 78.0),
    Column::text(marked!("What"), marked!("The category, or the innermost line of your own code"), 120.0),
];

/// The property that rows stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RowsBy {
    /// The purpose of memory.
    #[default]
    Category,
    /// The line of code.
    Line,
}

/// The column that rows are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    column: usize,
    /// The order is not the one that the column starts with.
    is_reversed: bool,
}

impl Default for Order {
    /// Most allocated bytes first.
    fn default() -> Self {
        Self { column: 1, is_reversed: false }
    }
}

impl Order {
    pub(super) fn after_click(self, column: usize) -> Self {
        Self { column, is_reversed: self.column == column && !self.is_reversed }
    }

    /// The column, and true if the largest comes first.
    pub(super) fn column(self) -> (usize, bool) {
        (self.column, (self.column == NAME) == self.is_reversed)
    }
}

/// The effect of a click on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Filter to a query.
    Filter(String),
    /// Select a stack.
    Select(StackId),
}

/// A row as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownRow {
    name: String,
    sums: RangeSums,
    chosen: Chosen,
}

/// The rows of a range in an order. Without `labels` there are no lines yet.
pub(super) fn rows(
    figures: &RangeFigures,
    by: RowsBy,
    order: Order,
    labels: Option<&StackLabels>,
) -> Vec<ShownRow> {
    let mut rows: Vec<ShownRow> = match by {
        RowsBy::Category => figures
            .by_category
            .iter()
            .map(|&RangeRow { key, sums }| {
                let chosen = Chosen::Filter(format!("category:{}", key.key()));
                ShownRow { name: key.label().to_owned(), sums, chosen }
            })
            .collect(),
        RowsBy::Line => figures
            .by_line
            .iter()
            .map(|&RangeRow { key, sums }| {
                let name = labels.map_or("", |labels| labels.label(key)).to_owned();
                ShownRow { name, sums, chosen: Chosen::Select(key) }
            })
            .collect(),
    };
    match order.column {
        NAME => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        column => rows.sort_by_key(|row| Reverse(bytes(&row.sums, column))),
    }
    if order.is_reversed {
        rows.reverse();
    }
    rows
}

/// The bytes that a column shows.
fn bytes(sums: &RangeSums, column: usize) -> i128 {
    match column {
        0 => sums.net_bytes(),
        1 => sums.allocated.bytes,
        2 => sums.kept.bytes,
        _ => sums.freed().bytes,
    }
}

/// The rows with what their looks depend on.
pub(super) struct Rows<'a> {
    pub(super) all: &'a [ShownRow],
    pub(super) snapshot: &'a Snapshot,
    pub(super) labels: Option<&'a StackLabels>,
    pub(super) query: &'a str,
    pub(super) selected: Option<StackId>,
}

impl Rows<'_> {
    pub(super) fn chosen(&self, row: usize) -> Option<&Chosen> {
        self.all.get(row).map(|row| &row.chosen)
    }

    /// The row of the selection or of the filter.
    pub(super) fn current(&self) -> Option<usize> {
        (0..self.all.len()).find(|&row| self.look(row).is_selected)
    }
}

impl ListRows for Rows<'_> {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(row) = self.all.get(row) else { return TableCell::default() };
        if column == NAME {
            return TableCell::plain(&row.name);
        }
        let bytes = bytes(&row.sums, column);
        let text = if column == 0 { units::bytes_change(bytes) } else { units::bytes(Bytes::clamped(bytes)) };
        if bytes == 0 { TableCell::muted(text) } else { TableCell::plain(text) }
    }

    fn look(&self, row: usize) -> RowLook {
        let is_selected = self.all.get(row).is_some_and(|row| match &row.chosen {
            Chosen::Filter(query) => self.query == query,
            Chosen::Select(stack) => self.labels.is_some_and(|labels| {
                self.selected.is_some_and(|selected| labels.rank(selected) == labels.rank(*stack))
            }),
        });
        RowLook { is_selected, ..RowLook::default() }
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let row = self.all.get(row)?;
        let count = match (column, &row.chosen) {
            (NAME, Chosen::Select(stack)) => return cells::stack_hint(self.snapshot, *stack),
            (NAME, Chosen::Filter(query)) => return Some(tr!("Click to filter: {query}", query)),
            (1, _) => row.sums.allocated.count,
            (2, _) => row.sums.kept.count,
            (3, _) => row.sums.freed().count,
            _ => return Some(units::bytes_exact(Bytes::clamped(row.sums.net_bytes()))),
        };
        let exact = units::bytes_exact(Bytes::clamped(bytes(&row.sums, column)));
        Some(format!(
            "{exact}\n{}",
            tr!("in {} allocation" | "in {} allocations" % count, units::count(count))
        ))
    }
}
