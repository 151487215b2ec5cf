//! The selected allocation: what it is, its life, its stack, and where to go from there.

use super::stack_view;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::model::{AllocId, Moment};
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

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let mut shows_internal = device.shows_internal_frames;
    let mut wanted = Wanted::Nothing;
    let editor = device.editor_command.clone();
    let mut message = None;
    let Some(facts) = device.facts() else { return };
    let id = facts.id;
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
    let clicked = stack_view::ui(ui, "Stack", &facts.frames, &mut shows_internal);
    message = clicked.or(message);
    if !facts.forward.is_empty() {
        ui.add_space(10.0);
        let clicked = stack_view::ui(ui, "Forward stack", &facts.forward, &mut shows_internal);
        message = clicked.or(message);
    }
    device.shows_internal_frames = shows_internal;
    if let Some(frame) = message {
        device.notify(stack_view::open_in_editor(&editor, &frame));
    }
    act(device, id, wanted);
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

fn act(device: &mut DeviceState, id: AllocId, wanted: Wanted) {
    let lifetimes = &device.timeline().lifetimes;
    let (start, end) = (lifetimes.start(id), lifetimes.requested(id).or(lifetimes.end(id)));
    match wanted {
        Wanted::Nothing => {}
        Wanted::Close => device.select(Selection::None),
        Wanted::Stack => {
            let stack = lifetimes.stack(id, &device.timeline().events);
            device.select(Selection::Stack(stack));
        }
        Wanted::Filter => {
            let stack = lifetimes.stack(id, &device.timeline().events);
            device.filter_to_site(stack);
        }
        Wanted::Lifetime => device.zoom_to_lifetime(id),
        Wanted::Start => device.go_to(start),
        Wanted::End => device.go_to(end.unwrap_or(Moment::START)),
    }
}
