//! A selected segment: facts, the code that reserved it, and the blocks in it.

use super::allocation_view::rows_ui;
use super::stack_view;
use super::state::State;
use crate::device::{PaneCtx, Selection};
use crate::theme;
use eframe::egui;
use oomscope_model::AllocId;
use oomscope_units as units;
use tr::tr;

pub(super) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State, addr: u64) {
    let Some(facts) = state.segment(ctx.recording, ctx.derived, addr, ctx.at.cursor) else {
        ui.label(theme::strong(tr!("No segment"), 14.0));
        let text = tr!("Nothing is reserved at {} at the cursor.", units::address(addr));
        ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
        return;
    };
    let mut is_closed = false;
    ui.horizontal(|ui| {
        ui.label(theme::strong(&facts.title, 14.0));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            is_closed = ui.button(tr!("Close")).on_hover_text(tr!("Unselect (Esc)")).clicked();
        });
    });
    if let Some(start) = facts.start
        && ui.link(tr!("go to where it was reserved")).clicked()
    {
        ctx.at.go_to(start);
    }
    ui.add_space(4.0);
    rows_ui(ui, "segment", &facts.rows);
    let block = blocks_ui(ui, &facts.blocks, facts.more);
    if !facts.frames.is_empty() {
        ui.add_space(10.0);
        stack_view::ui(ui, &tr!("Reserved by"), &facts.frames, None, &mut state.shows_internal_frames);
    }
    match block {
        Some(id) => ctx.at.select(Selection::Allocation(id)),
        None if is_closed => ctx.at.select(Selection::None),
        None => {}
    }
}

/// Links to blocks; returns the one that was clicked.
fn blocks_ui(ui: &mut egui::Ui, blocks: &[(AllocId, String)], more: usize) -> Option<AllocId> {
    if blocks.is_empty() {
        return None;
    }
    let mut clicked = None;
    ui.add_space(8.0);
    ui.label(theme::strong(tr!("Blocks in it"), 13.0));
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for (id, size) in blocks {
            if ui.link(size).on_hover_text(tr!("Select the allocation")).clicked() {
                clicked = Some(*id);
            }
        }
        if more != 0 {
            ui.label(theme::muted(ui, tr!("and {} more", units::count(more as u64))));
        }
    });
    clicked
}
