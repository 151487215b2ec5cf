//! The remedies that a report quotes, predicted in the background once for all panes.

use crate::waiting;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::watch::Watch;
use crate::work::worker::{Task, WorkMode};
use eframe::egui;
use oomscope_analysis::Attribution;
use oomscope_diagnosis::{Advice, FindingId};
use oomscope_draw::Future;
use oomscope_export::future_of;
use oomscope_model::{Bytes, Recording};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Predictions, Progress, predict_all_while};
use oomscope_report::{Fix, RemedyText, fix, quoted};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tr::tr;

/// What the remedies of a report depend on, besides the recording.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PredictingRequest {
    /// Bytes of the device's memory, if the user said.
    pub(crate) capacity_bytes: Option<Bytes>,
}

/// Predicts the remedies of one device as `oomscope report` does: in very large recordings only the best.
#[derive(Clone)]
pub(crate) struct PredictingTask {
    recording: Recording,
    attribution: Arc<Attribution>,
}

impl PredictingTask {
    pub(crate) fn new(recording: &Recording, attribution: &Arc<Attribution>) -> Self {
        Self { recording: recording.clone(), attribution: Arc::clone(attribution) }
    }

    fn predicted(&self, request: &PredictingRequest, progress: Progress<'_>) -> Option<Arc<Predictions>> {
        let run = Run { recording: &self.recording, attribution: &self.attribution };
        predict_all_while(&Workload::of(run), request.capacity_bytes, progress).map(Arc::new)
    }
}

impl Task for PredictingTask {
    type Request = PredictingRequest;
    type Response = Option<Arc<Predictions>>;

    fn run(&self, request: &PredictingRequest) -> Option<Arc<Predictions>> {
        self.predicted(request, &|_, _| true)
    }

    fn run_watched(&self, request: &PredictingRequest, watch: &Watch) -> Option<Self::Response> {
        let predicted = self.predicted(request, &|done, total| {
            watch.progress(done, total);
            watch.is_wanted()
        });
        watch.is_wanted().then_some(predicted)
    }
}

/// What a fix depends on: the predictions, the id of the verdict and its first advice.
type FixKey = (Option<ByPtr<Predictions>>, FindingId, Option<Advice>);

/// What the future depends on: the predictions, and the fix whose curve it has.
type FutureKey = (ByPtr<Predictions>, Option<ByPtr<Fix>>);

/// The predictions, once they are there.
#[derive(Default)]
pub(super) struct Predicting {
    request: PredictingRequest,
    /// Panes that show how far it is can stop it, too.
    background: RefCell<Background<PredictingTask>>,
    predictions: Option<Arc<Predictions>>,
    /// The key is the predictions, and the id of the verdict.
    quoted: Memo<(ByPtr<Predictions>, FindingId), Rc<[RemedyText]>>,
    /// What is projected behind the recording.
    future: Memo<FutureKey, Arc<Future>>,
    /// What to change.
    fix: Memo<FixKey, Option<Arc<Fix>>>,
}

impl Predicting {
    /// Take the predictions if they are there, and ask for them if not. Called in every frame.
    pub(super) fn update(
        &mut self,
        ctx: &egui::Context,
        mode: WorkMode,
        recording: &Recording,
        attribution: &Arc<Attribution>,
        capacity_bytes: Option<Bytes>,
    ) {
        let task = || PredictingTask::new(recording, attribution);
        self.request = PredictingRequest { capacity_bytes };
        let background = self.background.get_mut();
        self.predictions = background.ask(&self.request, ctx, mode, "fixes", task).cloned().flatten();
    }

    /// Show how far predictions are, unless they are there.
    pub(super) fn ui(&self, ui: &mut egui::Ui) -> Option<&Arc<Predictions>> {
        if self.predictions.is_none() {
            waiting::ui(ui, &tr!("Trying fixes"), &mut self.background.borrow_mut(), &self.request);
        }
        self.predictions.as_ref()
    }

    /// All remedies, once they are predicted.
    pub(super) fn predictions(&self) -> Option<&Arc<Predictions>> {
        self.predictions.as_ref()
    }

    /// What is projected behind the recording, and what the program would request with a fix, once that is known.
    pub(super) fn future(&self, fix: Option<Arc<Fix>>) -> Option<Arc<Future>> {
        let all = self.predictions.as_ref()?;
        let key = (ByPtr(Arc::clone(all)), fix.map(ByPtr));
        let fix = key.1.clone();
        Some(self.future.get(key, || Arc::new(future_of(all, fix.as_deref()))))
    }

    /// What to change after a verdict with an advice; nothing is simulated until remedies are predicted.
    pub(super) fn fix(&self, verdict: FindingId, advice: Option<&Advice>) -> Option<Arc<Fix>> {
        let key = (self.predictions.clone().map(ByPtr), verdict, advice.cloned());
        self.fix.get(key, || fix(verdict, advice, self.predictions.as_deref()).map(Arc::new))
    }

    /// The remedies that say most about a verdict, best first; none until they are predicted.
    pub(super) fn quoted(&self, verdict: FindingId) -> Rc<[RemedyText]> {
        let Some(all) = &self.predictions else { return Rc::default() };
        self.quoted.get((ByPtr(Arc::clone(all)), verdict), || quoted(all, verdict).into())
    }
}
