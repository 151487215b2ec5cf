//! Below a field for queries: how the query can go on, and why it is wrong.

use crate::theme;
use eframe::egui::{
    self, Atom, AtomExt as _, Button, EventFilter, FocusDirection, Key, Modifiers, Popup, PopupKind, Rect,
    RectAlign, Response, RichText, ScrollArea,
};
use oomscope_analysis::filter::{Completion, FilterError, Subject, Vocabulary, complete};
use tr::tr;

const MAX_HEIGHT_PX: f32 = 330.0;
const WIDTH_PX: f32 = 520.0;

/// The memory of the popup between frames.
#[derive(Default)]
pub(super) struct State {
    offers: Vec<Completion>,
    /// The query and the text cursor that the offers are for.
    asked: Option<(String, usize)>,
    /// The offer that Enter takes; none until an arrow key was pressed.
    chosen: Option<usize>,
    /// The query for which the user closed the popup.
    closed_for: Option<String>,
    /// Where the popup was, while it was open.
    place: Option<Rect>,
    /// The user is in the middle of a word: typed, and neither taken nor left since.
    is_typing: bool,
}

impl State {
    /// Whether there is anything to choose.
    pub(super) fn is_open(&self) -> bool {
        self.place.is_some()
    }

    /// Whether the pointer is over the popup: then a click does not leave the filter.
    pub(super) fn is_under(&self, ctx: &egui::Context) -> bool {
        let pointer = ctx.input(|input| input.pointer.interact_pos());
        self.place.zip(pointer).is_some_and(|(place, pointer)| place.contains(pointer))
    }

    /// Keys that mean the popup while it is open. Returns the offer that is taken.
    pub(super) fn keys(&mut self, ctx: &egui::Context, query: &str) -> Option<Completion> {
        if !self.is_open() {
            return None;
        }
        let pressed = |key| ctx.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        if 0 < pressed(Key::Escape) {
            self.closed_for = Some(query.to_owned());
            return None;
        }
        if ctx.input_mut(|input| input.consume_key(Modifiers::SHIFT, Key::Tab)) {
            ctx.memory_mut(|memory| memory.move_focus(FocusDirection::Previous));
            return None;
        }
        let last = self.offers.len().checked_sub(1)?;
        for _ in 0..pressed(Key::ArrowDown) {
            self.chosen = Some(self.chosen.map_or(0, |chosen| if chosen < last { chosen + 1 } else { 0 }));
        }
        for _ in 0..pressed(Key::ArrowUp) {
            self.chosen = Some(self.chosen.and_then(|chosen| chosen.checked_sub(1)).unwrap_or(last));
        }
        let takes_tab = self.takes_tab();
        let is_taken =
            (self.chosen.is_some() && 0 < pressed(Key::Enter)) || (takes_tab && 0 < pressed(Key::Tab));
        if !is_taken {
            return None;
        }
        self.is_typing = false;
        self.offers.get(self.chosen.unwrap_or(0)).cloned()
    }

    /// Whether Tab takes an offer: one that the user has moved to, or the first for a word that is begun. Else
    /// it moves on to the next control.
    pub(super) fn takes_tab(&self) -> bool {
        let begins_word = |offer: &Completion| self.is_typing && !offer.range.is_empty();
        self.is_open() && (self.chosen.is_some() || self.offers.first().is_some_and(begins_word))
    }

    /// The keys that do not leave the field.
    pub(super) fn keys_of_field(&self) -> EventFilter {
        EventFilter {
            tab: self.takes_tab(),
            escape: self.is_open(),
            horizontal_arrows: true,
            vertical_arrows: true,
        }
    }

    /// Note that the user typed.
    pub(super) fn typed(&mut self) {
        self.is_typing = true;
    }

    /// Offer completions for a query and a text cursor, which is a byte of it.
    pub(super) fn ask(
        &mut self,
        query: &str,
        cursor: usize,
        subject: Subject,
        vocabulary: Option<&Vocabulary>,
    ) {
        let is_same = self.asked.as_ref().is_some_and(|(known, at)| known == query && *at == cursor);
        if !is_same && let Some(vocabulary) = vocabulary {
            self.offers = complete(query, cursor, subject, vocabulary);
            self.chosen = None;
            self.asked = Some((query.to_owned(), cursor));
        }
        if self.closed_for.as_deref() != Some(query) {
            self.closed_for = None;
        }
    }

    /// Nothing is offered until the user comes back.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Offer nothing more for a query: the user is done with it.
    pub(super) fn dismiss(&mut self, query: &str) {
        self.close();
        self.closed_for = Some(query.to_owned());
    }

    /// Show the popup below the field. Returns the offer that was clicked.
    pub(super) fn ui(&mut self, field: &Response, error: Option<&FilterError>) -> Option<Completion> {
        let is_closed = self.closed_for.is_some() || (self.offers.is_empty() && error.is_none());
        let popup = Popup::from_response(field)
            .id(field.id.with("completions"))
            .kind(PopupKind::Popup)
            .open(!is_closed)
            .align(RectAlign::BOTTOM_START)
            .width(WIDTH_PX);
        let shown = popup.show(|ui| {
            // As large as what it holds now, not as what it held before.
            ui.set_width(WIDTH_PX);
            let better = error.and_then(|error| error_ui(ui, error));
            if error.is_some() && !self.offers.is_empty() {
                ui.separator();
            }
            let list = ScrollArea::vertical().max_height(MAX_HEIGHT_PX).min_scrolled_height(MAX_HEIGHT_PX);
            better.or(list.show(ui, |ui| self.offers_ui(ui)).inner)
        });
        self.place = shown.as_ref().map(|shown| shown.response.rect);
        shown.and_then(|shown| shown.inner)
    }

    fn offers_ui(&self, ui: &mut egui::Ui) -> Option<Completion> {
        ui.spacing_mut().item_spacing.y = 1.0;
        let mut clicked = None;
        for (at, offer) in self.offers.iter().enumerate() {
            let is_chosen = self.chosen == Some(at);
            let text = RichText::new(&offer.text).monospace();
            let explanation = theme::muted(ui, offer.explanation.as_str()).size(12.0);
            let atoms = (text.atom_shrink(true), Atom::grow(), explanation);
            let button = Button::selectable(is_chosen, atoms).min_size(egui::vec2(ui.available_width(), 0.0));
            let response = ui.add(button);
            if is_chosen {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                clicked = Some(offer.clone());
            }
        }
        clicked
    }
}

/// The error, and the word that is probably meant. Returns the latter when it is clicked.
fn error_ui(ui: &mut egui::Ui, error: &FilterError) -> Option<Completion> {
    ui.add(egui::Label::new(error.to_string()).wrap());
    let better = error.suggestion()?;
    let completion = Completion {
        range: error.range.clone(),
        text: better.to_owned(),
        explanation: String::new(),
        is_whole_term: false,
    };
    ui.link(tr!("Write {better}", better)).clicked().then_some(completion)
}
