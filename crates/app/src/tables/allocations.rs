//! A table of the allocations that are live at the cursor, or of all that were ever made.

use super::allocation_rows::{AllocationRows, Order, RowNames, Shown};
use super::csv_copy;
use super::scroll::Reveal;
use super::virtual_list::{ListState, VirtualList};
use crate::device::{Pane, PaneCtx, Selection};
use crate::pointed::{self, Thing};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::worker::Task;
use eframe::egui;
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{AllocationSorter, Attribution, OrderBy, StackLabels, TensorLabels};
use oomscope_model::{AllocId, Bytes, Moment, Recording, Timeline};
use oomscope_report as report;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The table's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    list: ListState,
    /// All allocations are listed, rather than those that are live at the cursor.
    shows_all: bool,
    order: Order,
    live: Memo<(Moment, ListRequest), Arc<Listed>>,
    all: Background<SortTask>,
    /// The selection that the table was scrolled to.
    followed: Selection,
    copied: csv_copy::Note,
}

/// Allocations in ascending order, and their totals.
#[derive(Debug)]
pub(crate) struct Listed {
    ids: Vec<AllocId>,
    /// Their number without the filter.
    unfiltered: usize,
    bytes: Bytes,
    /// The number of those that were given back and wait for a stream.
    waiting: usize,
    waiting_bytes: Bytes,
}

/// Everything that a list depends on except for the moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListRequest {
    by: OrderBy,
    /// Of the stacks, in the orders that ask for them.
    labels: Option<ByPtr<StackLabels>>,
    attribution: Option<ByPtr<Attribution>>,
    tensors: Option<ByPtr<TensorLabels>>,
    filter: Option<ByPtr<Matches>>,
}

/// Sorts all allocations of one device.
#[derive(Clone)]
struct SortTask(Recording);

impl Task for SortTask {
    type Request = ListRequest;
    type Response = Arc<Listed>;

    fn run(&self, request: &ListRequest) -> Arc<Listed> {
        Arc::new(Listed::all(&self.0, request))
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let listed = self.listed(ui.ctx(), ctx);
        bar_ui(ui, ctx, self, listed.as_deref());
        ui.add_space(4.0);
        if let Some(listed) = listed {
            table_ui(ui, ctx, self, &listed);
        }
    }

    fn keep(&mut self, old: &Self) {
        self.shows_all = old.shows_all;
        self.order = old.order;
    }
}

impl State {
    /// The list; `None` while all allocations are sorted for the first time.
    fn listed(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) -> Option<Arc<Listed>> {
        // Most orders need none of these. Otherwise, what arrives would sort every list again.
        let by = self.order.by;
        let labels = match by {
            OrderBy::Site => ctx.derived.stack_labels(),
            OrderBy::Module => ctx.derived.module_labels(),
            _ => None,
        };
        let attribution = ctx.derived.attribution().filter(|_| by == OrderBy::Category);
        let tensors = ctx.derived.tensor_labels().filter(|_| by == OrderBy::Tensor);
        let request = ListRequest {
            by,
            labels: labels.cloned().map(ByPtr),
            attribution: attribution.cloned().map(ByPtr),
            tensors: tensors.cloned().map(ByPtr),
            filter: ctx.derived.matches().cloned(),
        };
        if !self.shows_all {
            let moment = ctx.at.cursor;
            let list = || Arc::new(Listed::live_at(ctx.recording, moment, &request));
            return Some(self.live.get((moment, request.clone()), list));
        }
        let task = || SortTask(ctx.recording.clone());
        self.all.ask(&request, egui, ctx.derived.work_mode, "sort", task);
        // Until the new list is there, the one before is better than nothing.
        self.all.latest().cloned()
    }
}

impl Listed {
    fn live_at(timeline: &Timeline, moment: Moment, request: &ListRequest) -> Self {
        let mut out = Self::of(timeline, timeline.lifetimes.live_at(moment).collect(), request);
        for &id in &out.ids {
            if timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment) {
                out.waiting += 1;
                out.waiting_bytes += timeline.size(id);
            }
        }
        out
    }

    fn all(timeline: &Timeline, request: &ListRequest) -> Self {
        Self::of(timeline, timeline.ids().collect(), request)
    }

    fn of(
        timeline: &Timeline,
        mut ids: Vec<AllocId>,
        ListRequest { by, labels, attribution, tensors, filter }: &ListRequest,
    ) -> Self {
        let unfiltered = ids.len();
        if let Some(filter) = filter {
            ids.retain(|&id| filter.contains(id));
        }
        let bytes = ids.iter().map(|&id| timeline.size(id)).sum::<Bytes>();
        let mut sorter = AllocationSorter::new(timeline);
        if let Some(labels) = labels {
            sorter = sorter.with_labels(labels);
        }
        if let Some(attribution) = attribution {
            sorter = sorter.with_categories(&attribution.categories);
        }
        if let Some(tensors) = tensors {
            sorter = sorter.with_tensors(tensors);
        }
        let ids = sorter.sort(ids, *by);
        Self { ids, unfiltered, bytes, waiting: 0, waiting_bytes: Bytes::ZERO }
    }
}

