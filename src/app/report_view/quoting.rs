//! The remedies that a report quotes, predicted in the background.

use crate::analysis::Attribution;
use crate::app::work::worker::Task;
use crate::model::Recording;
use crate::remedies::{Predictions, predict_all};
use std::sync::Arc;

/// What the remedies of a report depend on, besides the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuotingRequest {
    /// Bytes of the device's memory, if the user said.
    pub(super) capacity_bytes: Option<i64>,
}

/// Predicts the remedies of one device as `oomscope report` does: in very large recordings only the best.
#[derive(Clone)]
pub(super) struct QuotingTask {
    pub(super) recording: Recording,
    pub(super) attribution: Arc<Attribution>,
}

impl Task for QuotingTask {
    type Request = QuotingRequest;
    type Response = Option<Arc<Predictions>>;

    fn run(&self, request: &QuotingRequest) -> Option<Arc<Predictions>> {
        let (recording, attribution) = (&self.recording, &self.attribution);
        predict_all(recording.snapshot(), recording.timeline(), attribution, request.capacity_bytes)
            .map(Arc::new)
    }
}
