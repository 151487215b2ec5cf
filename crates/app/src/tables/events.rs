//! All events as a list that follows the cursor.

use super::csv_copy;
use super::event_rows::{COLUMNS, EventRows};
use super::scroll::Reveal;
use super::virtual_list::{ListState, VirtualList};
use crate::device::attributing::AttributionCell;
use crate::device::{Pane, PaneCtx, Selection, Standpoint};
use crate::pointed::{self, Thing};
use crate::query_field::{self, QueryField, Written};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::worker::Task;
use eframe::egui::{self, Key};
use oomscope_analysis::filter::{EventQuery, EventSearch, FilterError, Matches, Subject};
use oomscope_analysis::{EventMatches, EventSet};
use oomscope_model::{EventIx, Moment, Recording, Timeline};
use oomscope_report as report;
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// The memory of the panel between frames.
#[derive(Default)]
pub(crate) struct State {
    list: ListState,
    query: String,
    field: query_field::State,
    /// Whether events that do not match are left out.
    only_matching: bool,
    found: Background<SearchTask>,
    /// The cursor that the list was scrolled to.
    followed: Option<Moment>,
    copied: csv_copy::Note,
}

/// Where the search stands.
enum Search {
    /// Nothing is searched for, and nothing is filtered.
    None,
    Wrong(FilterError),
    /// The result, once it is known.
    Found(Option<Found>),
}

/// Events that a search and the filter leave.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    matches: Arc<EventMatches>,
    /// Parts of the query that the file cannot answer.
    notes: Arc<[String]>,
    /// The events of the allocations that the filter lets through.
    of_filter: Option<Arc<EventSet>>,
}

/// A search, and the allocations that the filter lets through.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SearchRequest {
    query: EventQuery,
    filter: Option<ByPtr<Matches>>,
}

/// Searches the events of one device.
#[derive(Clone)]
struct SearchTask {
    recording: Recording,
    attribution: AttributionCell,
}

impl Task for SearchTask {
    type Request = SearchRequest;
    type Response = Found;

    fn run(&self, SearchRequest { query, filter }: &SearchRequest) -> Found {
        let recording = &self.recording;
        let of_filter =
            filter.as_ref().map(|filter| Arc::new(EventSet::of_allocations(recording, filter.iter())));
        let search = if query.needs_attribution() {
            EventSearch::with_phases(query, recording, &self.attribution.get().phases)
        } else {
            EventSearch::new(query, recording)
        };
        let matches = Arc::new(search.matches(recording, of_filter.as_deref()));
        Found { matches, notes: search.notes().into(), of_filter }
    }
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        if ctx.recording.events.is_empty() {
            ui.label(theme::muted(ui, tr!("No events were recorded.")));
            return;
        }
        let search = self.search(ui.ctx(), ctx);
        bar_ui(ui, ctx, self, &search);
        ui.add_space(4.0);
        list_ui(ui, ctx, self, search.found());
    }
}

impl State {
    /// Keep the search of the same panel before the file was reloaded.
    pub(crate) fn keep(&mut self, old: &Self) {
        self.query.clone_from(&old.query);
        self.only_matching = old.only_matching;
    }

    /// The state of the search; a new one starts in the background.
    fn search(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) -> Search {
        let filter = ctx.derived.matches().cloned();
        let query = match EventQuery::parse(&self.query) {
            Ok(query) if query.is_empty() && filter.is_none() => return Search::None,
            Ok(query) => query,
            Err(error) => return Search::Wrong(error),
        };
        let task =
            || SearchTask { recording: ctx.recording.clone(), attribution: ctx.derived.attribution_cell() };
        let request = SearchRequest { query, filter };
        Search::Found(self.found.ask(&request, egui, ctx.derived.work_mode, "search", task).cloned())
    }
}

impl Search {
    fn found(&self) -> Option<&Found> {
        match self {
            Self::Found(found) => found.as_ref(),
            _ => None,
        }
    }
}

fn bar_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, search: &Search) {
    ui.horizontal(|ui| {
        let Field { is_active, go_on } = search_field(ui, ctx, state);
        let matches = search.found().map(|found| found.matches.as_ref());
        let can_go = matches.is_some_and(|matches| !matches.is_empty());
        let previous = egui::Button::new(tr!("Previous"));
        let previous = ui
            .add_enabled(can_go, previous)
            .on_hover_text(tr!("Go to the match before the cursor (Shift+Enter)"));
        let next = ui.add_enabled(can_go, egui::Button::new(tr!("Next")));
        let next = next.on_hover_text(tr!("Go to the match after the cursor (Enter)"));
        if let Some(matches) = matches {
            let at = ctx.at.cursor.event();
            let number = match go_on {
                _ if previous.clicked() || go_on == Some(false) => matches.previous(at),
                _ if next.clicked() || go_on == Some(true) => matches.next(at),
                _ => None,
            };
            if let Some(event) = number.and_then(|number| matches.get(number)) {
                ctx.at.go_to(Moment::after(event));
            }
        }
        ui.checkbox(&mut state.only_matching, tr!("Only matching"))
            .on_hover_text(tr!("Leave out events that do not match"));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let rows = EventRows::new(ctx, matches.filter(|_| state.only_matching));
            copy_ui(ui, ctx.recording, ctx.at, &rows, &mut state.copied);
            // The text takes the room that is left: reasons can be long.
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let text = theme::muted(ui, status(ctx.recording, ctx.at, search, is_active));
                ui.add(egui::Label::new(text).truncate());
            });
        });
    });
}

