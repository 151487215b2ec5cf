//! Predictions, in the background.

use crate::work::watch::Watch;
use crate::work::worker::Task;
use oomscope_analysis::Attribution;
use oomscope_model::{Bytes, Recording};
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Predictions, Progress, Scene, Wish, predict};
use oomscope_simulator::{Fidelity, Subject};
use std::sync::{Arc, OnceLock};

/// What predictions depend on, besides the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RemediesRequest {
    /// Bytes that PyTorch may reserve; as recorded if it is not given.
    pub(super) capacity_bytes: Option<u64>,
}

/// The predictions for a request.
#[derive(Debug)]
pub(super) struct RemediesResponse {
    pub(super) predictions: Predictions,
    pub(super) fidelity: Fidelity,
}

/// Tries the remedies for one device of a file.
#[derive(Clone)]
pub(super) struct PredictTask {
    recording: Recording,
    attribution: Arc<Attribution>,
    subject: Arc<OnceLock<Subject>>,
}

impl PredictTask {
    pub(super) fn new(recording: Recording, attribution: Arc<Attribution>) -> Self {
        Self { recording, attribution, subject: Arc::default() }
    }
}

impl Task for PredictTask {
    type Request = RemediesRequest;
    type Response = Arc<RemediesResponse>;

    fn run(&self, request: &RemediesRequest) -> Arc<RemediesResponse> {
        self.predicted(request, &|_, _| true)
    }

    fn run_watched(&self, request: &RemediesRequest, watch: &Watch) -> Option<Arc<RemediesResponse>> {
        let predicted = self.predicted(request, &|done, total| {
            watch.progress(done, total);
            watch.is_wanted()
        });
        watch.is_wanted().then_some(predicted)
    }
}

impl PredictTask {
    fn predicted(&self, request: &RemediesRequest, progress: Progress<'_>) -> Arc<RemediesResponse> {
        let subject = self.subject.get_or_init(|| Subject::new(&self.recording));
        let capacity = request.capacity_bytes.map(Bytes::of_size);
        let run = Run { recording: &self.recording, attribution: &self.attribution };
        let workload = Workload::of(run);
        let predictions = Scene::with_whole_step(&workload, subject, capacity, |scene| {
            predict(scene, &Wish::default(), progress)
        });
        Arc::new(RemediesResponse { predictions, fidelity: subject.fidelity() })
    }
}
