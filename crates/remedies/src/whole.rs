//! All remedies of one device, for callers that want no details.

use super::outcome::Predictions;
use super::predict::predict;
use super::scene::Scene;
use super::trials::Progress;
use super::wanted::Wish;
use oomscope_analysis::Attribution;
use oomscope_model::{Bytes, DeviceId, Recording};
use oomscope_program::{Run, Workload};
use oomscope_simulator::Subject;

/// Predict all remedies that apply to a device's recording, on the recorded device or on one with a capacity in bytes. `None`
/// where there is no trace of a GPU's allocator to change.
pub fn predict_all(
    recording: &Recording,
    attribution: &Attribution,
    capacity_bytes: Option<Bytes>,
) -> Option<Predictions> {
    predict_all_while(&Workload::of(Run { recording, attribution }), capacity_bytes, &|_, _| true)
}

/// As [`predict_all`], where what the program does is known already, and told how far it is; remedies that are still to come when `progress` returns false are left out.
pub fn predict_all_while(
    workload: &Workload<'_>,
    capacity_bytes: Option<Bytes>,
    progress: Progress<'_>,
) -> Option<Predictions> {
    let recording = workload.computation.run.recording;
    if recording.device == DeviceId::HOST || recording.events.is_empty() {
        return None;
    }
    let subject = Subject::new(recording);
    Some(Scene::with_whole_step(workload, &subject, capacity_bytes, |scene| {
        predict(scene, &Wish::default(), progress)
    }))
}
