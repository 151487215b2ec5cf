//! The list of commands: a field, and below it what fits.

use super::commands::Entry;
use super::matching::{Fit, fit};
use crate::keys::KeyAction;
use crate::theme;
use eframe::egui::{
    self, Align2, Atom, AtomExt as _, Button, Color32, Id, Key, Modal, Modifiers, ScrollArea, Sense,
    TextEdit, vec2,
};
use tr::tr;

/// Width of the list, in points: the longest name and its keys.
const WIDTH_PX: f32 = 520.0;

/// Distance from the top of the window, in points: below the tabs.
const TOP_PX: f32 = 48.0;

/// Largest height of the list of names, in points: about sixteen, as many as are read at a glance.
const MAX_HEIGHT_PX: f32 = 400.0;

/// Room that the field and the edges need beside the names, in points.
const AROUND_PX: f32 = 90.0;

/// The memory of the search between frames.
#[derive(Debug, Default)]
pub(crate) struct State {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// Everything that is to be found.
    entries: Vec<Entry>,
    typed: String,
    /// The line that Enter takes, among those that fit.
    chosen: usize,
    /// The widget that had the keyboard before.
    before: Option<Id>,
}

impl State {
    /// Open with these commands.
    pub(crate) fn open(&mut self, ctx: &egui::Context, entries: Vec<Entry>) {
        let before = ctx.memory(|memory| memory.focused());
        self.open = Some(Open { entries, typed: String::new(), chosen: 0, before });
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Close, and give the keyboard back.
    pub(crate) fn close(&mut self, ctx: &egui::Context) {
        if let Some(Open { before: Some(before), .. }) = self.open.take() {
            ctx.memory_mut(|memory| memory.request_focus(before));
        }
    }

    /// Show the search while it is open. Returns the command that was taken.
    pub(crate) fn ui(&mut self, ctx: &egui::Context) -> Option<KeyAction> {
        let open = self.open.as_mut()?;
        let id = Id::unique("search for commands");
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, vec2(0.0, TOP_PX));
        let modal = Modal::new(id).area(area).backdrop_color(Color32::TRANSPARENT);
        let shown = modal.show(ctx, |ui| open.ui(ui));
        let taken = shown.inner.clone();
        if taken.is_some() || shown.should_close() {
            self.close(ctx);
        }
        taken
    }
}

impl Open {
    fn ui(&mut self, ui: &mut egui::Ui) -> Option<KeyAction> {
        let content = ui.ctx().content_rect();
        ui.set_width(WIDTH_PX.min(content.width() - AROUND_PX));
        let is_entered = self.keys(ui.ctx());
        self.field_ui(ui);
        let fitting = self.fitting();
        self.chosen = self.chosen.min(fitting.len().saturating_sub(1));
        let mut taken = fitting.get(self.chosen).copied().filter(|_| is_entered);
        ui.add_space(4.0);
        if fitting.is_empty() {
            ui.label(theme::muted(ui, tr!("No command is called so.")));
        }
        let height_px = (content.height() - TOP_PX - AROUND_PX).min(MAX_HEIGHT_PX);
        ScrollArea::vertical().max_height(height_px).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (at, &entry) in fitting.iter().enumerate() {
                if row_ui(ui, &self.entries[entry], at == self.chosen) {
                    taken = Some(entry);
                }
            }
        });
        taken.map(|entry| self.entries[entry].action.clone())
    }

    /// The keys that move in the list; true if Enter takes a line. Those of one frame in any order, since a
    /// user who is that quick does not look.
    fn keys(&mut self, ctx: &egui::Context) -> bool {
        let pressed = |key| ctx.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        self.chosen = (self.chosen + pressed(Key::ArrowDown)).saturating_sub(pressed(Key::ArrowUp));
        0 < pressed(Key::Enter)
    }

    fn field_ui(&mut self, ui: &mut egui::Ui) {
        let field = TextEdit::singleline(&mut self.typed)
            .id(Id::unique("name of a command"))
            .hint_text(tr!("Search commands"))
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("Search commands")));
        response.request_focus();
        if response.changed() {
            self.chosen = 0;
        }
    }

    /// The entries that fit, best first.
    fn fitting(&self) -> Vec<usize> {
        let fits = self.entries.iter().enumerate();
        let fits = fits.filter_map(|(at, entry)| Some((fit(&self.typed, &entry.name, &entry.also)?, at)));
        let mut fits: Vec<(Fit, usize)> = fits.collect();
        fits.sort_unstable();
        fits.into_iter().map(|(_, at)| at).collect()
    }
}

/// One command; true if it was clicked.
fn row_ui(ui: &mut egui::Ui, entry: &Entry, is_chosen: bool) -> bool {
    let keys = theme::muted(ui, entry.keys.as_str()).size(12.0);
    let atoms = (entry.name.as_str().atom_shrink(true), Atom::grow(), keys);
    let button = Button::selectable(is_chosen, atoms).min_size(vec2(ui.available_width(), 0.0));
    // The keyboard stays in the field.
    let response = ui.add(button.sense(Sense::CLICK));
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::Role::MenuItem,
            true,
            is_chosen,
            format!("{} {}", entry.name, entry.keys),
        )
    });
    if is_chosen {
        response.scroll_to_me(None);
    }
    response.clicked()
}
