//! Above the flame graph: what is weighed, how stacks are shown, and the search.

use super::panel::{Mode, State, share_text};
use super::work::Weighed;
use crate::analysis::{Cut, Direction};
use crate::app::device::DeviceState;
use crate::app::theme;
use crate::report::weight_text;
use crate::units;
use eframe::egui::{self, Key};

const SEARCH_PX: f32 = 150.0;

pub(in crate::app) fn ui(
    ui: &mut egui::Ui,
    state: &mut State,
    device: &DeviceState,
    weighed: Option<(&Weighed, bool)>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(2.0, 2.0);
        modes_ui(ui, state);
        range_ui(ui, state, device);
        ui.add_space(8.0);
        directions_ui(ui, state);
        ui.add_space(6.0);
        ui.checkbox(&mut state.options.shows_internal, small("Internal frames"))
            .on_hover_text("Also show frames of torch, the interpreter and libraries");
        ui.add_space(10.0);
        search_ui(ui, state, weighed.map(|(weighed, _)| weighed));
        if weighed.is_some_and(|(_, is_current)| !is_current) {
            ui.label(theme::muted(ui, "counting…").size(12.0));
        }
    });
    ui.add_space(2.0);
}

fn small(text: &str) -> egui::RichText {
    egui::RichText::new(text).size(12.0)
}

fn modes_ui(ui: &mut egui::Ui, state: &mut State) {
    let modes = [
        (Mode::Cursor, "At cursor", "Bytes that are live at the cursor"),
        (Mode::Peak, "At peak", "Bytes that are live when most are active"),
        (
            Mode::Allocated,
            "Allocated",
            "Bytes that were allocated from the mark to the cursor, whether or not they were freed",
        ),
        (
            Mode::ByteTime,
            "Bytes × time",
            "Bytes multiplied by how long they were live: what holds much memory for long",
        ),
    ];
    for (mode, name, hint) in modes {
        if ui.selectable_label(state.mode == mode, small(name)).on_hover_text(hint).clicked() {
            state.mode = mode;
        }
    }
}

fn directions_ui(ui: &mut egui::Ui, state: &mut State) {
    let directions = [
        (Direction::CallersFirst, "Callers first", "The outermost frame on top: below it is what it called"),
        (
            Direction::CalleesFirst,
            "Callees first",
            "The innermost frame on top: below it is what called it, from everywhere",
        ),
    ];
    for (direction, name, hint) in directions {
        let is_chosen = state.options.direction == direction;
        if ui.selectable_label(is_chosen, small(name)).on_hover_text(hint).clicked() && !is_chosen {
            state.options.direction = direction;
            state.zoom.clear();
        }
    }
}

fn search_ui(ui: &mut egui::Ui, state: &mut State, weighed: Option<&Weighed>) {
    let edit = egui::TextEdit::singleline(&mut state.search)
        .hint_text("Search frames")
        .desired_width(SEARCH_PX)
        .font(egui::FontId::proportional(12.0));
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search frames"));
    if response.has_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        state.search.clear();
    }
    if let (Some(found), Some(weighed)) = (state.found(), weighed) {
        let unit = weighed.totals.unit;
        let share = share_text(found.weight, weighed.totals.all.weight);
        ui.add_space(6.0);
        let text = format!("{share} in {}", units::counted(found.frames, "frame"));
        ui.label(small(&text)).on_hover_text(format!(
            "{} lie in or below the frames that were found",
            weight_text(unit, found.weight)
        ));
    }
}

/// Where a range starts.
fn range_ui(ui: &mut egui::Ui, state: &mut State, device: &DeviceState) {
    if matches!(state.mode, Mode::Cursor | Mode::Peak) {
        return;
    }
    let hint = "Start ranges at the cursor (M)";
    if ui.button(small("Mark here")).on_hover_text(hint).clicked() {
        state.set_mark(device.cursor);
    }
    if state.mark.is_some()
        && ui.button(small("Clear mark")).on_hover_text("Start ranges at the beginning").clicked()
    {
        state.mark = None;
    }
}

/// What the tree does not have; nothing for what people write.
pub(in crate::app) fn cut_notes(cut: Cut) -> Vec<String> {
    let notes = [
        (cut.deep_stacks, "stack is too deep and ends early", "stacks are too deep and end early"),
        (
            cut.left_out_stacks,
            "stack is not in the tree: there are too many",
            "stacks are not in the tree: there are too many",
        ),
    ];
    notes
        .into_iter()
        .filter(|note| note.0 != 0)
        .map(|(n, one, many)| format!("{} {}", units::count(n as u64), if n == 1 { one } else { many }))
        .collect()
}
