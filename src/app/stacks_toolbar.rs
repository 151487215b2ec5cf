//! Above the flame graph: what is weighed, how stacks are shown, and the search.

use super::device::DeviceState;
use super::stacks_panel::{Mode, State, share_text, weight_text};
use super::stacks_work::Weighed;
use super::theme;
use crate::analysis::{Direction, Measure};
use crate::model::Moment;
use crate::units;
use eframe::egui::{self, Align, Key, Layout};

const SEARCH_PX: f32 = 150.0;

pub(super) fn ui(ui: &mut egui::Ui, state: &mut State, device: &DeviceState, weighed: Option<&Weighed>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        modes_ui(ui, state);
        ui.add_space(10.0);
        directions_ui(ui, state);
        ui.add_space(8.0);
        ui.checkbox(&mut state.options.shows_internal, small("Internal frames"))
            .on_hover_text("Also show frames of torch, the interpreter and libraries");
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| search_ui(ui, state, weighed));
    });
    ui.horizontal(|ui| {
        ui.set_min_height(20.0);
        range_ui(ui, state, device);
        if let Some(weighed) = weighed {
            summary_ui(ui, state, device, weighed);
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
        let frames = if found.frames == 1 { "frame" } else { "frames" };
        let text = format!("{share} in {} {frames}", units::count(found.frames as u64));
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

/// What is shown, in a sentence.
fn summary_ui(ui: &mut egui::Ui, state: &State, device: &DeviceState, weighed: &Weighed) {
    let all = &weighed.totals.all;
    let weight = weight_text(weighed.totals.unit, all.weight);
    let blocks = plural(all.count, "block", "blocks");
    let allocations = plural(all.count, "allocation", "allocations");
    let what = match weighed.wish.measure {
        Measure::Live { at } if state.mode == Mode::Peak => {
            format!("{weight} in {blocks} at the peak, {}", place(at))
        }
        Measure::Live { at } => format!("{weight} in {blocks} {}", place(at)),
        Measure::Allocated { after, until } => {
            format!("{weight} in {allocations} {}", range(device, after, until))
        }
        Measure::ByteTime { from, to } => format!("{weight} of {allocations} {}", range(device, from, to)),
    };
    let response = ui.add(egui::Label::new(theme::muted(ui, what).size(12.0)).truncate());
    response.on_hover_ui(|ui| {
        ui.label(format!(
            "{} from {} at {}",
            units::bytes_exact(all.bytes),
            plural(weighed.totals.stacks.len() as u64, "stack", "stacks"),
            plural(weighed.sites.len() as u64, "site", "sites")
        ));
        let cut = weighed.tree.cut();
        if cut.deep_stacks != 0 {
            ui.label(format!(
                "{} too deep to be shown whole",
                plural(cut.deep_stacks as u64, "stack is", "stacks are")
            ));
        }
        if cut.left_out_stacks != 0 {
            ui.label(format!(
                "{} not in the tree: there are too many",
                plural(cut.left_out_stacks as u64, "stack is", "stacks are")
            ));
        }
    });
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", units::count(n), if n == 1 { one } else { many })
}

fn place(at: Moment) -> String {
    match at.event() {
        Some(event) => format!("after event {}", units::count(event.0)),
        None => "before the first event".to_owned(),
    }
}

fn range(device: &DeviceState, from: Moment, to: Moment) -> String {
    let events = u64::from(to.0.saturating_sub(from.0));
    let last = Moment(device.timeline().events.len() as u32);
    if from == Moment::START && to == last {
        return "over the whole recording".to_owned();
    }
    // The range is from the state after one event to the state after another.
    let first = units::count(from.0);
    match to.event() {
        Some(to) if events != 0 => format!("from event {first} to {}", units::count(to.0)),
        _ => "in no event: the mark is at the cursor".to_owned(),
    }
}
