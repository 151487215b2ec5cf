//! The table of allocation sites beside the flame graph.

use super::shown::{Shown, mean_lifetime, share_text};
use super::weighing::StacksRequest;
use crate::details::facts::code;
use crate::device::{Selection, Standpoint};
use crate::pointed::{self, Thing};
use crate::tables::cells;
use crate::tables::columns::Column;
use crate::tables::scroll::Reveal;
use crate::tables::virtual_list::{ListRows, ListState, RowLook, TableCell, VirtualList};
use crate::texts::marked;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_analysis::{Clock, FrameNames, NodeIx, SiteRow, Totals};
use oomscope_model::StackId;
use oomscope_report::weight_text;
use oomscope_units as units;
use std::cmp::Reverse;
use std::rc::Rc;
use tr::tr;

const WEIGHT: usize = 0;
const COUNT: usize = 1;
const LARGEST: usize = 2;
const LIFETIME: usize = 3;
const SITE: usize = 4;

const COLUMNS: [Column; 5] = [
    Column::figure(marked!("bytes"), marked!("What was allocated there, as the flame graph weighs it"), 72.0),
    Column::figure(marked!("count"), marked!("How many allocations that is"), 50.0),
    Column::figure(marked!("largest"), marked!("The largest of them"), 78.0),
    Column::figure(
        marked!("mean life"),
        marked!(
            "How long they are live on average; at least that where some are not seen from beginning to end"
        ),
        78.0,
    ),
    Column::text(marked!("site"), marked!("The innermost line of your own code"), 108.0),
];

/// The table's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    list: ListState,
    order: Order,
    rows: Memo<(StacksRequest, NodeIx, Order), Rc<[SiteRow]>>,
    /// The selection that the table was scrolled to.
    followed: Option<StackId>,
}

/// The column that rows are ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Order {
    column: usize,
    /// The order is not the one that the column starts with.
    is_reversed: bool,
}

impl Order {
    /// True if the largest comes first. Figures start so, names start with the first.
    fn is_descending(self) -> bool {
        (self.column == SITE) == self.is_reversed
    }

    fn after_click(self, column: usize) -> Self {
        Self { column, is_reversed: self.column == column && !self.is_reversed }
    }
}

/// Sites in some order.
struct Sites<'a> {
    shown: &'a Shown<'a>,
    rows: &'a [SiteRow],
    /// True for each frame that the search found; `None` unless it found any of these sites.
    is_found: Option<&'a [bool]>,
}

pub(crate) fn ui(ui: &mut egui::Ui, state: &mut State, shown: &Shown<'_>, at: &mut Standpoint) {
    let (order, rows) = (state.order, state.sorted(shown));
    let is_found = shown.found.map(|found| &*found.marks);
    // A search that finds only frames above sites would fade all of them.
    let is_site_found = |found: &&[bool]| rows.iter().any(|row| found.get(row.site.index()) == Some(&true));
    let sites = Sites { shown, rows: &rows, is_found: is_found.filter(is_site_found) };
    let site = shown.selected.map(|stack| shown.weighed.names.sites.site(stack));
    let selected = site.and_then(|site| rows.iter().position(|row| row.site == site));
    if state.followed != shown.selected {
        state.followed = shown.selected;
        if let Some(row) = selected {
            state.list.reveal(Reveal::Nearest(row));
        }
    }
    let sorted = Some((order.column, order.is_descending()));
    let list = VirtualList { name: marked!("allocation sites"), columns: &COLUMNS, sorted };
    let answer = list.show(ui, &mut state.list, &sites);
    if let Some(row) = answer.pointed.and_then(|row| rows.get(row)) {
        pointed::wanted(ui.ctx(), Some(Thing::Stack(row.stack)));
    }
    let chosen = answer.clicked.or_else(|| {
        let last = rows.len().checked_sub(1).filter(|_| answer.step != 0)?;
        // Without a selection, the first step goes to the first row.
        Some(
            selected.map_or(0, |row| (row as i64).saturating_add(answer.step).clamp(0, last as i64) as usize),
        )
    });
    if let Some(row) = chosen.and_then(|row| rows.get(row)) {
        at.select(Selection::Stack(row.stack));
    }
    if let Some(column) = answer.sort_by {
        state.order = state.order.after_click(column);
        state.list.reveal(Reveal::Nearest(0));
    }
}

