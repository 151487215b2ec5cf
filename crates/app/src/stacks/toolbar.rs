//! The tools above the flame graph: the measure, the arrangement of stacks, and the search.

use super::controls::{Controls, Mode};
use super::shown::{Found, share_text};
use super::weighing::Weighed;
use crate::device::Standpoint;
use crate::theme;
use eframe::egui::{self, Key};
use oomscope_analysis::{Cut, Direction};
use oomscope_report::weight_text;
use oomscope_units as units;
use tr::tr;

/// Width of the field for searches, in points: a file and a line, or a function.
const SEARCH_PX: f32 = 150.0;

/// The weights for the choices, or for earlier ones.
pub(super) struct Counted<'a> {
    pub(super) weighed: &'a Weighed,
    pub(super) found: Option<&'a Found>,
    /// They are for the present choices.
    pub(super) is_current: bool,
}

pub(super) fn ui(
    ui: &mut egui::Ui,
    controls: &mut Controls,
    at: &mut Standpoint,
    counted: Option<&Counted<'_>>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(2.0, 2.0);
        modes_ui(ui, controls);
        range_ui(ui, controls, at);
        ui.add_space(8.0);
        directions_ui(ui, controls);
        ui.add_space(6.0);
        ui.checkbox(&mut controls.options.shows_internal, theme::small(tr!("Internal frames")))
            .on_hover_text(tr!("Also show frames of torch, the interpreter and libraries"));
        ui.add_space(10.0);
        search_ui(ui, controls, counted);
        if counted.is_some_and(|counted| !counted.is_current) {
            ui.label(theme::muted(ui, tr!("counting…")).size(12.0));
        }
    });
    ui.add_space(2.0);
}

fn modes_ui(ui: &mut egui::Ui, controls: &mut Controls) {
    let modes = [
        (Mode::Cursor, tr!("At cursor"), tr!("Bytes that are live at the cursor")),
        (Mode::Peak, tr!("At peak"), tr!("Bytes that are live when most are active")),
        (
            Mode::Allocated,
            tr!("Allocated"),
            tr!("Bytes that were allocated from the mark to the cursor, whether or not they were freed"),
        ),
        (
            Mode::Change,
            tr!("Change"),
            tr!(
                "What is live at the end of the marked range (Ctrl+drag on the timeline) less what was at its start; without a \
             range, at the cursor less at the mark. At the left the stacks that have more then, at the right those that \
             have less; both graphs together are as wide as the change"
            ),
        ),
        (
            Mode::ByteTime,
            tr!("Bytes × time"),
            tr!("Bytes multiplied by how long they were live: what holds much memory for long"),
        ),
    ];
    for (mode, name, hint) in modes {
        if ui.selectable_label(controls.mode == mode, theme::small(name)).on_hover_text(hint).clicked() {
            controls.mode = mode;
        }
    }
}

fn directions_ui(ui: &mut egui::Ui, controls: &mut Controls) {
    let directions = [
        (
            Direction::CallersFirst,
            tr!("Callers first"),
            tr!("The outermost frame on top: below it is what it called"),
        ),
        (
            Direction::CalleesFirst,
            tr!("Callees first"),
            tr!("The innermost frame on top: below it is what called it, from everywhere"),
        ),
    ];
    for (direction, name, hint) in directions {
        let is_chosen = controls.options.direction == direction;
        if ui.selectable_label(is_chosen, theme::small(name)).on_hover_text(hint).clicked() && !is_chosen {
            controls.options.direction = direction;
            // The other tree has other paths.
            controls.zoom.clear();
        }
    }
}

fn search_ui(ui: &mut egui::Ui, controls: &mut Controls, counted: Option<&Counted<'_>>) {
    let edit = egui::TextEdit::singleline(&mut controls.search)
        .hint_text(tr!("Search frames"))
        .desired_width(SEARCH_PX)
        .font(egui::FontId::proportional(12.0));
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("Search frames")));
    if response.has_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        controls.search.clear();
    }
    if let Some(&Counted { weighed, found: Some(found), .. }) = counted {
        let unit = weighed.totals.unit;
        let share = share_text(found.weight, weighed.totals.all.weight);
        ui.add_space(6.0);
        let text = tr!(
            "{share} in {count} frame" | "{share} in {count} frames" % found.frames,
            share,
            count = units::count(found.frames as u64)
        );
        ui.label(theme::small(&text)).on_hover_text(tr!(
            "{} lie in or below the frames that were found",
            weight_text(unit, found.weight)
        ));
    }
}

/// The start of ranges, for measures that have one.
fn range_ui(ui: &mut egui::Ui, controls: &mut Controls, at: &mut Standpoint) {
    let is_by_range = controls.mode == Mode::Change && at.range().is_some();
    if is_by_range || matches!(controls.mode, Mode::Cursor | Mode::Peak) {
        return;
    }
    let hint = tr!("Start ranges at the cursor (M)");
    if ui.button(theme::small(tr!("Mark here"))).on_hover_text(hint).clicked() {
        at.mark = Some(at.cursor);
        controls.show_range();
    }
    if at.mark.is_some()
        && ui
            .button(theme::small(tr!("Clear mark")))
            .on_hover_text(tr!("Start ranges at the beginning"))
            .clicked()
    {
        at.mark = None;
    }
}

/// Notes on stacks that the tree leaves out. Only made-up recordings have such stacks.
pub(crate) fn cut_notes(cut: Cut) -> Vec<String> {
    let (deep, left_out) = (cut.deep_stacks, cut.left_out_stacks);
    let mut notes = Vec::new();
    if deep != 0 {
        notes.push(tr!(
            "{} stack ends in \"other frames\"" | "{} stacks end in \"other frames\"" % deep,
            units::count(deep as u64)
        ));
    }
    if left_out != 0 {
        notes.push(tr!(
            "{} stack is not in the tree: there are too many"
                | "{} stacks are not in the tree: there are too many" % left_out,
            units::count(left_out as u64)
        ));
    }
    notes
}
