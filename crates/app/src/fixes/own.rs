//! What the user tries: settings of the allocator and another batch, on a device of some capacity.

use super::own_controls::Controls;
use super::rows::outcome_ui;
use crate::device::PaneCtx;
use crate::report_view::fold_ui;
use crate::theme;
use crate::waiting;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::worker::Task;
use eframe::egui;
use oomscope_analysis::Attribution;
use oomscope_draw::{AfterFix, TakenAs};
use oomscope_model::{Bytes, Recording};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Own, OwnOutcome, Predictions, Scene};
use oomscope_report::{export_line, fidelity_text, fits_or_until, to_spare};
use oomscope_simulator::{Fidelity, Settings, Subject};
use oomscope_units as units;
use std::sync::{Arc, OnceLock};
use tr::tr;

/// A row that the user fills in.
#[derive(Default)]
pub(super) struct OwnRow {
    recorded: Option<Settings>,
    controls: Option<Controls>,
    background: Background<OwnTask>,
    curve: Memo<(ByPtr<OwnAnswer>, ByPtr<Predictions>), Arc<AfterFix>>,
}

/// What the user tries, and the most bytes that may be reserved, if not those of the recorded device.
type OwnRequest = (Own, Option<Bytes>);

/// What came of it.
struct OwnAnswer {
    own: Own,
    outcome: OwnOutcome,
    fidelity: Fidelity,
}

/// Tries it for one device of a file.
#[derive(Clone)]
struct OwnTask {
    recording: Recording,
    attribution: Arc<Attribution>,
    subject: Arc<OnceLock<Subject>>,
}

impl Task for OwnTask {
    type Request = OwnRequest;
    type Response = Arc<OwnAnswer>;

    fn run(&self, (own, capacity): &OwnRequest) -> Arc<OwnAnswer> {
        let subject = self.subject.get_or_init(|| Subject::new(&self.recording));
        let run = Run { recording: &self.recording, attribution: &self.attribution };
        let outcome =
            Scene::with_whole_step(&Workload::of(run), subject, *capacity, |scene| own.outcome(scene));
        Arc::new(OwnAnswer { own: own.clone(), outcome, fidelity: subject.fidelity() })
    }
}

impl OwnRow {
    /// The controls and what comes of them, folded until the user wants to try something. `predictions` are those for the same
    /// capacity, which is `None` for that of the recorded device.
    pub(super) fn ui(
        &mut self,
        ui: &mut egui::Ui,
        ctx: &mut PaneCtx<'_>,
        predictions: &Arc<Predictions>,
        capacity: Option<Bytes>,
    ) {
        fold_ui(ui, theme::small(tr!("Try other settings or another batch")), |ui| {
            let recorded = self.recorded.get_or_insert_with(|| Settings::in_effect(ctx.recording));
            let controls = self.controls.get_or_insert_with(|| Controls::new(recorded.clone()));
            let has_batch = self.background.latest().is_none_or(|answer| answer.outcome.has_batch);
            controls.ui(ui, recorded, has_batch);
            let Some(attribution) = ctx.derived.attribution().map(Arc::clone) else { return };
            let request = (controls.own(), capacity);
            let task = || OwnTask { recording: ctx.recording.clone(), attribution, subject: Arc::default() };
            let mode = ctx.derived.work_mode;
            let answer = self.background.ask(&request, ui.ctx(), mode, "own settings", task).cloned();
            if answer.is_none() {
                waiting::ui(ui, &tr!("Simulating"), &mut self.background, &request);
            }
            let Some(answer) = answer.or_else(|| self.background.latest().cloned()) else { return };
            let key = (ByPtr(Arc::clone(&answer)), ByPtr(Arc::clone(predictions)));
            ctx.at.try_fix(self.curve.get(key, || Arc::new(curve(&answer.outcome, predictions))));
            answer_ui(ui, &answer, predictions);
        });
    }
}

fn curve(outcome: &OwnOutcome, predictions: &Predictions) -> AfterFix {
    let (recorded, all) = (predictions.recorded_stretches(), predictions.curve.highest().len());
    let reserved = AfterFix::of(outcome.reserved.highest(), TakenAs::Reserved, recorded, all);
    AfterFix { is_own: true, ..reserved }
}

fn answer_ui(ui: &mut egui::Ui, answer: &OwnAnswer, predictions: &Predictions) {
    let OwnAnswer { own, outcome, fidelity } = answer;
    let margin = outcome.margin.map_or_else(String::new, |margin| {
        if margin < 0 {
            return tr!("{} missing at least", units::bytes(-margin));
        }
        to_spare(margin, outcome.figures.peak_reserved, None)
    });
    let fit = fits_or_until(outcome.fits, outcome.fits_until_turn);
    outcome_ui(ui, predictions, outcome.figures, outcome.fits, &fit, &margin);
    if !own.settings.conf().is_empty() {
        let export = format!("export {}", export_line(&own.settings));
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::small(&export).monospace());
            if ui.button(theme::small(tr!("Copy"))).on_hover_text(tr!("Copy this line")).clicked() {
                ui.copy_text(export);
            }
        });
    }
    let trust = tr!("The recording simulated as it is: {}", fidelity_text(*fidelity));
    ui.add(egui::Label::new(theme::muted(ui, trust)).wrap());
}
