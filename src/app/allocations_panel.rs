//! What is live at the cursor, or everything that was ever allocated, as a table.

use super::allocations_rows::{AllocationRows, COLUMNS, Order};
use super::background::Background;
use super::device::DeviceState;
use super::list_scroll::Reveal;
use super::navigation::Selection;
use super::virtual_list::{ListState, VirtualList};
use super::{csv_copy, theme};
use crate::analysis::{AllocationSorter, OrderBy, SiteLabels};
use crate::model::{AllocId, Moment, Timeline};
use crate::report;
use crate::units;
use eframe::egui;
use std::sync::Arc;

/// What the panel remembers.
#[derive(Default)]
pub(super) struct State {
    list: ListState,
    /// Whether all allocations are listed, rather than those that are live at the cursor.
    shows_all: bool,
    order: Order,
    live: Option<(Moment, OrderBy, Arc<Listed>)>,
    all: Background<OrderBy, Arc<Listed>>,
    /// The selection that the table was scrolled to.
    followed: Selection,
    copied: csv_copy::Note,
}

/// Allocations in ascending order, and their totals.
#[derive(Debug, Default)]
struct Listed {
    ids: Vec<AllocId>,
    bytes: i64,
    /// Those that were given back and wait for a stream.
    waiting: usize,
    waiting_bytes: i64,
}

pub(super) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let mut state = std::mem::take(&mut device.panels.allocations);
    let snapshot = device.snapshot();
    let labels = device.panels.sites.labels(ui.ctx(), &snapshot);
    let listed = state.listed(ui.ctx(), device, labels.as_ref());
    bar_ui(ui, device, &mut state, listed.as_deref());
    ui.add_space(4.0);
    if let Some(listed) = listed {
        table_ui(ui, device, &mut state, &listed, labels.as_deref());
    }
    device.panels.allocations = state;
}

impl State {
    /// Keep how the table was set up.
    pub(super) fn keep(&mut self, old: &Self) {
        self.shows_all = old.shows_all;
        self.order = old.order;
    }

    /// What is listed; `None` while all allocations are sorted for the first time.
    fn listed(
        &mut self,
        ctx: &egui::Context,
        device: &DeviceState,
        labels: Option<&Arc<SiteLabels>>,
    ) -> Option<Arc<Listed>> {
        // Until there are labels, nothing can be ordered by them.
        let by =
            if labels.is_none() && self.order.by == OrderBy::Site { OrderBy::Size } else { self.order.by };
        let labels = labels.cloned().unwrap_or_default();
        if !self.shows_all {
            let moment = device.cursor;
            let known = self.live.take().filter(|&(at, order, _)| (at, order) == (moment, by));
            let (_, _, listed) = self.live.insert(known.unwrap_or_else(|| {
                (moment, by, Arc::new(Listed::live_at(device.timeline(), &labels, moment, by)))
            }));
            return Some(Arc::clone(listed));
        }
        self.all.ask(ctx, "sort", &by, || {
            let (snapshot, at) = (device.snapshot(), device.index());
            move || {
                Arc::new(
                    snapshot.timelines.get(at).map(|all| Listed::all(all, &labels, by)).unwrap_or_default(),
                )
            }
        });
        // Until the new order is there, the one before is better than nothing.
        self.all.latest().map(|(_, listed)| Arc::clone(listed))
    }
}

impl Listed {
    fn live_at(timeline: &Timeline, labels: &SiteLabels, moment: Moment, by: OrderBy) -> Self {
        let ids = AllocationSorter::new(timeline, labels).live_at(moment, by);
        let mut out = Self::of(timeline, ids);
        for &id in &out.ids {
            if timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment) {
                out.waiting += 1;
                let size = timeline.lifetimes.size(id, &timeline.events);
                out.waiting_bytes = out.waiting_bytes.saturating_add(size);
            }
        }
        out
    }

    fn all(timeline: &Timeline, labels: &SiteLabels, by: OrderBy) -> Self {
        Self::of(timeline, AllocationSorter::new(timeline, labels).all(by))
    }

    fn of(timeline: &Timeline, ids: Vec<AllocId>) -> Self {
        let sizes = ids.iter().map(|&id| timeline.lifetimes.size(id, &timeline.events));
        Self { bytes: sizes.fold(0, i64::saturating_add), ids, ..Self::default() }
    }
}

