//! The rows of the table of allocations.

use super::cells;
use super::columns::Column;
use super::virtual_list::{ListRows, RowLook, TableCell};
use crate::device::{Derived, Selection, Standpoint};
use crate::texts::marked;
use oomscope_analysis::{Basis, Categories, LifeSpan, OrderBy, StackLabels, TensorLabels};
use oomscope_model::{AllocId, Allocation, Moment, Recording, StackId};
use oomscope_report as report;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Each column, the order that a click on it asks for, and true if that order starts with the largest.
const TABLE: [(Column, OrderBy, bool); 11] = [
    (Column::figure(marked!("Size"), marked!("Requested bytes"), 80.0), OrderBy::Size, true),
    (
        Column::text(marked!("Category"), marked!("What it is for; ≈ where that is inferred"), 100.0),
        OrderBy::Category,
        false,
    ),
    (
        Column::text(
            marked!("Tensor"),
            marked!("What the program calls it, or the variable that holds it"),
            156.0,
        ),
        OrderBy::Tensor,
        false,
    ),
    (
        Column::text(marked!("Site"), marked!("First frame of your own code in its stack"), 156.0),
        OrderBy::Site,
        false,
    ),
    (Column::text(marked!("Module"), marked!("Innermost module in its stack"), 92.0), OrderBy::Module, false),
    (
        Column::figure(marked!("Age"), marked!("Since it was allocated, at the cursor"), 76.0),
        OrderBy::Age,
        true,
    ),
    (
        Column::figure(marked!("Lifetime"), marked!("From its allocation to its free"), 76.0),
        OrderBy::Lifetime,
        true,
    ),
    (
        Column::figure(marked!("Allocated by"), marked!("Number of the event that allocated it"), 88.0),
        OrderBy::Start,
        false,
    ),
    (Column::figure(marked!("Stream"), marked!("Stream that it belongs to"), 70.0), OrderBy::Stream, false),
    (Column::text(marked!("Pool"), marked!("Pool that it belongs to"), 80.0), OrderBy::Pool, false),
    (Column::code(marked!("Address"), marked!("Address of the first byte"), 112.0), OrderBy::Address, false),
];

/// The place of tensors in the table.
const TENSOR: usize = 2;

const COLUMNS: [Column; TABLE.len()] = {
    let mut columns = [TABLE[0].0; TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        columns[i] = TABLE[i].0;
        i += 1;
    }
    columns
};

/// The columns without that of tensors.
const WITHOUT_TENSORS: [Column; TABLE.len() - 1] = {
    let mut columns = [TABLE[0].0; TABLE.len() - 1];
    let mut i = 0;
    while i < columns.len() {
        columns[i] = TABLE[if i < TENSOR { i } else { i + 1 }].0;
        i += 1;
    }
    columns
};

/// The columns that are shown: those of tensors where the program named some.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) has_tensors: bool,
}

impl Shown {
    /// All of them.
    pub(crate) fn all(self) -> &'static [Column] {
        if self.has_tensors { &COLUMNS } else { &WITHOUT_TENSORS }
    }

    /// The column of the table that is shown at a place.
    pub(crate) fn column(self, at: usize) -> usize {
        if self.has_tensors || at < TENSOR { at } else { at + 1 }
    }

    /// The place and direction of an order, for the header.
    pub(crate) fn sorted(self, order: Order) -> Option<(usize, bool)> {
        let (column, is_descending) = order.column()?;
        Some((if self.has_tensors || column < TENSOR { column } else { column - 1 }, is_descending))
    }
}

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) by: OrderBy,
    pub(crate) is_descending: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { by: OrderBy::Size, is_descending: true }
    }
}

impl Order {
    /// The order after a click on a column: its own, or else the other way round.
    pub(crate) fn after_click(self, column: usize) -> Self {
        match TABLE.get(column) {
            Some(&(_, by, _)) if by == self.by => Self { is_descending: !self.is_descending, ..self },
            Some(&(_, by, is_descending)) => Self { by, is_descending },
            None => self,
        }
    }