fn bar_ui(ui: &mut egui::Ui, ctx: &PaneCtx<'_>, state: &mut State, listed: Option<&Listed>) {
    ui.horizontal(|ui| {
        for (shows_all, name, meaning) in [
            (false, tr!("At the cursor"), tr!("What is live after the cursor's event")),
            (true, tr!("All"), tr!("Everything that was ever allocated")),
        ] {
            if ui.selectable_value(&mut state.shows_all, shows_all, name).on_hover_text(meaning).changed() {
                // The selection is in another row of the other list, so scroll to it again.
                state.followed = Selection::None;
            }
        }
        ui.add_space(4.0);
        let text = listed.map_or_else(|| tr!("sorting …"), |listed| totals(ctx, state.shows_all, listed));
        let exact = listed.map(|listed| units::bytes_exact(listed.bytes));
        ui.label(theme::muted(ui, text)).on_hover_text(exact.unwrap_or_default());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let ids = listed.map_or(&[][..], |listed| &listed.ids);
            let names = RowNames::default();
            let rows = AllocationRows::new(ctx.recording, ctx.at, ids, state.order.is_descending, names);
            csv_copy::ui(ui, &mut state.copied, ids.len(), 0, csv_copy::From::Top, |out, range| {
                let ids = range.filter_map(|row| rows.id(row));
                report::allocations_csv(out, ctx.recording, ctx.at.cursor, ids)
            });
        });
    });
}

/// The number of listed allocations and their bytes, in words.
fn totals(ctx: &PaneCtx<'_>, shows_all: bool, listed: &Listed) -> String {
    let (count, bytes) = (units::count(listed.ids.len() as u64), units::bytes(listed.bytes));
    let of_all = if ctx.derived.matches().is_some() {
        tr!("{count} of {} match", units::count(listed.unfiltered as u64), count)
    } else if shows_all {
        tr!(
            "{count} allocation in the recording" | "{count} allocations in the recording" % listed.ids.len(),
            count
        )
    } else {
        texts::blocks(listed.ids.len())
    };
    if shows_all {
        return tr!("{of_all}, {bytes} in all", of_all, bytes);
    }
    let place = match ctx.at.cursor.event() {
        Some(event) => tr!("after event {}", units::count(event.0)),
        None if ctx.recording.events.is_empty() => tr!("when the snapshot was taken"),
        None => tr!("before the first event"),
    };
    if listed.waiting == 0 {
        return tr!("{of_all}, {bytes} active {place}", of_all, bytes, place);
    }
    let waiting = (units::count(listed.waiting as u64), units::bytes(listed.waiting_bytes));
    tr!(
        "{of_all}, {bytes} active {place} · {} of them, {}, waiting for a stream",
        waiting.0,
        waiting.1,
        of_all,
        bytes,
        place
    )
}

fn table_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, listed: &Listed) {
    let (ids, is_descending) = (&listed.ids, state.order.is_descending);
    let rows = AllocationRows::new(ctx.recording, ctx.at, ids, is_descending, RowNames::of(ctx.derived));
    // Only a selection that was made elsewhere is scrolled to: a row that was clicked stays where it is.
    if state.followed != ctx.at.selection() {
        if let Some(row) = ctx.at.selected_allocation().and_then(|id| rows.row_of(id)) {
            state.list.reveal(Reveal::Centre(row));
        }
        state.followed = ctx.at.selection();
    }
    let columns = Shown { has_tensors: ctx.derived.has_tensors() };
    let list = VirtualList {
        name: marked!("allocations"),
        columns: columns.all(),
        sorted: columns.sorted(state.order),
    };
    let answer = list.show(ui, &mut state.list, &rows);
    if let Some(column) = answer.sort_by {
        state.order = state.order.after_click(columns.column(column));
        state.list.reveal(Reveal::Nearest(0));
    }
    if let Some(id) = answer.pointed.and_then(|row| rows.id(row)) {
        pointed::wanted(ui.ctx(), Some(Thing::Allocation(id)));
    }
    let chosen = answer.clicked.or_else(|| {
        let last = listed.ids.len().checked_sub(1).filter(|_| answer.step != 0)?;
        let row = ctx.at.selected_allocation().and_then(|id| rows.row_of(id));
        // Without a selection, the first step goes to the first row.
        let row =
            row.map_or(0, |row| (row as i64).saturating_add(answer.step).clamp(0, last as i64) as usize);
        state.list.reveal(Reveal::Nearest(row));
        Some(row)
    });
    if let Some(id) = chosen.and_then(|row| rows.id(row)) {
        ctx.at.select(Selection::Allocation(id));
        state.followed = ctx.at.selection();
    }
}
