//! A selected stack: everything that was allocated with it.

use super::allocation_view::rows_ui;
use super::stack_view;
use super::state::State;
use crate::app::device::{PaneCtx, Selection};
use crate::app::theme;
use crate::model::StackId;
use eframe::egui;

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, stack: StackId) {
    let (mut selected, mut filters) = (None, false);
    let facts = state.site(ctx.recording, stack);
    ui.horizontal(|ui| {
        ui.label(theme::strong("Everything with this stack", 14.0));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Close").on_hover_text("Unselect (Esc)").clicked() {
                selected = Some(Selection::None);
            }
            if ui.button("Copy").on_hover_text("Copy the stack").clicked() {
                ui.copy_text(facts.copy.clone());
            }
        });
    });
    ui.add(egui::Label::new(theme::muted(ui, facts.site.as_str())).wrap());
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(10.0, 4.0);
        // Links go to the next line as a whole.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        // Allocations are in the order of their events, so this is the first one after the cursor's event.
        let at_cursor = ctx.recording.lifetimes.first_after(ctx.at.cursor);
        let choices = [
            ("largest", "Select the largest of its allocations", facts.largest),
            (
                "previous",
                "Select the last one that was allocated before the cursor",
                facts.neighbour(at_cursor, false),
            ),
            (
                "next",
                "Select the first one that is allocated after the cursor",
                facts.neighbour(at_cursor, true),
            ),
        ];
        for (name, hint, id) in choices {
            if let Some(id) = id
                && ui.link(name).on_hover_text(hint).clicked()
            {
                selected = Some(Selection::Allocation(id));
            }
        }
        let hint = "Find what the same line allocates, with any stack";
        filters = ui.link("filter to this site").on_hover_text(hint).clicked();
    });
    ui.add_space(6.0);
    let live = state.site_live(ctx.recording, ctx.at.cursor, &facts);
    rows_ui(ui, "site", &facts.rows(ctx.recording, live));
    ui.add_space(10.0);
    let clicked = stack_view::ui(ui, "Stack", &facts.frames, &mut state.shows_internal_frames);
    if let Some(frame) = clicked {
        ctx.notify(stack_view::open_in_editor(&state.editor_command, &frame));
    }
    if filters {
        ctx.at.filter_to_site(stack);
    }
    if let Some(selected) = selected {
        ctx.at.select(selected);
    }
}
