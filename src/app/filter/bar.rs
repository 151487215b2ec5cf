//! The filter: one line for all panes, and beside it what it finds.

use super::popup;
use crate::analysis::filter::{Completion, Filter, Matches};
use crate::app::device::filtering::{FilterMode, Filtering, Found};
use crate::app::device::{Derived, Standpoint};
use crate::app::theme;
use crate::app::work::by_ptr::ByPtr;
use crate::app::work::memo::Memo;
use crate::model::{Moment, Recording, Timeline};
use crate::units;
use eframe::egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use eframe::egui::{self, EventFilter, Id, Stroke, TextEdit};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Height of the line.
pub(in crate::app) const HEIGHT_PX: f32 = 34.0;

/// Share of the line that the field takes, and its limits.
const FIELD_SHARE: f32 = 0.36;
const FIELD_PX: RangeInclusive<f32> = 200.0..=560.0;

/// With less room than this, the result is one text that is cut.
const MIN_RESULT_PX: f32 = 470.0;

const HINT: &str = "size>100MB attention stream:7 live …";

/// What the bar remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    /// The field is to take the keyboard.
    pub(in crate::app) wants_focus: bool,
    popup: popup::State,
    at_cursor: Memo<(ByPtr<Matches>, Moment), AtCursor>,
    /// The query before the field had the keyboard.
    before: Option<String>,
}

/// What matches at the cursor.
#[derive(Clone, Copy)]
struct AtCursor {
    bytes: i64,
    blocks: usize,
}

pub(in crate::app) fn ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &mut Derived,
    at: &mut Standpoint,
    state: &mut State,
) {
    ui.horizontal_centered(|ui| {
        let is_active = field_ui(ui, recording, &mut derived.filtering, at, state);
        if !at.query.is_empty() {
            if ui.button("Clear").on_hover_text("Show everything again").clicked() {
                at.filter(String::new());
            }
            mode_ui(ui, at);
            ui.add_space(6.0);
            result_ui(ui, recording, &derived.filtering, at, state, is_active);
        }
    });
}

/// The field and its popup. Returns whether the user is writing.
fn field_ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    filtering: &mut Filtering,
    at: &mut Standpoint,
    state: &mut State,
) -> bool {
    // Every device has its own history of what was written.
    let id = ui.make_persistent_id(("filter", Arc::as_ptr(recording.snapshot()) as usize, recording.index()));
    if let Some(taken) = state.popup.keys(ui.ctx(), &at.query) {
        accept(ui.ctx(), id, &mut at.query, &taken);
    }
    let is_open = state.popup.is_open();
    let label = ui.label(theme::muted(ui, "Filter")).on_hover_text("Write a filter (/)");
    let width = (ui.available_width() * FIELD_SHARE).clamp(*FIELD_PX.start(), *FIELD_PX.end());
    let mut layouter = |ui: &egui::Ui, text: &dyn egui::TextBuffer, _: f32| {
        let job = layout(ui, text.as_str());
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    let written = at.query.clone();
    let field = TextEdit::singleline(&mut at.query)
        .id(id)
        .hint_text(HINT)
        .desired_width(width)
        .event_filter(EventFilter { tab: is_open, escape: is_open, ..arrows })
        .layouter(&mut layouter)
        .show(ui);
    let response = field.response.response.clone().labelled_by(label.id);
    if std::mem::take(&mut state.wants_focus) {
        response.request_focus();
    }
    if response.gained_focus() {
        state.before = Some(written.clone());
    } else if !response.has_focus()
        && let Some(before) = state.before.take()
    {
        at.query_was_written(before);
    }
    let is_active = response.has_focus() || (is_open && state.popup.is_under(ui.ctx()));
    filtering.update(ui.ctx(), &at.query, at.cursor, is_active);
    if !is_active {
        state.popup.close();
        return false;
    }
    if let Some(range) = field.cursor_range {
        let byte = byte_of_char(&at.query, range.primary.index.0);
        state.popup.ask(&at.query, byte, filtering.vocabulary());
    }
    if let Some(clicked) = state.popup.ui(&response, filtering.error()) {
        accept(ui.ctx(), id, &mut at.query, &clicked);
        response.request_focus();
    }
    true
}

/// The query with what is wrong in it marked.
fn layout(ui: &egui::Ui, query: &str) -> LayoutJob {
    let palette = theme::palette(ui);
    let font_id = egui::TextStyle::Monospace.resolve(ui.style());
    let plain = TextFormat { font_id, color: theme::color(palette.text), ..Default::default() };
    let marked = TextFormat {
        background: theme::faded(palette.accent, 0.2),
        underline: Stroke::new(1.5, theme::color(palette.accent)),
        ..plain.clone()
    };
    let range = Filter::parse(query).err().map_or(0..0, |error| error.range);
    let mut job = LayoutJob::default();
    job.wrap.max_width = f32::INFINITY;
    for (part, format) in [
        (query.get(..range.start), &plain),
        (query.get(range.clone()), &marked),
        (query.get(range.end..), &plain),
    ] {
        job.append(part.unwrap_or_default(), 0.0, format.clone());
    }
    job
}

/// Write a completion into the query, and put the text cursor behind it.
fn accept(ctx: &egui::Context, id: Id, query: &mut String, completion: &Completion) {
    let range = completion.range.clone();
    if query.get(range.clone()).is_none() {
        return;
    }
    query.replace_range(range.clone(), &completion.text);
    let mut end = range.start + completion.text.len();
    if completion.is_whole_term {
        if query.len() == end {
            query.push(' ');
        }
        end += usize::from(query[end..].starts_with(' '));
    }
    let mut state = TextEdit::load_state(ctx, id).unwrap_or_default();
    let cursor = CCursor::new(egui::text::CharIndex(query[..end].chars().count()));
    state.cursor.set_char_range(Some(CCursorRange::one(cursor)));
    TextEdit::store_state(ctx, id, state);
}

fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte)
}

