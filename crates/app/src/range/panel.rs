//! The pane *Range*: the marked range in figures, and its memory by category or by line of code.

use super::computing::{RangeFigures, RangeRequest, RangeTask};
use super::table::{self, Chosen, Order, Rows, RowsBy, ShownRow};
use crate::device::{Pane, PaneCtx, Selection, Standpoint, Wish};
use crate::tables::scroll::Reveal;
use crate::tables::virtual_list::{ListState, VirtualList};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_analysis::Amount;
use oomscope_model::{Bytes, Moment};
use oomscope_units as units;
use std::rc::Rc;
use std::sync::Arc;
use tr::tr;

/// Width of the figures beside the table, in points: room for names, sizes and counts.
const FIGURES_PX: f32 = 286.0;

/// Narrower panes, in points, have the table below the figures: beside them it would lose the column of names.
const MIN_BESIDE_PX: f32 = 750.0;

/// Space between the figures and the table, in points.
const GAP_PX: f32 = 14.0;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 10.0;

/// The names of two figures, and their meanings.
const NET: (&str, &str) = (
    marked!("Net change"),
    marked!("Live bytes at the end of the range, less those at its start: kept, less freed from before"),
);
const PEAK: (&str, &str) = (marked!("Peak"), marked!("Most bytes that are active in the range"));

const HINT: &str = marked!(
    "Drag over the timeline with Ctrl held to mark a range: what was allocated in it, what was freed, \
                    and what stayed, by category and by line of code."
);

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    background: Background<RangeTask>,
    pub(super) by: RowsBy,
    order: Order,
    list: ListState,
    rows: Memo<(ByPtr<RangeFigures>, RowsBy, Order), Rc<[ShownRow]>>,
}

impl State {
    /// The latest figures.
    #[cfg(test)]
    pub(crate) fn figures(&self) -> Option<&Arc<RangeFigures>> {
        self.background.latest()
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let Some(range) = ctx.at.range() else {
            ui.add(egui::Label::new(theme::muted(ui, texts::translated(HINT))).wrap());
            return;
        };
        let request = RangeRequest {
            range,
            attribution: ctx.derived.attribution().cloned().map(ByPtr),
            labels: ctx.derived.stack_labels().cloned().map(ByPtr),
        };
        let task = || RangeTask::new(ctx.recording.clone());
        self.background.ask(&request, ui.ctx(), ctx.derived.work_mode, "range", task);
        // While an end is dragged, the figures of the range before are better than none.
        let Some(figures) = self.background.latest().cloned() else {
            ui.label(theme::muted(ui, tr!("Adding up the range …")));
            return;
        };
        if tools_ui(ui, ctx.at, &figures, self) {
            *ctx.wish = Some(Wish::ShowChange);
        }
        ui.add_space(4.0);
        let all = ui.available_rect_before_wrap();
        if all.width() < MIN_BESIDE_PX {
            ui.horizontal_wrapped(|ui| line_ui(ui, ctx.at, &figures));
            ui.add_space(4.0);
            table_ui(ui, ctx, self, &figures);
            return;
        }
        let (left, right) = all.split_left_right_at_x(all.left() + FIGURES_PX);
        ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
            egui::ScrollArea::vertical().id_salt("figures").auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - SCROLL_BAR_PX);
                figures_ui(ui, ctx.at, &figures);
            });
        });
        ui.scope_builder(egui::UiBuilder::new().max_rect(right.with_min_x(right.left() + GAP_PX)), |ui| {
            table_ui(ui, ctx, self, &figures);
        });
    }

    fn keep(&mut self, old: &Self) {
        (self.by, self.order) = (old.by, old.order);
    }
}

/// The place of the range, and what to do with it. Returns true if the user wants to see the change by stack.
fn tools_ui(ui: &mut egui::Ui, at: &mut Standpoint, figures: &RangeFigures, state: &mut State) -> bool {
    let mut wants_change = false;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
        for (by, name, hint) in [
            (RowsBy::Category, tr!("By category"), tr!("What the memory of the range is for")),
            (RowsBy::Line, tr!("By line"), tr!("The lines of code that allocated it")),
        ] {
            if ui.selectable_label(state.by == by, theme::small(name)).on_hover_text(hint).clicked() {
                state.by = by;
                state.list.reveal(Reveal::Nearest(0));
            }
        }
        ui.add_space(6.0);
        let query = figures.range.query();
        let hint = tr!("Show only what was allocated in the range: {query}", query);
        let is_filtered = at.query == query;
        if ui.selectable_label(is_filtered, theme::small(tr!("Filter to it"))).on_hover_text(hint).clicked() {
            at.toggle_filter(query);
        }
        if ui
            .button(theme::small(tr!("Zoom to it")))
            .on_hover_text(tr!("Show the range in full width"))
            .clicked()
        {
            at.zoom_to_range();
        }
        let hint = tr!("Stacks: what is live at the end of the range less what was at its start");
        wants_change = ui.button(theme::small(tr!("Change by stack"))).on_hover_text(hint).clicked();
        if ui.button(theme::small(tr!("Clear range"))).on_hover_text(tr!("Mark no range (Esc)")).clicked() {
            at.leave();
            at.draw_range(None);
        }
        ui.label(theme::muted(ui, place(figures)).size(12.0));
    });
    wants_change
}

/// `events 1,204 to 2,410 · 1,207 events in 12.3 ms`.
fn place(figures: &RangeFigures) -> String {
    let events = figures.range.events();
    let [first, last] = [events.start, events.end.saturating_sub(1)].map(units::count);
    let number = texts::events(events.len());
    let number = match figures.duration_us {
        Some(us) => tr!("{number} in {time}", number, time = units::duration_us(us)),
        None => number,
    };
    tr!("events {first} to {last} · {number}", first, last, number)
}

