//! What is live at the cursor, or everything that was ever allocated, as a table.

use super::allocation_rows::{AllocationRows, COLUMNS, Order};
use super::scroll::Reveal;
use super::virtual_list::{ListState, VirtualList};
use super::{cells, csv_copy};
use crate::analysis::filter::Matches;
use crate::analysis::{AllocationSorter, OrderBy, SiteLabels};
use crate::app::background::Background;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::app::worker::Task;
use crate::model::{AllocId, Moment, Snapshot, Timeline};
use crate::report;
use crate::units;
use eframe::egui;
use std::sync::Arc;

/// What the panel remembers.
#[derive(Default)]
pub(in crate::app) struct State {
    list: ListState,
    /// Whether all allocations are listed, rather than those that are live at the cursor.
    shows_all: bool,
    order: Order,
    live: Option<(Moment, Question, Arc<Listed>)>,
    all: Background<Sorter>,
    /// The selection that the table was scrolled to.
    followed: Selection,
    copied: csv_copy::Note,
}

/// Allocations in ascending order, and their totals.
#[derive(Debug)]
pub(in crate::app) struct Listed {
    ids: Vec<AllocId>,
    /// How many there are with those that the filter leaves out.
    unfiltered: usize,
    bytes: i64,
    /// Those that were given back and wait for a stream.
    waiting: usize,
    waiting_bytes: i64,
}

/// What to list, but for the moment.
#[derive(Debug, Clone)]
pub(in crate::app) struct Question {
    by: OrderBy,
    labels: Option<Arc<SiteLabels>>,
    filter: Option<Arc<Matches>>,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        let filters = [&self.filter, &other.filter].map(|filter| filter.as_ref().map(Arc::as_ptr));
        self.by == other.by && self.labels.is_some() == other.labels.is_some() && filters[0] == filters[1]
    }
}

/// Sorts all allocations of one device.
#[derive(Clone)]
struct Sorter {
    snapshot: Arc<Snapshot>,
    at: usize,
}

impl Task for Sorter {
    type Wish = Question;
    type Done = Arc<Listed>;

    fn run(&self, question: &Question) -> Arc<Listed> {
        Arc::new(Listed::all(&self.snapshot.timelines[self.at], question))
    }
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let mut state = std::mem::take(&mut device.panels.allocations);
    let labels = cells::labels(ui.ctx(), device);
    let listed = state.listed(ui.ctx(), device, labels.clone());
    bar_ui(ui, device, &mut state, listed.as_deref());
    ui.add_space(4.0);
    if let Some(listed) = listed {
        table_ui(ui, device, &mut state, &listed, labels.as_deref());
    }
    device.panels.allocations = state;
}

impl State {
    /// Keep how the table was set up.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.shows_all = old.shows_all;
        self.order = old.order;
    }

    /// What is listed; `None` while all allocations are sorted for the first time.
    fn listed(
        &mut self,
        ctx: &egui::Context,
        device: &DeviceState,
        labels: Option<Arc<SiteLabels>>,
    ) -> Option<Arc<Listed>> {
        // Labels only matter to the order by site.
        let labels = labels.filter(|_| self.order.by == OrderBy::Site);
        let question = Question { by: self.order.by, labels, filter: device.matches().cloned() };
        if !self.shows_all {
            let at = device.cursor;
            let known = self.live.take().filter(|(moment, known, _)| (moment, known) == (&at, &question));
            let listed = || Arc::new(Listed::live_at(device.timeline(), at, &question));
            let known = known.map_or_else(listed, |(_, _, listed)| listed);
            self.live = Some((at, question, Arc::clone(&known)));
            return Some(known);
        }
        let task = || Sorter { snapshot: device.snapshot(), at: device.index() };
        self.all.ask(&question, ctx, device.raster_mode(), "sort", task);
        // Until the new order is there, the one before is better than nothing.
        self.all.latest().cloned()
    }
}

impl Listed {
    fn live_at(timeline: &Timeline, moment: Moment, question: &Question) -> Self {
        let mut out = Self::of(timeline, timeline.lifetimes.live_at(moment).collect(), question);
        for &id in &out.ids {
            if timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment) {
                out.waiting += 1;
                let size = timeline.lifetimes.size(id, &timeline.events);
                out.waiting_bytes = out.waiting_bytes.saturating_add(size);
            }
        }
        out
    }

    fn all(timeline: &Timeline, question: &Question) -> Self {
        Self::of(timeline, (0..timeline.lifetimes.len() as u32).map(AllocId).collect(), question)
    }

    fn of(timeline: &Timeline, mut ids: Vec<AllocId>, Question { by, labels, filter }: &Question) -> Self {
        let unfiltered = ids.len();
        if let Some(filter) = filter {
            ids.retain(|&id| filter.contains(id));
        }
        let sizes = ids.iter().map(|&id| timeline.lifetimes.size(id, &timeline.events));
        let bytes = sizes.fold(0, i64::saturating_add);
        // Until there are labels, all of them are equal.
        let labels = labels.clone().unwrap_or_default();
        let ids = AllocationSorter::new(timeline, &labels).sort(ids, *by);
        Self { ids, unfiltered, bytes, waiting: 0, waiting_bytes: 0 }
    }
}

fn bar_ui(ui: &mut egui::Ui, device: &DeviceState, state: &mut State, listed: Option<&Listed>) {
    ui.horizontal(|ui| {
        for (shows_all, name, meaning) in [
            (false, "At the cursor", "What is live after the cursor's event"),
            (true, "All", "Everything that was ever allocated"),
        ] {
            if ui.selectable_value(&mut state.shows_all, shows_all, name).on_hover_text(meaning).changed() {
                // The selection is somewhere else in the other list.
                state.followed = Selection::None;
            }
        }
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
    let of_all = if device.matches().is_some() {
        format!("{count} of {} match", units::count(listed.unfiltered as u64))
    } else if state.shows_all {
        format!("{count} allocations in the recording")
    } else {
        units::counted(listed.ids.len(), "block")
    };
    if state.shows_all {
        return format!("{of_all}, {bytes} in all");
    }
    let place = match device.cursor.event() {
        Some(event) => format!("after event {}", units::count(event.0)),
        None if device.timeline().events.is_empty() => "when the snapshot was taken".to_owned(),
        None => "before the first event".to_owned(),
    };
    if listed.waiting == 0 {
        return format!("{of_all}, {bytes} active {place}");
    }
    let waiting = (units::count(listed.waiting as u64), units::bytes(listed.waiting_bytes));
    format!("{of_all}, {bytes} active {place} · {} of them, {}, waiting for a stream", waiting.0, waiting.1)
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
        let last = listed.ids.len().checked_sub(1).filter(|_| answer.step != 0)?;
        let row = device.selected().and_then(|id| rows.row_of(id));
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
