//! The field in which a note is written, in the middle of the window.

use super::state::{Draft, State};
use crate::device::PaneCtx;
use crate::notebook::Notebook;
use crate::theme;
use eframe::egui::{self, Align2, Id, Key, TextEdit, Window};
use oomscope_model::Recording;
use oomscope_report::notes::{Note, note_text};
use oomscope_report::place_words;
use tr::tr;

/// Width of the field, in points: about sixty letters, and room for it in the smallest window.
const FIELD_PX: f32 = 440.0;

/// What becomes of a draft.
enum DraftAction {
    Write,
    Save,
    Cancel,
}

/// Show the field, if a note is being written.
pub(crate) fn ui(egui: &egui::Context, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let Some(draft) = &mut state.draft else { return };
    let refused = match draft_ui(egui, ctx.recording, draft) {
        DraftAction::Write => return,
        DraftAction::Save => save(ctx.notebook, draft),
        DraftAction::Cancel => None,
    };
    state.draft = None;
    if let Some(refused) = refused {
        ctx.notify(refused);
    }
}

fn draft_ui(ctx: &egui::Context, recording: &Recording, draft: &mut Draft) -> DraftAction {
    let title = if draft.old.is_some() { tr!("Change the note") } else { tr!("New note") };
    let window = Window::new(title).id(Id::unique("the field of a note")).collapsible(false).resizable(false);
    let window = window.anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    let shown = window.show(ctx, |ui| {
        ui.set_width(FIELD_PX);
        let words = place_words(recording.snapshot(), &draft.place);
        let label = ui.add(egui::Label::new(theme::muted(ui, words)).truncate());
        let field = TextEdit::singleline(&mut draft.text).desired_width(f32::INFINITY);
        let field = ui.add(field.hint_text(tr!("What is there to say about it?"))).labelled_by(label.id);
        if std::mem::take(&mut draft.wants_focus) {
            field.request_focus();
        }
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let has_text = !note_text(&draft.text).is_empty();
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let is_saved = ui.add_enabled(has_text, egui::Button::new(tr!("Save"))).clicked();
            let is_cancelled = ui.button(tr!("Cancel")).clicked();
            if has_text && (is_saved || is_entered) {
                DraftAction::Save
            } else if is_cancelled || is_entered {
                DraftAction::Cancel
            } else {
                DraftAction::Write
            }
        })
        .inner
    });
    shown.and_then(|shown| shown.inner).unwrap_or(DraftAction::Write)
}

/// Take the note over. Returns a message if that cannot be done.
fn save(notebook: &Notebook, draft: &mut Draft) -> Option<String> {
    let note = Note { text: note_text(&draft.text), place: std::mem::take(&mut draft.place) };
    match draft.old.take() {
        Some(old) => {
            notebook.replace(&old, note);
            None
        }
        None => notebook.add(note),
    }
}