    /// The column and direction, for the header.
    pub(crate) fn column(self) -> Option<(usize, bool)> {
        TABLE.iter().position(|&(_, by, _)| by == self.by).map(|column| (column, self.is_descending))
    }
}

/// The rows of the table.
pub(crate) struct AllocationRows<'a> {
    recording: &'a Recording,
    cursor: Moment,
    selection: Selection,
    /// In ascending order; `is_descending` shows them from the end.
    ids: &'a [AllocId],
    is_descending: bool,
    names: RowNames<'a>,
}

/// What rows say of allocations besides the recording, as far as it is known.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RowNames<'a> {
    sites: Option<&'a StackLabels>,
    modules: Option<&'a StackLabels>,
    categories: Option<&'a Categories>,
    tensors: Option<&'a TensorLabels>,
    has_tensors: bool,
}

impl<'a> RowNames<'a> {
    pub(crate) fn of(derived: &'a Derived) -> Self {
        Self {
            sites: derived.stack_labels().map(Arc::as_ref),
            modules: derived.module_labels().map(Arc::as_ref),
            categories: derived.attribution().map(|found| &found.categories),
            tensors: derived.tensor_labels().map(Arc::as_ref),
            has_tensors: derived.has_tensors(),
        }
    }

    /// The category, marked where it is inferred.
    fn category(&self, id: AllocId) -> TableCell {
        let Some(verdict) = self.categories.map(|all| all.verdict(id)) else { return cells::unknown() };
        let mark = if verdict.basis() == Basis::Inferred { "≈ " } else { "" };
        TableCell::plain(format!("{mark}{}", verdict.category.label()))
    }

    /// What the program calls the tensor; nothing where it said nothing of it.
    fn tensor(&self, id: AllocId) -> TableCell {
        match self.tensors {
            Some(tensors) => TableCell::plain(tensors.get(id).unwrap_or_default().to_owned()),
            None => cells::unknown(),
        }
    }

    fn module(&self, stack: StackId) -> TableCell {
        let label = self.modules.map_or("", |labels| labels.label(stack));
        if label.is_empty() { cells::unknown() } else { TableCell::plain(label.to_owned()) }
    }
}

impl<'a> AllocationRows<'a> {
    pub(crate) fn new(
        recording: &'a Recording,
        at: &Standpoint,
        ids: &'a [AllocId],
        is_descending: bool,
        names: RowNames<'a>,
    ) -> Self {
        let (cursor, selection) = (at.cursor, at.selection());
        Self { recording, cursor, selection, ids, is_descending, names }
    }

    /// The order that a shown column stands for. It names the contents of the column, too.
    fn ordered_by(&self, column: usize) -> Option<OrderBy> {
        let shown = Shown { has_tensors: self.names.has_tensors };
        TABLE.get(shown.column(column)).map(|&(_, by, _)| by)
    }

    /// The allocation of a row.
    pub(crate) fn id(&self, row: usize) -> Option<AllocId> {
        let at = if self.is_descending { self.ids.len().checked_sub(row + 1)? } else { row };
        self.ids.get(at).copied()
    }

    /// The row of an allocation.
    pub(crate) fn row_of(&self, id: AllocId) -> Option<usize> {
        let at = self.ids.iter().position(|&other| other == id)?;
        Some(if self.is_descending { self.ids.len() - 1 - at } else { at })
    }

    fn get(&self, row: usize) -> Option<Allocation> {
        let id = self.id(row)?;
        Some(self.recording.allocation(id))
    }

    fn age(&self, allocation: &Allocation) -> Option<LifeSpan> {
        let is_live = allocation.end.is_none_or(|end| self.cursor < end);
        LifeSpan::age(self.recording, allocation.id, self.cursor).filter(|_| is_live)
    }

    fn is_waiting(&self, allocation: &Allocation) -> bool {
        allocation.is_awaiting_at(self.cursor)
    }
}

