//! The pane *Notes*: what was written, and where; a click goes there.

use super::state::State;
use crate::device::{Pane, PaneCtx, place};
use crate::notebook::Keeping;
use crate::theme;
use eframe::egui;
use oomscope_model::DeviceId;
use oomscope_report::notes::Note;
use oomscope_report::place_words;
use oomscope_units as units;
use tr::tr;

/// Height of a row, in points.
const ROW_PX: f32 = 24.0;

/// Room for the buttons of a row, in points.
const BUTTONS_PX: f32 = 128.0;

/// Share of the rest that the text of a note gets; its place gets what is left.
const TEXT_SHARE: f32 = 0.5;

/// What was asked of a row.
enum Asked {
    Visit,
    Edit,
    Delete,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        bar_ui(ui, ctx, self);
        ui.add_space(2.0);
        let (notebook, revision) = (ctx.notebook, ctx.notebook.revision());
        let count = notebook.notes().len();
        if count == 0 {
            let text = tr!(
                "No notes yet. N writes one about what is shown: the cursor, the selection, the range and the filter."
            );
            ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
            return;
        }
        let mut asked = None;
        egui::ScrollArea::vertical().auto_shrink(false).show_rows(ui, ROW_PX, count, |ui, rows| {
            for row in rows {
                let Some(note) = notebook.notes().get(row).cloned() else { continue };
                let words = self.words(revision, row, || place_words(ctx.recording.snapshot(), &note.place));
                ui.push_id(row, |ui| {
                    if let Some(step) = row_ui(ui, &note, &words) {
                        asked = Some((step, row, note));
                    }
                });
            }
        });
        match asked {
            Some((Asked::Visit, _, note)) => visit(ctx, &note),
            Some((Asked::Edit, _, note)) => self.edit(&note),
            Some((Asked::Delete, row, _)) => notebook.remove(row),
            None => {}
        }
    }
}

fn bar_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    ui.horizontal(|ui| {
        let hint = tr!("Write a note about what is shown (N)");
        if ui.button(tr!("New note")).on_hover_text(hint).clicked() {
            state.begin(place::place(ctx.recording, ctx.at));
        }
        let keeping = ctx.notebook.keeping();
        if let Keeping::Unsaved { can_rename: true, .. } = keeping {
            let hint = tr!(
                "Write the notes of this window to a file of their own, and leave the other one as it is"
            );
            if ui.button(tr!("Save under another name")).on_hover_text(hint).clicked() {
                ctx.notebook.save_under_another_name();
            }
        }
        let (short, long) = keeping_text(&keeping);
        ui.add(egui::Label::new(theme::muted(ui, short)).truncate()).on_hover_text(long);
    });
}

/// Where notes are kept, in a few words and in all.
fn keeping_text(keeping: &Keeping) -> (String, String) {
    let name =
        |path: &std::path::Path| units::printable(&path.file_name().unwrap_or_default().to_string_lossy());
    let whole = |path: &std::path::Path| units::printable(&path.to_string_lossy());
    match keeping {
        Keeping::NotYet => {
            (tr!("Kept beside the recording"), tr!("In a file that is made with the first note"))
        }
        Keeping::Beside(path) => (tr!("Kept in {}", name(path)), whole(path)),
        Keeping::InSettings { path, why } => (
            tr!("Kept in the settings folder: {}", units::printable(why)),
            format!("{}: {}", whole(path), units::printable(why)),
        ),
        Keeping::Unsaved { why, .. } => {
            let text = tr!("In this window alone: {}", units::printable(why));
            (text.clone(), text)
        }
    }
}

/// A note with its place and its buttons.
fn row_ui(ui: &mut egui::Ui, note: &Note, words: &str) -> Option<Asked> {
    let mut asked = None;
    ui.horizontal(|ui| {
        ui.set_height(ROW_PX - ui.spacing().item_spacing.y);
        let room = (ui.available_width() - BUTTONS_PX).max(80.0);
        let text_px = room * TEXT_SHARE;
        ui.allocate_ui_with_layout(
            egui::vec2(text_px, ui.available_height()),
            egui::Layout::left_to_right(egui::Align::Center),
            |ui| {
                ui.set_width(text_px);
                let name = egui::Button::selectable(false, note.text.as_str()).truncate();
                if ui
                    .add(name)
                    .on_hover_text(format!("{}\n{}", note.text, tr!("Click to go there")))
                    .clicked()
                {
                    asked = Some(Asked::Visit);
                }
            },
        );
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            for (name, whole, step) in [
                (tr!("Delete"), tr!("Delete note: {}", note.text), Asked::Delete),
                (tr!("Edit"), tr!("Edit note: {}", note.text), Asked::Edit),
            ] {
                let (button, is_enabled) = (ui.button(name), ui.is_enabled());
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, is_enabled, &whole));
                if button.clicked() {
                    asked = Some(step);
                }
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(theme::muted(ui, words)).truncate()).on_hover_text(words);
            });
        });
    });
    asked
}

fn visit(ctx: &mut PaneCtx<'_>, note: &Note) {
    let here = ctx.recording.device;
    if let Some(device) = note.place.device.map(DeviceId).filter(|device| *device != here) {
        ctx.notify(tr!("That note is about {device}: choose it above first", device));
        return;
    }
    let missing = place::visit(ctx.recording, ctx.at, &note.place);
    if !missing.is_empty() {
        ctx.notify(place::missing_text(&missing));
    }
}
