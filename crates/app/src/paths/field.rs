//! The line in which a path is written, and the keys that mean the list below it.

use eframe::egui::text::{CCursor, CCursorRange, CharIndex};
use eframe::egui::{self, EventFilter, FocusDirection, Id, Key, Modifiers, Response, TextEdit};
use tr::tr;

/// Rows that Page up and Page down go by.
const PAGE_ROWS: isize = 10;

/// The memory of the line between frames.
#[derive(Debug, Default)]
pub(super) struct Field {
    /// It is to take the keyboard, with the text cursor at its end.
    pub(super) wants_focus: bool,
    /// Tab completes something, and is not to leave the line.
    pub(super) completes: bool,
}

/// The keys that were pressed in the line.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) tab: bool,
    pub(super) enter: bool,
    /// Rows down.
    pub(super) rows: isize,
}

impl Field {
    /// Take the keys that mean the list while the line has the keyboard.
    pub(super) fn keys(&self, ui: &egui::Ui, id: Id) -> Keys {
        if !ui.memory(|memory| memory.has_focus(id)) {
            return Keys::default();
        }
        let goes_back = ui.input(|input| input.modifiers.shift && input.key_pressed(Key::Tab));
        if self.completes && goes_back {
            ui.memory_mut(|memory| memory.move_focus(FocusDirection::Previous));
            return Keys::default();
        }
        ui.input_mut(|input| {
            let mut pressed = |key| input.count_and_consume_key(Modifiers::NONE, key) as isize;
            let rows = pressed(Key::ArrowDown) - pressed(Key::ArrowUp);
            let pages = pressed(Key::PageDown) - pressed(Key::PageUp);
            let tab = self.completes && 0 < pressed(Key::Tab);
            Keys { rows: rows + PAGE_ROWS * pages, tab, enter: 0 < pressed(Key::Enter) }
        })
    }

    /// The line.
    pub(super) fn ui(&mut self, ui: &mut egui::Ui, id: Id, text: &mut String, width_px: f32) -> Response {
        let filter = EventFilter {
            tab: self.completes,
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        let field = TextEdit::singleline(text)
            .id(id)
            .font(egui::TextStyle::Monospace)
            .hint_text("~/runs/snapshot.pickle")
            .desired_width(width_px)
            .event_filter(filter);
        let response = ui.add(field);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("Path")));
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
            put_cursor(ui.ctx(), id, text.chars().count());
        }
        response
    }
}

/// Put the text cursor behind a number of characters.
fn put_cursor(ctx: &egui::Context, id: Id, chars: usize) {
    let mut state = TextEdit::load_state(ctx, id).unwrap_or_default();
    state.cursor.set_char_range(Some(CCursorRange::one(CCursor::new(CharIndex(chars)))));
    TextEdit::store_state(ctx, id, state);
}