impl State {
    /// Take over the arrangement of the table.
    pub(crate) fn keep(&mut self, old: &Self) {
        self.order = old.order;
    }

    /// The rows in order.
    fn sorted(&self, shown: &Shown<'_>) -> Rc<[SiteRow]> {
        let (zoom, order) = (shown.zoom, self.order);
        self.rows.get((shown.weighed.request.clone(), zoom, order), || {
            let mut rows = shown.weighed.sites_below(zoom);
            sort(&mut rows, order.column, &shown.weighed.names.frames);
            if order.is_reversed {
                rows.reverse();
            }
            rows.into()
        })
    }
}

/// Largest first, sites by name; equal rows by weight.
fn sort(rows: &mut [SiteRow], column: usize, names: &FrameNames) {
    rows.sort_by_key(|row| (Reverse(row.totals.weight), row.site));
    match column {
        COUNT => rows.sort_by_key(|row| Reverse(row.totals.count)),
        LARGEST => rows.sort_by_key(|row| Reverse(row.totals.largest)),
        LIFETIME => rows.sort_by_key(|row| Reverse(row.totals.mean_lifetime())),
        SITE => rows.sort_by(|a, b| names.get(a.site).label.cmp(&names.get(b.site).label)),
        _ => {}
    }
}

impl ListRows for Sites<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        let Some(row) = self.rows.get(row) else { return TableCell::default() };
        let (weighed, totals) = (self.shown.weighed, &row.totals);
        match column {
            WEIGHT => TableCell::plain(weight_text(weighed.totals.unit, totals.weight)),
            COUNT => TableCell::plain(units::count(totals.count)),
            LARGEST => TableCell::plain(units::bytes(totals.largest)),
            LIFETIME => TableCell::plain(lifetime_text(weighed.names.clock, totals)),
            _ => {
                let name = weighed.names.frames.get(row.site);
                let code = name.frame.and_then(|frame| code(self.shown.recording.snapshot(), frame));
                let text = code.map_or_else(|| name.label.clone(), |code| format!("{}: {code}", name.label));
                if name.is_internal { TableCell::muted(&text) } else { TableCell::plain(&text) }
            }
        }
    }

    fn look(&self, row: usize) -> RowLook {
        let Some(row) = self.rows.get(row) else { return RowLook::default() };
        let selected = self.shown.selected.map(|stack| self.shown.weighed.names.sites.site(stack));
        RowLook {
            is_current: false,
            is_selected: selected == Some(row.site),
            is_faded: self.is_found.is_some_and(|found| found.get(row.site.index()) != Some(&true)),
        }
    }

    fn hint(&self, row: usize, column: usize) -> Option<String> {
        let row = self.rows.get(row)?;
        let weighed = self.shown.weighed;
        if column == SITE {
            return cells::stack_hint(self.shown.recording.snapshot(), row.stack);
        }
        let share = share_text(row.totals.weight, weighed.totals.all.weight);
        let count = units::count(row.stacks as u64);
        let share = tr!(
            "{share} of all, with {count} stack" | "{share} of all, with {count} stacks" % row.stacks,
            share,
            count
        );
        Some(format!("{}\n{share}", units::bytes_exact(row.totals.bytes)))
    }
}

/// A mean lifetime as text; with `≥` if some allocations are not seen from beginning to end.
fn lifetime_text(clock: Clock, totals: &Totals) -> String {
    let mean = mean_lifetime(clock, totals);
    if totals.open_ended == 0 { mean } else { format!("≥ {mean}") }
}
