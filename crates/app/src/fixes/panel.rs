//! The verdict, the changes that help, and what the user tries.

use super::own::OwnRow;
use super::rows::{Answer, Rows};
use crate::device::{Pane, PaneCtx, PredictingRequest, PredictingTask, Wish};
use crate::report_view;
use crate::theme;
use crate::waiting;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use eframe::egui;
use oomscope_draw::AfterFix;
use oomscope_export::after_fix;
use oomscope_model::{Bytes, DeviceId};
use oomscope_remedies::Predictions;
use oomscope_report::{largest_batch_line, remedies_in_words, unchanged_name};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Width of the field for the capacity, in points: room for `80.00 GiB`.
const CAPACITY_PX: f32 = 84.0;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 10.0;

/// Largest width of the pane's contents, in points: longer lines are hard to read.
const MAX_TEXT_PX: f32 = 720.0;

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(crate) struct State {
    /// Another capacity, as it is written.
    capacity: String,
    /// What was tried on a device of that capacity.
    background: Background<PredictingTask>,
    /// The row that is unfolded.
    shown: Option<usize>,
    /// Whether all fixes have rows, not only the best few.
    has_all: bool,
    own: OwnRow,
    /// The curve of the fix that the user looks at.
    curve: Memo<(ByPtr<Predictions>, String), Arc<AfterFix>>,
}

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width((ui.available_width() - SCROLL_BAR_PX).min(MAX_TEXT_PX));
            if let Some(pane) = report_view::panel::verdict_ui(ui, ctx) {
                *ctx.wish = Some(Wish::Show(pane));
            }
            self.fixes_ui(ui, ctx);
        });
    }

    fn keep(&mut self, old: &Self) {
        self.capacity.clone_from(&old.capacity);
        self.has_all = old.has_all;
    }
}

impl State {
    fn fixes_ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        if ctx.recording.device == DeviceId::HOST || ctx.recording.events.is_empty() {
            let text = tr!("No events of a GPU's allocator were recorded that could be changed.");
            ui.add(egui::Label::new(theme::muted(ui, text)).wrap());
            return;
        }
        let Some(predictions) = self.predictions_ui(ui, ctx) else { return };
        let advised = ctx.derived.advised();
        // Where there is a plan, or nothing that has to fit, rows say what there is to say.
        if predictions.remedies.is_empty() || (predictions.fits.is_some() && predictions.least().is_none()) {
            ui.add(egui::Label::new(remedies_in_words(&predictions)).wrap());
        }
        let shown = self.shown;
        let advised = advised.as_deref().filter(|fix| fix.is_advice);
        let unchanged = unchanged_name(&predictions, ctx.recording.snapshot());
        let rows = Rows { predictions: &predictions, unchanged, advised, shown, has_all: self.has_all };
        let Answer { clicked, pointed } = rows.ui(ui);
        if let Some(clicked) = clicked {
            self.shown = Some(clicked).filter(|_| shown != Some(clicked));
        }
        let looked_at = pointed.or(self.shown).and_then(|at| predictions.remedies.get(at));
        if let Some(fix) = looked_at {
            let key = (ByPtr(Arc::clone(&predictions)), fix.id.clone());
            ctx.at.try_fix(self.curve.get(key, || Arc::new(after_fix(&predictions, fix))));
        }
        ui.separator();
        self.tools_ui(ui, &predictions);
        // Of the same device as the rows above.
        let capacity = self.capacity().or(ctx.derived.given_capacity());
        self.own.ui(ui, ctx, &predictions, capacity);
    }

    /// Another capacity, if one is written.
    fn capacity(&self) -> Option<Bytes> {
        units::parse_bytes(&self.capacity).filter(|&bytes| 0 < bytes).map(Bytes)
    }

    /// What is predicted for the device, or for one of another capacity; and how far that is, if it is still to come.
    fn predictions_ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) -> Option<Arc<Predictions>> {
        let Some(capacity_bytes) = self.capacity() else { return ctx.derived.predictions_ui(ui).cloned() };
        let attribution = ctx.derived.attribution().map(Arc::clone)?;
        let request = PredictingRequest { capacity_bytes: Some(capacity_bytes) };
        let task = || PredictingTask::new(ctx.recording, &attribution);
        let mode = ctx.derived.work_mode;
        let answer = self.background.ask(&request, ui.ctx(), mode, "fixes", task).cloned();
        if answer.is_none() {
            waiting::ui(ui, &tr!("Trying fixes"), &mut self.background, &request);
        }
        answer.or_else(|| self.background.latest().cloned()).flatten()
    }

    /// Another capacity, how many fixes have rows, and the largest batch.
    fn tools_ui(&mut self, ui: &mut egui::Ui, predictions: &Predictions) {
        if let Some(batch) = largest_batch_line(predictions) {
            ui.add(egui::Label::new(batch).wrap());
        }
        ui.horizontal_wrapped(|ui| {
            self.capacity_ui(ui, predictions.capacity);
            let all = units::count(predictions.remedies.len() as u64);
            ui.checkbox(&mut self.has_all, tr!("All {all} fixes", all))
                .on_hover_text(tr!("Not only the best few"));
            ui.label(theme::muted(ui, tr!("Predicted, not measured")));
        });
    }

    fn capacity_ui(&mut self, ui: &mut egui::Ui, limit_bytes: Option<u64>) {
        let label = ui.label(theme::muted(ui, tr!("Capacity")));
        let hint = limit_bytes.map_or_else(
            || "80GiB".to_owned(),
            |bytes| units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX)),
        );
        let field = egui::TextEdit::singleline(&mut self.capacity).hint_text(hint).desired_width(CAPACITY_PX);
        let meaning = tr!("What PyTorch may reserve in all; derived from a recorded OOM if not given");
        ui.add(field).labelled_by(label.id).on_hover_text(meaning);
        if !self.capacity.is_empty() && units::parse_bytes(&self.capacity).is_none() {
            ui.label(theme::muted(ui, tr!("Expected a size such as 80GiB")));
        }
    }
}