impl ListRows for AllocationRows<'_> {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some((allocation, by)) = self.get(row).zip(self.ordered_by(column)) else {
            return TableCell::default();
        };
        match by {
            OrderBy::Size => TableCell::plain(units::bytes(allocation.size)),
            OrderBy::Address => TableCell::plain(units::address(allocation.addr)),
            OrderBy::Stream if self.is_waiting(&allocation) => {
                let stream = cells::stream(allocation.stream);
                TableCell { text: tr!("{}, waiting", stream.text), ..stream }
            }
            OrderBy::Stream => cells::stream(allocation.stream),
            OrderBy::Pool => cells::pool(allocation.pool),
            OrderBy::Start => match allocation.alloc_event() {
                Some(event) => TableCell::plain(units::count(event.0)),
                None => TableCell::muted(tr!("before")),
            },
            OrderBy::Age => {
                self.age(&allocation).map_or_else(cells::unknown, |age| TableCell::plain(cells::span(age)))
            }
            OrderBy::Lifetime => TableCell::plain(cells::span(LifeSpan::of(self.recording, allocation.id))),
            OrderBy::Site => cells::site(self.names.sites, self.recording.snapshot(), allocation.stack),
            OrderBy::Category => self.names.category(allocation.id),
            OrderBy::Module => self.names.module(allocation.stack),
            OrderBy::Tensor => self.names.tensor(allocation.id),
        }
    }

    fn look(&self, row: usize) -> RowLook {
        let is_selected = match self.selection {
            Selection::Allocation(id) => self.id(row) == Some(id),
            Selection::Stack(stack) => self.get(row).is_some_and(|allocation| allocation.stack == stack),
            Selection::None | Selection::Segment { .. } => false,
        };
        RowLook { is_selected, ..RowLook::default() }
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let (allocation, by) = self.get(row).zip(self.ordered_by(column))?;
        let events = &self.recording.events;
        match by {
            OrderBy::Size => Some(units::bytes_exact(allocation.size)),
            OrderBy::Stream if self.is_waiting(&allocation) => {
                Some(tr!("Given back by the program; another stream may still use it"))
            }
            OrderBy::Start => match allocation.alloc_event() {
                Some(event) => events.time_us(event).map(units::date_time_us),
                None => Some(tr!("Allocated before the first recorded event")),
            },
            OrderBy::Age => self.age(&allocation).map(|age| cells::events(age.events)),
            OrderBy::Lifetime => {
                let span = LifeSpan::of(self.recording, allocation.id);
                let events = cells::events(span.events);
                Some(if span.is_open { tr!("{events}; the rest was not recorded", events) } else { events })
            }
            OrderBy::Site => cells::stack_hint(self.recording.snapshot(), allocation.stack),
            OrderBy::Category => {
                let verdict = self.names.categories?.verdict(allocation.id);
                Some(verdict.rule.rule().says.to_owned())
            }
            OrderBy::Tensor => report::named_text(self.recording, self.names.categories?, allocation.id),
            OrderBy::Address | OrderBy::Stream | OrderBy::Pool | OrderBy::Module => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_on_the_same_column_turns_the_order_round() {
        let by_size = Order::default();
        assert_eq!(by_size.column(), Some((0, true)));
        assert_eq!(by_size.after_click(0).column(), Some((0, false)));
        assert_eq!(by_size.after_click(1), Order { by: OrderBy::Category, is_descending: false });
        for column in 0..TABLE.len() {
            assert_eq!(by_size.after_click(column).column().map(|(at, _)| at), Some(column));
        }
        for has_tensors in [true, false] {
            let shown = Shown { has_tensors };
            assert_eq!(shown.all().iter().any(|column| column.name == "Tensor"), has_tensors);
            for at in 0..shown.all().len() {
                let order = by_size.after_click(shown.column(at));
                assert_eq!(shown.sorted(order).map(|(at, _)| at), Some(at));
            }
        }
    }
}