/// The sums by name, each with its meaning.
fn sums(figures: &RangeFigures) -> [(String, Amount, String); 4] {
    let sums = &figures.sums;
    [
        (tr!("Allocated"), sums.allocated, tr!("Allocated within the range, freed or not")),
        (tr!("Kept"), sums.kept, tr!("Of these, still live at the end of the range")),
        (tr!("Freed"), sums.freed(), tr!("Freed within the range, whenever it was allocated")),
        (tr!("… from before"), sums.gone, tr!("Of these, live when the range began")),
    ]
}

fn exact_text(amount: Amount) -> String {
    let size = units::bytes_exact(Bytes::clamped(amount.bytes));
    let count = units::count(amount.count);
    tr!("{size} in {count} allocation" | "{size} in {count} allocations" % amount.count, size, count)
}

/// The sums in a line, where there is no room for a table of them.
fn line_ui(ui: &mut egui::Ui, at: &mut Standpoint, figures: &RangeFigures) {
    ui.spacing_mut().interact_size.y = 0.0;
    ui.spacing_mut().item_spacing = egui::vec2(6.0, 2.0);
    for (name, amount, hint) in sums(figures) {
        ui.label(theme::muted(ui, name)).on_hover_text(hint);
        ui.label(units::bytes(Bytes::clamped(amount.bytes))).on_hover_text(exact_text(amount));
    }
    ui.label(theme::muted(ui, texts::translated(NET.0))).on_hover_text(texts::translated(NET.1));
    let net = figures.sums.net_bytes();
    ui.label(theme::strong(units::bytes_change(net), 13.0))
        .on_hover_text(units::bytes_exact(Bytes::clamped(net)));
    if let Some(peak) = figures.peak {
        ui.label(theme::muted(ui, texts::translated(PEAK.0))).on_hover_text(texts::translated(PEAK.1));
        peak_ui(ui, at, peak);
    }
}

/// The sums. The filter does not change them.
fn figures_ui(ui: &mut egui::Ui, at: &mut Standpoint, figures: &RangeFigures) {
    // Rows of text only: the height of buttons would leave no room for all of them.
    ui.spacing_mut().interact_size.y = 0.0;
    egui::Grid::new("figures of the range").num_columns(3).spacing([14.0, 2.0]).show(ui, |ui| {
        for (name, amount, hint) in sums(figures) {
            amount_ui(ui, name, amount, hint);
        }
        let net = figures.sums.net_bytes();
        ui.label(theme::muted(ui, texts::translated(NET.0))).on_hover_text(texts::translated(NET.1));
        ui.label(theme::strong(units::bytes_change(net), 13.0))
            .on_hover_text(units::bytes_exact(Bytes::clamped(net)));
        ui.end_row();
        if let Some(peak) = figures.peak {
            ui.label(theme::muted(ui, texts::translated(PEAK.0))).on_hover_text(texts::translated(PEAK.1));
            peak_ui(ui, at, peak);
            let place = peak.0.event().map_or_else(
                || tr!("before the first event"),
                |event| tr!("after event {}", units::count(event.0)),
            );
            ui.label(theme::muted(ui, place));
            ui.end_row();
        }
    });
}

fn peak_ui(ui: &mut egui::Ui, at: &mut Standpoint, (moment, bytes): (Moment, Bytes)) {
    let link = ui.link(units::bytes(bytes));
    if link.on_hover_text(format!("{}\n{}", units::bytes_exact(bytes), tr!("Go there"))).clicked() {
        at.go_to(moment);
    }
}

fn amount_ui(ui: &mut egui::Ui, name: String, amount: Amount, hint: String) {
    let bytes = Bytes::clamped(amount.bytes);
    ui.label(theme::muted(ui, name)).on_hover_text(hint);
    ui.label(units::bytes(bytes)).on_hover_text(units::bytes_exact(bytes));
    ui.label(theme::muted(ui, texts::allocations(amount.count as usize)));
    ui.end_row();
}

fn table_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, figures: &Arc<RangeFigures>) {
    let labels = ctx.derived.stack_labels().map(Arc::as_ref);
    let key = (ByPtr(Arc::clone(figures)), state.by, state.order);
    let rows = state.rows.get(key, || table::rows(figures, state.by, state.order, labels).into());
    let rows = Rows {
        all: &rows,
        snapshot: ctx.recording.snapshot(),
        labels,
        query: &ctx.at.query,
        selected: ctx.at.selected_stack(),
    };
    let list =
        VirtualList { name: marked!("range"), columns: &table::COLUMNS, sorted: Some(state.order.column()) };
    let answer = list.show(ui, &mut state.list, &rows);
    if let Some(column) = answer.sort_by {
        state.order = state.order.after_click(column);
        state.list.reveal(Reveal::Nearest(0));
    }
    let stepped = rows.all.len().checked_sub(1).filter(|_| answer.step != 0).map(|last| {
        let next = |row| (row as i64).saturating_add(answer.step).clamp(0, last as i64) as usize;
        rows.current().map_or(0, next)
    });
    let is_click = answer.clicked.is_some();
    let chosen = answer.clicked.or(stepped).and_then(|row| rows.chosen(row)).cloned();
    match chosen {
        Some(Chosen::Filter(query)) if is_click => ctx.at.toggle_filter(query),
        Some(Chosen::Filter(query)) => ctx.at.filter(query),
        Some(Chosen::Select(stack)) => ctx.at.select(Selection::Stack(stack)),
        None => {}
    }
}
