//! The pane *What if*: controls, results, and how far they can be trusted.

use super::controls::Controls;
use super::map::{self, DrawnMap, LayoutTask};
use super::results;
use super::simulating::{SimulateTask, Simulated, WhatIfRequest, WhatIfResponse, has_requests};
use crate::device::{Pane, PaneCtx};
use crate::theme;
use crate::waiting;
use crate::work::background::Background;
use eframe::egui;
use oomscope_report::fidelity_text;
use oomscope_simulator::Settings;
use oomscope_units as units;
use std::sync::Arc;

/// Width, in points, from which the curves stand beside the table, not below it.
const MIN_TWO_COLUMNS_PX: f32 = 860.0;

/// The table's share of the width if the curves stand beside it: most tables fit.
const TABLE_SHARE: f32 = 0.64;

/// Space between the table and the curves, in points.
const GAP_PX: f32 = 12.0;

/// Height of the curves below the table, in points.
const PLOT_PX: f32 = 180.0;

/// The name of the work.
const SIMULATING: &str = "Simulating";

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    recorded: Option<Settings>,
    controls: Option<Controls>,
    task: Option<SimulateTask>,
    background: Background<SimulateTask>,
    maps: Background<LayoutTask>,
    drawn: DrawnMap,
    /// The segment map is shown, not the curves.
    shows_map: bool,
    /// The row whose curve is shown; the last one if there are fewer.
    shown: Option<usize>,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        if !has_requests(ctx.recording) {
            let text = "No events of a GPU's allocator were recorded that could be simulated.";
            ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
            return;
        }
        self.settings_ui(ui, ctx);
    }
}

impl State {
    fn settings_ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let recorded = ctx.recording;
        let recorded = self.recorded.get_or_insert_with(|| Settings::in_effect(recorded));
        let controls = self.controls.get_or_insert_with(|| Controls::new(recorded.clone()));
        let limit = self.background.latest().and_then(|answer| answer.limit_bytes);
        controls.ui(ui, recorded, limit);
        let (request, mode) = (controls.request(), ctx.derived.work_mode);
        let Some(attribution) = ctx.derived.attribution().map(Arc::clone) else {
            ui.label(theme::muted(ui, "Finding out what memory is for…"));
            return;
        };
        let task = || SimulateTask::new(ctx.recording.clone(), attribution);
        let task = self.task.get_or_insert_with(task).clone();
        let answer = self.background.ask(&request, ui.ctx(), mode, "simulator", || task).cloned();
        let is_current = answer.is_some();
        let Some(answer) = answer.or_else(|| self.background.latest().cloned()) else {
            waiting::ui(ui, SIMULATING, &mut self.background, &request);
            return;
        };
        if is_current {
            notes_ui(ui, &answer);
        } else {
            waiting::ui(ui, SIMULATING, &mut self.background, &request);
        }
        results::recommended_ui(ui, &answer);
        ui.add_space(2.0);
        self.results_ui(ui, ctx, &answer, &request);
    }

    fn results_ui(
        &mut self,
        ui: &mut egui::Ui,
        ctx: &mut PaneCtx<'_>,
        answer: &Arc<WhatIfResponse>,
        request: &WhatIfRequest,
    ) {
        debug_assert!(answer.recommended.is_none_or(|row| row < answer.rows.len()));
        let last = answer.rows.len().saturating_sub(1);
        let shown = self.shown.map_or(answer.recommended.unwrap_or(last), |shown| shown.min(last));
        let Some(row) = answer.rows.get(shown) else { return };
        let mut chosen = None;
        if ui.available_width() < MIN_TWO_COLUMNS_PX {
            egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                chosen = results::table_ui(ui, answer, shown);
                ui.add_space(8.0);
                let size = egui::vec2(ui.available_width(), PLOT_PX);
                ui.allocate_ui(size, |ui| self.picture_ui(ui, ctx, row, request));
            });
        } else {
            let [left, right] = split(ui.available_rect_before_wrap());
            ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
                egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                    chosen = results::table_ui(ui, answer, shown);
                });
            });
            ui.scope_builder(egui::UiBuilder::new().max_rect(right), |ui| {
                self.picture_ui(ui, ctx, row, request);
            });
        }
        self.shown = chosen.or(self.shown);
    }

    /// Memory over time, or the segment map at the cursor.
    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        ctx: &mut PaneCtx<'_>,
        row: &Simulated,
        request: &WhatIfRequest,
    ) {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.shows_map, false, "Reserved over time");
            let hint = "The simulated segments at the cursor, to scale";
            ui.selectable_value(&mut self.shows_map, true, "Segment map at the cursor").on_hover_text(hint);
        });
        if !self.shows_map {
            results::plot_ui(ui, ctx.recording, &ctx.derived.curves, ctx.at, row);
            return;
        }
        let wanted =
            (WhatIfRequest { settings: row.outcome.settings.clone(), ..request.clone() }, ctx.at.cursor);
        let Some(task) = &self.task else { return };
        let layout = || LayoutTask(task.clone());
        let found = self.maps.ask(&wanted, ui.ctx(), ctx.derived.work_mode, "simulated map", layout).cloned();
        match found.or_else(|| self.maps.latest().cloned()) {
            Some(state) => map::ui(ui, &state, &self.drawn),
            None => {
                ui.label(theme::muted(ui, "Simulating…"));
            }
        }
    }
}

/// The rectangles of the table, and of the curves or the map beside it.
fn split(all: egui::Rect) -> [egui::Rect; 2] {
    let (left, right) = all.split_left_right_at_x(all.left() + all.width() * TABLE_SHARE);
    [left, right.with_min_x(right.left() + GAP_PX)]
}

/// Notes on the answer: how far it can be trusted, and up to which event it holds.
fn notes_ui(ui: &mut egui::Ui, answer: &WhatIfResponse) {
    let mut text = fidelity_text(answer.fidelity);
    if let Some(event) = answer.recorded_oom {
        let event = units::count(event.0);
        let reach = match answer.projected {
            Ok(_) => "the rest of that step is projected",
            Err(_) => "answers reach only to there",
        };
        text = format!("{text} · the recording ends with an OOM at event {event}: {reach}");
    }
    // As high as the line that stands here while another answer is on its way.
    ui.horizontal_wrapped(|ui| ui.label(theme::muted(ui, text)));
}