fn bar_ui(ui: &mut egui::Ui, device: &DeviceState, state: &mut State, listed: Option<&Listed>) {
    ui.horizontal(|ui| {
        ui.selectable_value(&mut state.shows_all, false, "At the cursor")
            .on_hover_text("What is live after the cursor's event");
        ui.selectable_value(&mut state.shows_all, true, "All")
            .on_hover_text("Everything that was ever allocated");
        ui.add_space(4.0);
        let text = listed.map_or_else(|| "sorting …".to_owned(), |listed| totals(device, state, listed));
        ui.label(theme::muted(ui, text)).on_hover_text(listed.map_or_else(String::new, exact));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let ids = listed.map_or(&[][..], |listed| &listed.ids);
            let rows = AllocationRows::new(device, ids, state.order.is_descending, None);
            csv_copy::ui(ui, &mut state.copied, ids.len(), 0, "the top", |out, range| {
                let ids = range.filter_map(|row| rows.id(row));
                report::allocations_csv(out, &device.snapshot(), device.timeline(), device.cursor, ids)
            });
        });
    });
}

fn totals(device: &DeviceState, state: &State, listed: &Listed) -> String {
    let (count, bytes) = (units::count(listed.ids.len() as u64), units::bytes(listed.bytes));
    if state.shows_all {
        return format!("{count} allocations in the recording, {bytes} in all");
    }
    let blocks = if listed.ids.len() == 1 { "block" } else { "blocks" };
    let place = match device.cursor.event() {
        Some(event) => format!("after event {}", units::count(event.0)),
        None if device.timeline().events.is_empty() => "when the snapshot was taken".to_owned(),
        None => "before the first event".to_owned(),
    };
    let mut text = format!("{count} {blocks}, {bytes} active {place}");
    if listed.waiting != 0 {
        let waiting = (units::count(listed.waiting as u64), units::bytes(listed.waiting_bytes));
        text = format!("{text} · {} of them, {}, waiting for a stream", waiting.0, waiting.1);
    }
    text
}

fn exact(listed: &Listed) -> String {
    units::bytes_exact(listed.bytes)
}

fn table_ui(
    ui: &mut egui::Ui,
    device: &mut DeviceState,
    state: &mut State,
    listed: &Listed,
    labels: Option<&SiteLabels>,
) {
    let rows = AllocationRows::new(device, &listed.ids, state.order.is_descending, labels);
    if state.followed != device.selection() {
        if let Some(row) = device.selected().and_then(|id| rows.row_of(id)) {
            state.list.reveal(Reveal::Centre(row));
        }
        state.followed = device.selection();
    }
    let list = VirtualList { name: "allocations", columns: &COLUMNS, sorted: state.order.column() };
    let answer = list.show(ui, &mut state.list, &rows);
    if let Some(column) = answer.sort_by {
        state.order = state.order.after_click(column);
        state.list.reveal(Reveal::Nearest(0));
    }
    let chosen = answer.clicked.or_else(|| {
        let row = device.selected().and_then(|id| rows.row_of(id));
        let last = listed.ids.len().checked_sub(1).filter(|_| answer.step != 0)?;
        // Without a selection, the first step goes to the first row.
        let row =
            row.map_or(0, |row| (row as i64).saturating_add(answer.step).clamp(0, last as i64) as usize);
        state.list.reveal(Reveal::Nearest(row));
        Some(row)
    });
    if let Some(id) = chosen.and_then(|row| rows.id(row)) {
        device.select(Selection::Allocation(id));
        state.followed = device.selection();
    }
}
