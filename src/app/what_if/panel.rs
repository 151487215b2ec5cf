//! What if: controls, results, and how far they can be trusted.

use super::controls::Controls;
use super::map::{self, Drawn, Mapper};
use super::results;
use super::work::{Answer, Question, Simulated, Simulator, has_requests};
use crate::app::background::Background;
use crate::app::device::DeviceState;
use crate::app::theme;
use crate::report::fidelity_text;
use crate::simulator::Settings;
use crate::units;
use eframe::egui;
use std::sync::Arc;

/// With so much room, the curves stand beside the table.
const MIN_TWO_COLUMNS_PX: f32 = 860.0;

/// The table's share of the width then, and the space behind it.
const TABLE_SHARE: f32 = 0.6;
const GAP_PX: f32 = 12.0;

/// Height of the curves below the table.
const PLOT_PX: f32 = 180.0;

/// What the panel remembers between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    recorded: Option<Settings>,
    controls: Option<Controls>,
    simulator: Option<Simulator>,
    background: Background<Simulator>,
    maps: Background<Mapper>,
    drawn: Option<Drawn>,
    /// Whether the segment map is shown, not the curves.
    shows_map: bool,
    /// The row whose curve is shown; the last one if there are fewer.
    shown: Option<usize>,
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    if !has_requests(device.timeline()) {
        let text = "No events of a GPU's allocator were recorded that could be simulated.";
        ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
        return;
    }
    let mut state = std::mem::take(&mut device.panels.what_if);
    state.ui(ui, device);
    device.panels.what_if = state;
}

impl State {
    fn ui(&mut self, ui: &mut egui::Ui, device: &mut DeviceState) {
        let snapshot = device.snapshot();
        let recorded = self.recorded.get_or_insert_with(|| Settings::recorded(&snapshot));
        let controls = self.controls.get_or_insert_with(|| Controls::new(recorded.clone()));
        let limit = self.background.latest().and_then(|answer| answer.limit_bytes);
        controls.ui(ui, recorded, limit);
        let (question, mode, at) = (controls.question(), device.raster_mode(), device.index());
        let simulator = self.simulator.get_or_insert_with(|| Simulator::new(snapshot, at)).clone();
        let answer = self.background.ask(&question, ui.ctx(), mode, "simulator", || simulator).cloned();
        let is_current = answer.is_some();
        let Some(answer) = answer.or_else(|| self.background.latest().cloned()) else {
            ui.label(theme::muted(ui, "Simulating…"));
            return;
        };
        notes_ui(ui, &answer, is_current);
        self.results_ui(ui, device, &answer, &question);
    }

    fn results_ui(
        &mut self,
        ui: &mut egui::Ui,
        device: &mut DeviceState,
        answer: &Arc<Answer>,
        question: &Question,
    ) {
        let last = answer.rows.len().saturating_sub(1);
        let shown = self.shown.map_or(answer.recommended.unwrap_or(last), |shown| shown.min(last));
        let Some(row) = answer.rows.get(shown) else { return };
        let mut chosen = None;
        if ui.available_width() < MIN_TWO_COLUMNS_PX {
            egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                chosen = results::table_ui(ui, answer, shown);
                ui.add_space(8.0);
                let size = egui::vec2(ui.available_width(), PLOT_PX);
                ui.allocate_ui(size, |ui| self.picture_ui(ui, device, row, question));
            });
        } else {
            let [left, right] = split(ui.available_rect_before_wrap());
            ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
                egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                    chosen = results::table_ui(ui, answer, shown);
                });
            });
            ui.scope_builder(egui::UiBuilder::new().max_rect(right), |ui| {
                self.picture_ui(ui, device, row, question);
            });
        }
        self.shown = chosen.or(self.shown);
    }

    /// Memory over time, or the segment map at the cursor.
    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        device: &mut DeviceState,
        row: &Simulated,
        question: &Question,
    ) {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.shows_map, false, "Reserved over time");
            let hint = "The simulated segments at the cursor, to scale";
            ui.selectable_value(&mut self.shows_map, true, "Segment map at the cursor").on_hover_text(hint);
        });
        if !self.shows_map {
            results::plot_ui(ui, device, row);
            return;
        }
        let wish = (Question { settings: row.outcome.settings.clone(), ..question.clone() }, device.cursor);
        let Some(simulator) = &self.simulator else { return };
        let mapper = || Mapper(simulator.clone());
        let found = self.maps.ask(&wish, ui.ctx(), device.raster_mode(), "simulated map", mapper).cloned();
        match found.or_else(|| self.maps.latest().cloned()) {
            Some(state) => map::ui(ui, &state, &mut self.drawn),
            None => {
                ui.label(theme::muted(ui, "Simulating…"));
            }
        }
    }
}

/// Room for the table, and beside it for the curves or the map.
fn split(all: egui::Rect) -> [egui::Rect; 2] {
    let (left, right) = all.split_left_right_at_x(all.left() + all.width() * TABLE_SHARE);
    [left, right.with_min_x(right.left() + GAP_PX)]
}

/// How far the answer can be trusted, and to where it reaches.
fn notes_ui(ui: &mut egui::Ui, answer: &Answer, is_current: bool) {
    let mut text = fidelity_text(answer.fidelity);
    if let Some(event) = answer.recorded_oom {
        let event = units::count(event.0);
        text =
            format!("{text} · the recording ends with an OOM at event {event}: answers reach only to there");
    }
    if !is_current {
        text = format!("{text} · simulating…");
    }
    ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
    results::recommended_ui(ui, answer);
    ui.add_space(2.0);
}
