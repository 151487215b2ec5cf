//! All events as a list that follows the cursor.

use super::csv_copy;
use super::event_rows::{COLUMNS, EventRows};
use super::scroll::Reveal;
use super::virtual_list::{ListState, VirtualList};
use crate::analysis::filter::Matches;
use crate::analysis::{EventMatches, EventSearch, EventSet, SearchError};
use crate::app::device::{PaneCtx, Selection, Standpoint};
use crate::app::theme;
use crate::app::work::background::Background;
use crate::app::work::by_ptr::ByPtr;
use crate::app::work::worker::Task;
use crate::model::{Action, AllocId, EventIx, Moment, Recording, Timeline};
use crate::report;
use crate::units;
use eframe::egui::{self, Key};
use std::sync::Arc;

/// What the panel remembers.
#[derive(Default)]
pub(in crate::app) struct State {
    list: ListState,
    search: String,
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
    Wrong(SearchError),
    /// What was found, once it is known.
    Found(Option<Found>),
}

/// What a search and the filter leave.
#[derive(Debug, Clone)]
pub(in crate::app) struct Found {
    matches: Arc<EventMatches>,
    /// The events of the allocations that the filter lets through.
    of_filter: Option<Arc<EventSet>>,
}

/// What to search for, and what the filter lets through.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct SearchRequest {
    search: EventSearch,
    filter: Option<ByPtr<Matches>>,
}

/// Searches the events of one device.
#[derive(Clone)]
struct SearchTask(Recording);

impl Task for SearchTask {
    type Request = SearchRequest;
    type Response = Found;

    fn run(&self, SearchRequest { search, filter }: &SearchRequest) -> Found {
        let timeline = self.0.timeline();
        let of_filter =
            filter.as_ref().map(|filter| Arc::new(EventSet::of_allocations(timeline, filter.iter())));
        let matches = search.run(self.0.snapshot(), timeline, of_filter.as_deref());
        Found { matches: Arc::new(matches), of_filter }
    }
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    if ctx.recording.events.is_empty() {
        ui.label(theme::muted(ui, "No events were recorded."));
        return;
    }
    let search = state.search(ui.ctx(), ctx);
    bar_ui(ui, ctx, state, &search);
    ui.add_space(4.0);
    list_ui(ui, ctx, state, search.found());
}

impl State {
    /// Keep what was searched for.
    pub(in crate::app) fn keep(&mut self, old: &Self) {
        self.search.clone_from(&old.search);
        self.only_matching = old.only_matching;
    }

    /// The state of the search; a new one starts in the background.
    fn search(&mut self, egui: &egui::Context, ctx: &PaneCtx<'_>) -> Search {
        let filter = ctx.derived.matches().cloned();
        let search = match EventSearch::parse(&self.search) {
            Ok(search) if search.is_empty() && filter.is_none() => return Search::None,
            Ok(search) => search,
            Err(error) => return Search::Wrong(error),
        };
        let task = || SearchTask(ctx.recording.clone());
        let request = SearchRequest { search, filter };
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
        let go_on = search_field(ui, state);
        let matches = search.found().map(|found| found.matches.as_ref());
        let can_go = matches.is_some_and(|matches| !matches.is_empty());
        let previous = egui::Button::new("Previous");
        let previous =
            ui.add_enabled(can_go, previous).on_hover_text("Go to the match before the cursor (Shift+Enter)");
        let next = ui.add_enabled(can_go, egui::Button::new("Next"));
        let next = next.on_hover_text("Go to the match after the cursor (Enter)");
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
        ui.checkbox(&mut state.only_matching, "Only matching")
            .on_hover_text("Leave out events that do not match");
        ui.label(theme::muted(ui, status(ctx.recording, ctx.at, search)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let rows = EventRows::new(ctx, matches.filter(|_| state.only_matching));
            copy_ui(ui, ctx.recording, ctx.at, &rows, &mut state.copied);
        });
    });
}

/// The field; `Some(true)` to go to the next match, `Some(false)` to the one before.
fn search_field(ui: &mut egui::Ui, state: &mut State) -> Option<bool> {
    const HINT: &str = "Search, as in: alloc >1MiB train.py";
    const MEANING: &str = "Terms that must all hold:\n\
        alloc, free, segment, oom, …   what happened\n\
        >1MiB, <=512, =2GiB   the size\n\
        0x7f21ac000200   blocks and segments that contain an address\n\
        stream:7   the stream\n\
        #1234   the number of the event\n\
        anything else, or \"in quotes\"   text in a frame of the stack";
    let field = egui::TextEdit::singleline(&mut state.search).hint_text(HINT).desired_width(250.0);
    let response = ui.add(field);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search events"));
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if entered {
        response.request_focus();
    }
    response.on_hover_text(MEANING);
    entered.then(|| !ui.input(|input| input.modifiers.shift))
}

/// How many match, or why none can.
fn status(timeline: &Timeline, at: &Standpoint, search: &Search) -> String {
    let all = timeline.events.len() as u64;
    match search {
        Search::None => format!("{} events", units::count(all)),
        Search::Wrong(error) => error.to_string(),
        Search::Found(None) => "searching …".to_owned(),
        Search::Found(Some(Found { matches, .. })) => {
            let of_all =
                format!("{} of {} events match", units::count(matches.len() as u64), units::count(all));
            match at.cursor.event().filter(|&event| matches.contains(event)) {
                Some(event) => {
                    format!("match {} · {of_all}", units::count(matches.count_before(event) as u64 + 1))
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
    csv_copy::ui(ui, note, rows.count(), from, "the cursor", |out, range| {
        let events = range.filter_map(|row| rows.event(row));
        report::events_csv(out, recording.snapshot(), recording, events)
    });
}

fn list_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, found: Option<&Found>) {
    let matches = found.map(|found| found.matches.as_ref());
    let mut rows = EventRows::new(ctx, matches.filter(|_| state.only_matching));
    rows.labels = ctx.derived.site_labels().map(Arc::as_ref);
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
    let list = VirtualList { name: "events", columns: &COLUMNS, sorted: None };
    let answer = list.show(ui, &mut state.list, &rows);
    let clicked = answer.clicked.and_then(|row| rows.event(row));
    let stepped = (answer.step != 0).then(|| rows.step(ctx.at.cursor, answer.step)).flatten();
    if let Some(event) = clicked {
        let selection = selection_of(ctx.recording, event);
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

/// What an event is about.
fn selection_of(timeline: &Timeline, event: EventIx) -> Selection {
    let events = &timeline.events;
    match events.action(event) {
        Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
            events.addr(event).map_or(Selection::None, |addr| Selection::Segment { addr })
        }
        Action::Alloc => {
            timeline.lifetimes.of_alloc_event(event).map_or(Selection::None, Selection::Allocation)
        }
        _ => live_at_address(timeline, event).map_or(Selection::None, Selection::Allocation),
    }
}

/// The allocation that was live before an event at the event's address.
fn live_at_address(timeline: &Timeline, event: EventIx) -> Option<AllocId> {
    let addr = timeline.events.addr(event).filter(|_| timeline.events.action(event) != Action::Oom)?;
    let mut live = timeline.lifetimes.live_at(Moment(event.0));
    live.find(|&id| timeline.addr(id) == addr)
}