fn mode_ui(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (mode, name, hint) in [
        (FilterMode::Dim, "Dim the rest", "What does not match fades"),
        (FilterMode::Only, "Only matches", "What does not match is left out"),
    ] {
        let text = egui::RichText::new(name).size(12.0);
        if ui.selectable_label(at.filter_mode == mode, text).on_hover_text(hint).clicked() {
            at.filter_mode = mode;
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// What is found, or what is wrong.
fn result_ui(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    filtering: &Filtering,
    at: &mut Standpoint,
    state: &State,
    is_active: bool,
) {
    if let Some(error) = filtering.error() {
        if is_active {
            // The popup says what is wrong; figures would read as those of what is written.
            let text = "not a query yet; the views show the last one";
            ui.add(egui::Label::new(theme::muted(ui, text)).truncate());
        } else {
            let text = error.to_string();
            ui.add(egui::Label::new(&text).truncate()).on_hover_text(text);
        }
        return;
    }
    let Some(found) = filtering.found() else { return };
    let Texts { now, most, all } = state.texts(timeline, at.cursor, found);
    let peak = found.matches.known_peak();
    let peak_text = peak.map_or_else(|| "…".to_owned(), |(_, bytes)| units::bytes(bytes));
    let hint = format!("{now}, {most} {peak_text}\n{all}");
    if found.matches.count() == 0 || ui.available_width() < MIN_RESULT_PX {
        let text = if found.matches.count() == 0 { all } else { format!("{now}, {most} {peak_text}") };
        ui.add(egui::Label::new(text).truncate()).on_hover_text(hint);
        return;
    }
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.label(format!("{now}, {most}")).on_hover_text(&hint);
    match peak {
        Some((moment, bytes)) => {
            let place = match moment.event() {
                Some(event) => format!("after event {}", units::count(event.0)),
                None => "before the first event".to_owned(),
            };
            let hint = format!("The peak of what matches, {place}: go there\n{}", units::bytes_exact(bytes));
            if ui.link(peak_text).on_hover_text(hint).clicked() {
                at.go_to(moment);
            }
        }
        None => {
            ui.label(peak_text);
        }
    }
    ui.add(egui::Label::new(theme::muted(ui, format!("· {all}"))).truncate()).on_hover_text(hint);
}

/// What is found, in words.
struct Texts {
    now: String,
    most: &'static str,
    all: String,
}

impl State {
    fn texts(&self, timeline: &Timeline, cursor: Moment, found: &Found) -> Texts {
        let AtCursor { bytes, blocks } = self.at_cursor(timeline, cursor, &found.matches);
        let active = units::bytes(timeline.active.at(cursor));
        let block = if blocks == 1 { "block" } else { "blocks" };
        let (count, known) = (found.matches.count() as u64, timeline.lifetimes.len() as u64);
        let mut all = if count == 0 {
            "nothing matches".to_owned()
        } else {
            format!("{} of {} allocations", units::count(count), units::count(known))
        };
        for note in found.notes.iter() {
            all = format!("{all} · {note}");
        }
        Texts {
            now: format!(
                "{} of {active} in {} {block} at the cursor",
                units::bytes(bytes),
                units::count(blocks as u64)
            ),
            most: "at most",
            all,
        }
    }

    /// Computed when the cursor has moved, or something else is found.
    fn at_cursor(&self, timeline: &Timeline, cursor: Moment, matches: &ByPtr<Matches>) -> AtCursor {
        self.at_cursor.get((matches.clone(), cursor), || AtCursor {
            bytes: matches.bytes_at(timeline, cursor),
            blocks: matches.count_at(timeline, cursor),
        })
    }
}
