//! The tools of the timeline: what it stacks, its colours, and the axis.

use crate::device::{Standpoint, TimelineMode};
use crate::theme;
use eframe::egui;
use oomscope_draw::{Axis, ColorBy};
use tr::tr;

/// Room that the switch of the mark and the filter behind it need, in points.
const MIN_SWITCH_PX: f32 = 300.0;

pub(crate) fn ui(ui: &mut egui::Ui, at: &mut Standpoint, has_times: bool) {
    ui.spacing_mut().item_spacing = egui::vec2(8.0, 2.0);
    mode_chooser(ui, at);
    color_chooser(ui, at);
    if has_times {
        axis_chooser(ui, at);
    }
    mark_switch(ui, at);
}

/// The switch that marks the memory of the verdict, where there is such memory, and nothing else decides what fades.
fn mark_switch(ui: &mut egui::Ui, at: &mut Standpoint) {
    let Some(marked) = at.verdict().filter(|_| at.outlined().is_none()) else { return };
    // A filter says what fades, and its figures need the room; there is the key.
    if !at.query.is_empty() || ui.available_width() < MIN_SWITCH_PX {
        return;
    }
    let hint = format!("{}\n{}", marked.label, tr!("Mark what the verdict is about, and fade the rest (V)"));
    let switch = egui::Button::selectable(at.marks_verdict, theme::small(tr!("Finding")));
    if ui.add(switch.frame_when_inactive(true)).on_hover_text(hint).clicked() {
        at.marks_verdict = !at.marks_verdict;
    }
}

fn mode_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    let modes = [
        (TimelineMode::Blocks, tr!("Active"), tr!("Blocks in use, in the order of allocation")),
        (TimelineMode::Segments, tr!("Reserved"), tr!("Segments, in the order of reservation")),
    ];
    for (mode, name, hint) in modes {
        let text = theme::small(name);
        if ui.selectable_label(at.timeline_mode == mode, text).on_hover_text(hint).clicked() {
            at.timeline_mode = mode;
        }
    }
    ui.add_space(6.0);
    ui.spacing_mut().item_spacing.x = 8.0;
}

fn color_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    let name = |by: ColorBy| tr!("Colour by {}", by.name());
    // A segment serves allocations of many categories, so it has none.
    let is_offered = |by: ColorBy| at.timeline_mode == TimelineMode::Blocks || !by.needs_attribution();
    let shown = if is_offered(at.color_by) { at.color_by } else { ColorBy::Stack };
    let mut chosen = shown;
    let text = theme::small(name(chosen));
    let chooser = egui::ComboBox::from_id_salt("colour by").selected_text(text).width(128.0);
    let response = chooser.show_ui(ui, |ui| {
        for by in ColorBy::ALL.into_iter().filter(|&by| is_offered(by)) {
            ui.selectable_value(&mut chosen, by, name(by));
        }
    });
    response.response.on_hover_text(tr!("What the colours of the bands tell apart"));
    if chosen != shown {
        at.color_by = chosen;
    }
}

fn axis_chooser(ui: &mut egui::Ui, at: &mut Standpoint) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (axis, name, hint) in [
        (Axis::Event, tr!("Events"), tr!("Every event is equally wide")),
        (Axis::Time, tr!("Time"), tr!("As long as it took")),
    ] {
        let text = theme::small(name);
        if ui.selectable_label(at.view.axis == axis, text).on_hover_text(hint).clicked() {
            at.set_axis(axis);
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}
