//! A field for queries: it marks errors and offers completions.

use super::popup;
use crate::texts;
use crate::theme;
use eframe::egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use eframe::egui::{self, Id, Response, Stroke, TextEdit};
use oomscope_analysis::filter::{Completion, Subject, Vocabulary, explained_terms};
use std::ops::Range;

/// The memory of a field between frames.
#[derive(Default)]
pub(crate) struct State {
    popup: popup::State,
}

impl State {
    /// Offer nothing more for a query: the user is done with it.
    pub(crate) fn dismiss(&mut self, query: &str) {
        self.popup.dismiss(query);
    }
}

/// A field for queries about a subject.
pub(crate) struct QueryField<'a> {
    pub(crate) id: Id,
    pub(crate) subject: Subject,
    /// Shown while nothing is written.
    pub(crate) hint: &'static str,
    pub(crate) width_px: f32,
    /// Values to complete the query with, once they are known.
    pub(crate) vocabulary: Option<&'a Vocabulary>,
}

/// A field that was shown.
pub(crate) struct Written {
    pub(crate) response: Response,
    /// Whether the user is writing.
    pub(crate) is_active: bool,
}

impl QueryField<'_> {
    /// The field and its popup.
    pub(crate) fn ui(self, ui: &mut egui::Ui, query: &mut String, state: &mut State) -> Written {
        if let Some(taken) = state.popup.keys(ui.ctx(), query) {
            accept(ui.ctx(), self.id, query, &taken);
        }
        let is_open = state.popup.is_open();
        let mut layouter = |ui: &egui::Ui, text: &dyn egui::TextBuffer, _: f32| {
            let error = self.subject.error_in(text.as_str()).map_or(0..0, |error| error.range);
            let job = layout(ui, text.as_str(), error);
            ui.fonts_mut(|fonts| fonts.layout_job(job))
        };
        let field = TextEdit::singleline(query)
            .id(self.id)
            .hint_text(texts::translated(self.hint))
            .desired_width(self.width_px)
            .event_filter(state.popup.keys_of_field())
            .layouter(&mut layouter)
            .show(ui);
        let response = field.response.response.clone();
        let is_active = response.has_focus() || (is_open && state.popup.is_under(ui.ctx()));
        if !is_active {
            state.popup.close();
            return Written { response, is_active };
        }
        if response.changed() {
            state.popup.typed();
        }
        if let Some(range) = field.cursor_range {
            let byte = byte_of_char(query, range.primary.index.0);
            state.popup.ask(query, byte, self.subject, self.vocabulary);
        }
        let error = self.subject.error_in(query);
        if let Some(clicked) = state.popup.ui(&response, error.as_ref()) {
            accept(ui.ctx(), self.id, query, &clicked);
            response.request_focus();
        }
        // As the offers are now: the next Tab may come with the next frame.
        ui.memory_mut(|memory| memory.set_focus_lock_filter(self.id, state.popup.keys_of_field()));
        Written { response, is_active }
    }
}

/// The query with the part that is wrong marked.
fn layout(ui: &egui::Ui, query: &str, error: Range<usize>) -> LayoutJob {
    let palette = theme::palette(ui);
    let font_id = egui::TextStyle::Monospace.resolve(ui.style());
    let plain = TextFormat { font_id, color: theme::color(palette.text), ..Default::default() };
    let marked = TextFormat {
        background: theme::faded(palette.accent, 0.2),
        underline: Stroke::new(1.5, theme::color(palette.accent)),
        ..plain.clone()
    };
    let mut job = LayoutJob::default();
    job.wrap.max_width = f32::INFINITY;
    for (part, format) in [
        (query.get(..error.start), &plain),
        (query.get(error.clone()), &marked),
        (query.get(error.end..), &plain),
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

/// Every term of a subject with its explanation.
pub(crate) fn terms_ui(ui: &mut egui::Ui, subject: Subject) {
    egui::Grid::new("terms").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
        for (start, explanation) in explained_terms(subject) {
            ui.monospace(start);
            ui.label(theme::muted(ui, explanation));
            ui.end_row();
        }
    });
}

fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte)
}
