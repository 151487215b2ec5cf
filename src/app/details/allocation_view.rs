//! The selected allocation: what it is, its life, its stack, and where to go from there.

use super::stack_view;
use super::state::State;
use crate::app::device::{PaneCtx, Selection, Standpoint};
use crate::app::theme;
use crate::model::{AllocId, Moment, Timeline};
use eframe::egui;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Close,
    Stack,
    Filter,
    Lifetime,
    Start,
    End,
}

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let Some(facts) = state.allocation(ctx) else { return };
    let mut wanted = Wanted::Nothing;
    ui.horizontal(|ui| {
        ui.label(theme::strong(format!("{} allocation", facts.size), 14.0));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Close").on_hover_text("Unselect (Esc)").clicked() {
                wanted = Wanted::Close;
            }
            if ui.button("Copy").on_hover_text("Copy everything about this allocation").clicked() {
                ui.copy_text(facts.copy.clone());
            }
        });
    });
    ui.add(egui::Label::new(theme::muted(ui, facts.site.as_str())).wrap());
    ui.add_space(6.0);
    actions_ui(ui, &mut wanted, facts.has_end);
    ui.add_space(6.0);
    rows_ui(ui, "facts", &facts.rows);
    ui.add_space(10.0);
    let shows_internal = &mut state.shows_internal_frames;
    let mut to_open = stack_view::ui(ui, "Stack", &facts.frames, shows_internal);
    if !facts.forward.is_empty() {
        ui.add_space(10.0);
        to_open = stack_view::ui(ui, "Forward stack", &facts.forward, shows_internal).or(to_open);
    }
    if let Some(frame) = to_open {
        ctx.notify(stack_view::open_in_editor(&state.editor_command, &frame));
    }
    act(ctx.recording, ctx.at, facts.id, wanted);
}

/// Names and values below one another.
pub(in crate::app) fn rows_ui(ui: &mut egui::Ui, name: &str, rows: &[(&'static str, String)]) {
    egui::Grid::new(name).num_columns(2).spacing([12.0, 5.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(theme::muted(ui, *name));
            let text = egui::RichText::new(value);
            let is_address = value.starts_with("0x");
            ui.add(egui::Label::new(if is_address { text.monospace() } else { text }).wrap());
            ui.end_row();
        }
    });
}

fn actions_ui(ui: &mut egui::Ui, wanted: &mut Wanted, has_end: bool) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(10.0, 4.0);
        // Links go to the next line as a whole.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        let mut link = |is_there: bool, text: &str, hint: &str, what| {
            if is_there && ui.link(text).on_hover_text(hint).clicked() {
                *wanted = what;
            }
        };
        link(
            true,
            "all with this stack",
            "Select everything that was allocated with this stack",
            Wanted::Stack,
        );
        link(true, "filter to this site", "Find what the same line allocates, at any time", Wanted::Filter);
        link(true, "zoom to lifetime", "Show the time from its allocation to its free (Z)", Wanted::Lifetime);
        link(true, "go to allocation", "Put the cursor where it was allocated", Wanted::Start);
        link(has_end, "go to free", "Put the cursor where it was freed", Wanted::End);
    });
}

fn act(timeline: &Timeline, at: &mut Standpoint, id: AllocId, wanted: Wanted) {
    match wanted {
        Wanted::Nothing => {}
        Wanted::Close => at.select(Selection::None),
        Wanted::Stack => at.select(Selection::Stack(timeline.stack(id))),
        Wanted::Filter => at.filter_to_site(timeline.stack(id)),
        Wanted::Lifetime => at.zoom_to_lifetime(id),
        Wanted::Start => at.go_to(timeline.lifetimes.start(id)),
        Wanted::End => at.go_to(timeline.gone(id).unwrap_or(Moment::START)),
    }
}