/// The field of the search that was shown.
struct Field {
    is_active: bool,
    /// `Some(true)` to go to the next match, `Some(false)` to the one before.
    go_on: Option<bool>,
}

fn search_field(ui: &mut egui::Ui, ctx: &PaneCtx<'_>, state: &mut State) -> Field {
    const HINT: &str = marked!("Search, as in: alloc >1MiB train.py");
    const WIDTH_PX: f32 = 250.0;
    let (recording, filtering) = (ctx.recording, &ctx.derived.filtering);
    let file = Arc::as_ptr(recording.snapshot()) as usize;
    let id = ui.make_persistent_id(("search events", file, recording.device));
    let vocabulary = filtering.vocabulary();
    let field = QueryField { id, subject: Subject::Events, hint: HINT, width_px: WIDTH_PX, vocabulary };
    let Written { response, is_active } = field.ui(ui, &mut state.query, &mut state.field);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("Search events")));
    if is_active {
        filtering.want_vocabulary();
    }
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if entered {
        response.request_focus();
        state.field.dismiss(&state.query);
    }
    response.on_hover_ui(|ui| {
        ui.label(tr!("Terms that must all hold; any other word is text in a frame of the stack:"));
        query_field::terms_ui(ui, Subject::Events);
    });
    Field { is_active, go_on: entered.then(|| !ui.input(|input| input.modifiers.shift)) }
}

/// The number of matches, or why there can be none.
fn status(timeline: &Timeline, at: &Standpoint, search: &Search, is_active: bool) -> String {
    let all = timeline.events.len() as u64;
    match search {
        Search::None => texts::events(all as usize),
        // The popup below the field says why.
        Search::Wrong(_) if is_active => tr!("not a query yet"),
        Search::Wrong(error) => error.to_string(),
        Search::Found(None) => tr!("searching …"),
        Search::Found(Some(Found { matches, notes, .. })) => {
            let mut of_all = tr!(
                "{found} of {all} event match" | "{found} of {all} events match" % all,
                found = units::count(matches.len() as u64),
                all = units::count(all)
            );
            for note in notes.iter() {
                of_all = format!("{of_all} · {note}");
            }
            match at.cursor.event().filter(|&event| matches.contains(event)) {
                Some(event) => {
                    format!(
                        "{} · {of_all}",
                        tr!("match {}", units::count(matches.count_before(event) as u64 + 1))
                    )
                }
                None => of_all,
            }
        }
    }
}

fn copy_ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    at: &Standpoint,
    rows: &EventRows<'_>,
    note: &mut csv_copy::Note,
) {
    let from = at.cursor.event().map_or(0, |event| rows.row_of(event));
    csv_copy::ui(ui, note, rows.count(), from, csv_copy::From::Cursor, |out, range| {
        let events = range.filter_map(|row| rows.event(row));
        report::events_csv(out, recording, events)
    });
}

fn list_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, found: Option<&Found>) {
    let matches = found.map(|found| found.matches.as_ref());
    let mut rows = EventRows::new(ctx, matches.filter(|_| state.only_matching));
    rows.labels = ctx.derived.stack_labels().map(Arc::as_ref);
    rows.marked = matches;
    rows.of_filter = found.and_then(|found| found.of_filter.as_deref());
    if state.followed != Some(ctx.at.cursor) {
        if !state.list.is_being_read(ui) {
            // Before the first event, the list starts with it.
            let event = ctx.at.cursor.event().unwrap_or(EventIx(0));
            state.list.reveal(Reveal::Centre(rows.row_of(event)));
        }
        state.followed = Some(ctx.at.cursor);
    }
    let list = VirtualList { name: marked!("events"), columns: &COLUMNS, sorted: None };
    let answer = list.show(ui, &mut state.list, &rows);
    if let Some(event) = answer.pointed.and_then(|row| rows.event(row)) {
        pointed::wanted(
            ui.ctx(),
            Some(Thing::Event { event, of: Selection::of_event(ctx.recording, event) }),
        );
    }
    let clicked = answer.clicked.and_then(|row| rows.event(row));
    let stepped = (answer.step != 0).then(|| rows.step(ctx.at.cursor, answer.step)).flatten();
    if let Some(event) = clicked {
        let selection = Selection::of_event(ctx.recording, event);
        ctx.at.go_to(Moment::after(event));
        ctx.at.select(selection);
        state.followed = Some(ctx.at.cursor);
    }
    if let Some((row, event)) = stepped {
        ctx.at.move_to(Moment::after(event));
        state.list.reveal(Reveal::Nearest(row));
        state.followed = Some(ctx.at.cursor);
    }
}
