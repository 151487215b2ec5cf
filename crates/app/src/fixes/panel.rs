//! The pane *Fixes*: the capacity, the cheapest change that fits, the table, and the chosen remedy beside it.

use super::predicting::{PredictTask, RemediesRequest, RemediesResponse};
use super::results::{self, Answer, Rows};
use crate::device::{Pane, PaneCtx};
use crate::theme;
use crate::waiting;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_draw::AfterFix;
use oomscope_model::DeviceId;
use oomscope_report::{fidelity_text, largest_batch_line, remedies_in_words};
use oomscope_units as units;
use std::sync::Arc;

/// Width, in points, from which the chosen remedy stands beside the table, not below it.
const MIN_TWO_COLUMNS_PX: f32 = 860.0;

/// The table's share of the width if the chosen remedy stands beside it.
const TABLE_SHARE: f32 = 0.68;

/// Space between the table and the chosen remedy, in points.
const GAP_PX: f32 = 12.0;

/// Width of the field for the capacity, in points: room for `80.00 GiB`.
const CAPACITY_PX: f32 = 84.0;

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    /// The capacity as it is written.
    capacity: String,
    background: Background<PredictTask>,
    /// The row of the chosen remedy; the least that fits or the best, if none was.
    shown: Option<usize>,
    /// Whether the table has all remedies, not only the best few.
    has_all: bool,
    /// The curve of the fix that the user looks at.
    curve: Memo<(ByPtr<RemediesResponse>, String), Arc<AfterFix>>,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        if ctx.recording.device == DeviceId::HOST || ctx.recording.events.is_empty() {
            let text = "No events of a GPU's allocator were recorded that could be changed.";
            ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
            return;
        }
        let Some(attribution) = ctx.derived.attribution().map(Arc::clone) else {
            ui.label(theme::muted(ui, "Finding out what memory is for…"));
            return;
        };
        self.tools_ui(ui);
        let capacity = units::parse_bytes(&self.capacity).and_then(|bytes| u64::try_from(bytes).ok());
        let request = RemediesRequest { capacity_bytes: capacity.filter(|&bytes| 0 < bytes) };
        let task = || PredictTask::new(ctx.recording.clone(), attribution);
        let mode = ctx.derived.work_mode;
        let answer = self.background.ask(&request, ui.ctx(), mode, "remedies", task).cloned();
        let is_current = answer.is_some();
        if !is_current {
            waiting::ui(ui, "Trying fixes", &mut self.background, &request);
        }
        if let Some(answer) = answer.or_else(|| self.background.latest().cloned()) {
            let looked_at = self.results_ui(ui, &answer);
            let remedy = looked_at.and_then(|at| answer.predictions.remedies.get(at));
            // A setting of the allocator changes what is reserved, not what is requested.
            if let Some(remedy) = remedy.filter(|remedy| remedy.curve != answer.predictions.curve) {
                let recorded = answer.predictions.recorded_stretches();
                ctx.at.try_fix(self.curve.get((ByPtr(Arc::clone(&answer)), remedy.id.clone()), || {
                    Arc::new(AfterFix::of(remedy.curve.highest(), recorded))
                }));
            }
        }
    }

    fn keep(&mut self, old: &Self) {
        self.capacity.clone_from(&old.capacity);
        self.has_all = old.has_all;
    }
}

impl State {
    /// The capacity, which can be another one, and how many fixes have rows.
    fn tools_ui(&mut self, ui: &mut egui::Ui) {
        let answer = self.background.latest().cloned();
        ui.horizontal_wrapped(|ui| {
            let limit = answer.as_ref().and_then(|answer| answer.predictions.capacity);
            capacity_ui(ui, &mut self.capacity, limit);
            let Some(answer) = answer else { return };
            let all = units::count(answer.predictions.remedies.len() as u64);
            ui.checkbox(&mut self.has_all, format!("All {all} fixes")).on_hover_text("Not only the best few");
            let again = format!("Simulated again as it is: {}", fidelity_text(answer.fidelity));
            ui.label(theme::muted(ui, "Predicted, not measured")).on_hover_text(again);
        });
    }
}

fn capacity_ui(ui: &mut egui::Ui, capacity: &mut String, limit_bytes: Option<u64>) {
    let label = ui.label(theme::muted(ui, "Capacity"));
    let hint = limit_bytes
        .map_or_else(|| "80GiB".to_owned(), |bytes| units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX)));
    let field = egui::TextEdit::singleline(capacity).hint_text(hint).desired_width(CAPACITY_PX);
    let meaning = "What PyTorch may reserve in all; derived from a recorded OOM if not given";
    ui.add(field).labelled_by(label.id).on_hover_text(meaning);
    if !capacity.is_empty() && units::parse_bytes(capacity).is_none() {
        ui.label(theme::muted(ui, "Expected a size such as 80GiB"));
    }
}

impl State {
    /// The verdict on all fixes, a row for each, and the chosen one. Returns the fix that the user looks at: that under the pointer,
    /// else the chosen one.
    fn results_ui(&mut self, ui: &mut egui::Ui, answer: &RemediesResponse) -> Option<usize> {
        let predictions = &answer.predictions;
        ui.add(egui::Label::new(remedies_in_words(predictions)).wrap());
        if let Some(batch) = largest_batch_line(predictions) {
            ui.add(egui::Label::new(batch).wrap());
        }
        ui.add_space(2.0);
        let shown = self.shown.or(predictions.best.first().copied()).unwrap_or(0);
        let rows = Rows { predictions, shown, has_all: self.has_all };
        let all = ui.available_rect_before_wrap();
        let is_wide = MIN_TWO_COLUMNS_PX <= all.width();
        let share = if is_wide { TABLE_SHARE } else { 1.0 };
        let (left, right) = all.split_left_right_at_x(all.left() + all.width() * share);
        let mut clicked = Answer::default();
        ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                clicked = rows.ui(ui);
                if !is_wide && let Some(remedy) = predictions.remedies.get(shown) {
                    results::remedy_ui(ui, remedy);
                }
            });
        });
        if is_wide && let Some(remedy) = predictions.remedies.get(shown) {
            ui.scope_builder(
                egui::UiBuilder::new().max_rect(right.with_min_x(right.left() + GAP_PX)),
                |ui| {
                    egui::ScrollArea::vertical().id_salt("remedy").auto_shrink(false).show(ui, |ui| {
                        results::remedy_ui(ui, remedy);
                    });
                },
            );
        }
        self.shown = clicked.chosen.or(self.shown);
        clicked.pointed.or(self.shown)
    }
}
