//! A selected stack: everything that was allocated with it.

use super::allocation_view::rows_ui;
use super::site_facts::SiteFacts;
use super::stack_view;
use super::state::State;
use crate::device::{PaneCtx, Selection};
use crate::right_side::RightSide;
use crate::theme;
use eframe::egui;
use oomscope_model::{AllocId, StackId};
use tr::tr;

/// The action of a link or button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Select(Selection),
    Filter,
}

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, stack: StackId) {
    let facts = state.site(ctx.recording, stack);
    let close = title_ui(ui, &facts);
    ui.add(egui::Label::new(theme::muted(ui, facts.site.as_str())).wrap());
    ui.add_space(6.0);
    // Allocations are in the order of their events, so this is the first one after the cursor's event.
    let after_cursor = ctx.recording.lifetimes.first_after(ctx.at.cursor);
    let action = links_ui(ui, &facts, after_cursor).or(close);
    ui.add_space(6.0);
    let live = state.site_live(ctx.recording, ctx.at.cursor, &facts);
    rows_ui(ui, "site", &facts.rows(ctx.recording, live));
    ui.add_space(10.0);
    stack_view::ui(ui, &tr!("Stack"), &facts.frames, Some(stack), &mut state.shows_internal_frames);
    match action {
        Some(Action::Select(selection)) => ctx.at.select(selection),
        Some(Action::Filter) => ctx.at.filter_to_site(stack),
        None => {}
    }
}

fn title_ui(ui: &mut egui::Ui, facts: &SiteFacts) -> Option<Action> {
    let mut action = None;
    let right = RightSide::of(ui, "stack", ui.spacing().interact_size.y);
    right.left_ui(ui, |ui| ui.label(theme::strong(tr!("Everything with this stack"), 14.0)));
    right.ui(ui, |ui| {
        if ui.button(tr!("Copy")).on_hover_text(tr!("Copy the stack")).clicked() {
            ui.copy_text(facts.copy.clone());
        }
        if ui.button(tr!("Close")).on_hover_text(tr!("Unselect (Esc)")).clicked() {
            action = Some(Action::Select(Selection::None));
        }
    });
    action
}

/// Links to the stack's allocations and to its site. Returns the one that was clicked.
fn links_ui(ui: &mut egui::Ui, facts: &SiteFacts, after_cursor: Option<AllocId>) -> Option<Action> {
    let (previous, next) = (facts.neighbour(after_cursor, false), facts.neighbour(after_cursor, true));
    let choices = [
        (tr!("largest"), tr!("Select the largest of its allocations"), facts.largest),
        (tr!("previous"), tr!("Select the last one that was allocated before the cursor"), previous),
        (tr!("next"), tr!("Select the first one that is allocated after the cursor"), next),
    ];
    let mut action = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(10.0, 4.0);
        // Links go to the next line as a whole.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for (name, hint, id) in choices {
            if let Some(id) = id
                && ui.link(name).on_hover_text(hint).clicked()
            {
                action = Some(Action::Select(Selection::Allocation(id)));
            }
        }
        let hint = tr!("Find what the same line allocates, with any stack");
        if ui.link(tr!("filter to this site")).on_hover_text(hint).clicked() {
            action = Some(Action::Filter);
        }
    });
    action
}
