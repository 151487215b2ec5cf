//! What every view asks of a model.

use oomscope_analysis::device_stats;
use oomscope_model::{Moment, Snapshot};

/// Ask, and check that the answers agree with each other.
pub(crate) fn ask(snapshot: &Snapshot) {
    for timeline in &snapshot.timelines {
        let figures = device_stats(snapshot, timeline);
        assert_eq!(figures.events + 1, timeline.moments());
        assert_eq!(timeline.active.len(), timeline.moments());
        let step = timeline.moments() / 50 + 1;
        for at in (0..timeline.moments()).step_by(step) {
            let live = timeline.lifetimes.live_at(Moment(at as u32)).count();
            assert!(live <= timeline.lifetimes.len());
        }
    }
}
