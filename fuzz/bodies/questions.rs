//! What every view asks of a model.

use oomscope_analysis::device_stats;
use oomscope_model::{Moment, Recording, Snapshot};
use std::sync::Arc;

/// Ask, and check that the answers agree with each other.
pub(crate) fn ask(snapshot: &Arc<Snapshot>) {
    for recording in Recording::all(snapshot) {
        let figures = device_stats(&recording);
        assert_eq!(figures.events + 1, recording.moments());
        assert_eq!(recording.active.len(), recording.moments());
        let step = recording.moments() / 50 + 1;
        for at in (0..recording.moments()).step_by(step) {
            let live = recording.lifetimes.live_at(Moment(at as u32)).count();
            assert!(live <= recording.lifetimes.len());
        }
    }
}
