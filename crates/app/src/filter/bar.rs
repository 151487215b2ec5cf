//! The filter: one line for all panes, and beside it what it finds.

use crate::device::filtering::{FilterMode, Filtering, Found};
use crate::device::{Derived, Outline, Standpoint};
use crate::query_field::{self, QueryField, Written};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_analysis::filter::{Matches, Subject};
use oomscope_model::{Bytes, Moment, Recording, Timeline};
use oomscope_units as units;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tr::tr;

/// Height of the line.
pub(crate) const HEIGHT_PX: f32 = 32.0;

/// Share of the room beside the other tools that the field takes, and its limits.
const FIELD_SHARE: f32 = 0.36;
const FIELD_PX: RangeInclusive<f32> = 170.0..=560.0;

/// With less room than this, the result is one text that is cut.
const MIN_RESULT_PX: f32 = 330.0;

const HINT: &str = marked!("size>100MB attention stream:7 live …");

/// The memory of the bar between frames.
#[derive(Default)]
pub(crate) struct State {
    /// The field is to take the keyboard.
    pub(crate) wants_focus: bool,
    field: query_field::State,
    at_cursor: Memo<(ByPtr<Matches>, Moment), AtCursor>,
    /// The query before the field had the keyboard.
    before: Option<String>,
}

/// Figures of the matches at the cursor.
#[derive(Clone, Copy)]
struct AtCursor {
    bytes: Bytes,
    blocks: usize,
}

pub(crate) fn ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &mut Derived,
    at: &mut Standpoint,
    state: &mut State,
) {
    let is_active = field_ui(ui, recording, &mut derived.filtering, at, state);
    let is_of_finding = finding_ui(ui, at);
    if !at.query.is_empty() && ui.button(tr!("Clear")).on_hover_text(tr!("Show everything again")).clicked() {
        at.clear_filter();
    }
    if !at.query.is_empty() || is_of_finding {
        mode_ui(ui, at);
        result_ui(ui, recording, &derived.filtering, at, state, is_active);
    }
}

/// The field. Returns whether the user is writing.
fn field_ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    filtering: &mut Filtering,
    at: &mut Standpoint,
    state: &mut State,
) -> bool {
    // Every device has its own history of what was written.
    let id = ui.make_persistent_id(("filter", Arc::as_ptr(recording.snapshot()) as usize, recording.device));
    let label = ui.label(theme::muted(ui, tr!("Filter"))).on_hover_text(tr!("Write a filter (/)"));
    let width_px = (ui.available_width() * FIELD_SHARE).clamp(*FIELD_PX.start(), *FIELD_PX.end());
    let written = at.query.clone();
    let vocabulary = filtering.vocabulary();
    let field = QueryField { id, subject: Subject::Allocations, hint: HINT, width_px, vocabulary };
    let Written { response, is_active } = field.ui(ui, &mut at.query, &mut state.field);
    let response = response.labelled_by(label.id);
    if std::mem::take(&mut state.wants_focus) {
        response.request_focus();
    }
    if response.gained_focus() {
        state.before = Some(written);
    } else if !response.has_focus()
        && let Some(before) = state.before.take()
    {
        at.query_was_written(before);
    }
    if is_active {
        filtering.want_vocabulary();
    }
    let among = at.outlined().filter(|outline| outline.is_filter).map(Outline::allocations);
    filtering.update(ui.ctx(), &at.query, among, at.cursor);
    is_active
}

/// The part of the filter that the report set, if it did; a click takes it away.
fn finding_ui(ui: &mut egui::Ui, at: &mut Standpoint) -> bool {
    let Some(outline) = at.outlined().filter(|outline| outline.is_filter) else { return false };
    let blocks = outline.allocations().len();
    let title = units::printable(outline.title());
    let hint = format!(
        "{}\n{}",
        tr!("Only what the report shows: {title}, {label}", title, label = outline.label),
        tr!("Click to show the rest as before")
    );
    let count = texts::blocks(blocks);
    let whole =
        tr!("{} block of the report" | "{} blocks of the report" % blocks, units::count(blocks as u64));
    let shown = if ui.available_width() < MIN_RESULT_PX { &count } else { &whole };
    let chip = ui.add(egui::Button::selectable(true, theme::small(format!("{shown}  ×"))));
    chip.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, true, &whole));
    if chip.on_hover_text(hint).clicked() {
        at.filter_no_finding();
        return false;
    }
    true
}

fn mode_ui(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (mode, name, hint) in [
        (FilterMode::Dim, tr!("Dim"), tr!("What does not match fades")),
        (FilterMode::Only, tr!("Only"), tr!("What does not match is left out")),
    ] {
        let text = egui::RichText::new(name).size(12.0);
        if ui.selectable_label(at.filter_mode == mode, text).on_hover_text(hint).clicked() {
            at.filter_mode = mode;
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// The figures of the matches, or the error.
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
            let text = tr!("not a query yet; the views show the last one");
            ui.add(egui::Label::new(theme::muted(ui, text)).truncate());
        } else {
            let text = error.to_string();
            ui.add(egui::Label::new(&text).truncate()).on_hover_text(text);
        }
        return;
    }
    let Some(found) = filtering.found() else { return };
    let Texts { now, now_in_blocks, all } = state.texts(timeline, at.cursor, found);
    let peak = found.matches.known_peak();
    let peak_text = peak.map_or_else(|| "…".to_owned(), |(_, bytes)| units::bytes(bytes));
    let most = tr!("at most {}", peak_text);
    let hint = format!("{now_in_blocks}\n{most}\n{all}");
    if found.matches.count() == 0 || ui.available_width() < MIN_RESULT_PX {
        let text = if found.matches.count() == 0 { all } else { format!("{now}, {most}") };
        ui.add(egui::Label::new(text).truncate()).on_hover_text(hint);
        return;
    }
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.label(tr!("{now}, at most", now)).on_hover_text(&hint);
    match peak {
        Some((moment, bytes)) => {
            let place = match moment.event() {
                Some(event) => tr!("after event {}", units::count(event.0)),
                None => tr!("before the first event"),
            };
            let hint = format!(
                "{}\n{}",
                tr!("The peak of what matches, {place}: go there", place),
                units::bytes_exact(bytes)
            );
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

/// The figures of the matches, in words.
struct Texts {
    now: String,
    now_in_blocks: String,
    all: String,
}

impl State {
    fn texts(&self, timeline: &Timeline, cursor: Moment, found: &Found) -> Texts {
        let AtCursor { bytes, blocks } = self.at_cursor(timeline, cursor, &found.matches);
        let size = units::bytes(bytes);
        let active = timeline.active_at(cursor).written(units::bytes);
        let (count, known) = (found.matches.count() as u64, timeline.lifetimes.len() as u64);
        let mut all = if count == 0 {
            tr!("nothing matches")
        } else {
            tr!("{} of {} allocations", units::count(count), units::count(known))
        };
        for note in found.notes.iter() {
            all = format!("{all} · {note}");
        }
        Texts {
            now: tr!("{size} of {active} at the cursor", size, active),
            now_in_blocks: tr!(
                "{size} of {active} at the cursor, in {count} block"
                    | "{size} of {active} at the cursor, in {count} blocks" % blocks,
                size,
                active,
                count = units::count(blocks as u64)
            ),
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
