//! The selected allocation: facts, its stack, and links to places that have to do with it.

use super::stack_view;
use super::state::State;
use crate::device::{PaneCtx, Selection, Standpoint};
use crate::report_view::fold_ui;
use crate::right_side::RightSide;
use crate::texts;
use crate::theme;
use eframe::egui;
use oomscope_model::{AllocId, Moment, Timeline};
use tr::tr;

/// The action of a link or button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Close,
    Stack,
    Filter,
    Lifetime,
    Start,
    End,
}

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, id: AllocId) {
    let facts = state.allocation(ctx.recording, ctx.derived, id);
    let mut action = None;
    let right = RightSide::of(ui, "allocation", ui.spacing().interact_size.y);
    right.left_ui(ui, |ui| ui.label(theme::strong(tr!("{size} allocation", size = facts.size), 14.0)));
    right.ui(ui, |ui| {
        if ui.button(tr!("Copy")).on_hover_text(tr!("Copy everything about this allocation")).clicked() {
            ui.copy_text(facts.copy.clone());
        }
        if ui.button(tr!("Close")).on_hover_text(tr!("Unselect (Esc)")).clicked() {
            action = Some(Action::Close);
        }
    });
    ui.add(egui::Label::new(facts.site.as_str()).wrap());
    ui.add_space(6.0);
    rows_ui(ui, "purpose", &facts.purpose);
    ui.add_space(6.0);
    action = links_ui(ui, facts.has_end).or(action);
    ui.add_space(6.0);
    let shows_internal = &mut state.shows_internal_frames;
    stack_view::ui(ui, &tr!("Stack"), &facts.frames, Some(ctx.recording.stack(id)), shows_internal);
    if !facts.forward.is_empty() {
        ui.add_space(10.0);
        stack_view::ui(ui, &tr!("Forward stack"), &facts.forward, None, shows_internal);
    }
    ui.add_space(8.0);
    rows_ui(ui, "life", &facts.rows);
    ui.add_space(6.0);
    fold_ui(ui, theme::small(tr!("Address, block and segment")), |ui| {
        rows_ui(ui, "placement", &facts.placement);
    });
    if let Some(action) = action {
        act(ctx.recording, ctx.at, id, action);
    }
}

/// Names and values below one another.
pub(crate) fn rows_ui(ui: &mut egui::Ui, name: &str, rows: &[(&'static str, String)]) {
    egui::Grid::new(name).num_columns(2).spacing([12.0, 5.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(theme::muted(ui, texts::translated(name)));
            let text = egui::RichText::new(value);
            let is_address = value.starts_with("0x");
            ui.add(egui::Label::new(if is_address { text.monospace() } else { text }).wrap());
            ui.end_row();
        }
    });
}

/// Links to places that have to do with the allocation. Returns the one that was clicked.
fn links_ui(ui: &mut egui::Ui, has_end: bool) -> Option<Action> {
    let links = [
        (
            Action::Stack,
            tr!("all with this stack"),
            tr!("Select everything that was allocated with this stack"),
        ),
        (Action::Filter, tr!("filter to this site"), tr!("Find what the same line allocates, at any time")),
        (Action::Lifetime, tr!("zoom to lifetime"), tr!("Show the time from its allocation to its free (Z)")),
        (Action::Start, tr!("go to allocation"), tr!("Put the cursor where it was allocated")),
        (Action::End, tr!("go to free"), tr!("Put the cursor where it was freed")),
    ];
    let mut clicked = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(10.0, 4.0);
        // Links go to the next line as a whole.
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for (action, text, hint) in links {
            let is_offered = has_end || action != Action::End;
            if is_offered && ui.link(text).on_hover_text(hint).clicked() {
                clicked = Some(action);
            }
        }
    });
    clicked
}

fn act(timeline: &Timeline, at: &mut Standpoint, id: AllocId, action: Action) {
    match action {
        Action::Close => at.select(Selection::None),
        Action::Stack => at.select(Selection::Stack(timeline.stack(id))),
        Action::Filter => at.filter_to_site(timeline.stack(id)),
        Action::Lifetime => at.zoom_to_lifetime(id),
        Action::Start => at.go_to(timeline.lifetimes.start(id)),
        Action::End => at.go_to(timeline.gone(id).unwrap_or(Moment::START)),
    }
}
