//! Whether a change is enough of one.

use super::Recorded;
use crate::outcome::saves;
use crate::tried::Tried;
use oomscope_diagnosis::is_fragmentation;
use std::cell::LazyCell;

/// Which changes are known to do more than get past the request that failed.
///
/// What follows that request needs as much as it did before, unless the program asks for less: settings change nothing that it
/// asks for, and some remedies hardly do. Only where memory was in pieces, that they are put together is all that was missing.
pub(crate) struct Outlasting<'s, 'r> {
    recorded: Recorded<'s, 'r>,
    /// Asked once, and only where something hardly saves: it takes a diagnosis.
    is_in_pieces: LazyCell<bool, Box<dyn FnOnce() -> bool + Send + 's>>,
}

impl<'s, 'r> Outlasting<'s, 'r> {
    pub(crate) fn of(recorded: Recorded<'s, 'r>) -> Self {
        let scene = recorded.scene;
        let ask: Box<dyn FnOnce() -> bool + Send + 's> = Box::new(move || is_fragmentation(scene.workload()));
        Self { recorded, is_in_pieces: LazyCell::new(ask) }
    }

    pub(crate) fn has(&self, tried: &Tried) -> bool {
        let Recorded { scene, baseline, .. } = self.recorded;
        scene.run.recording.ooms.is_empty()
            || saves(baseline.figures.peak_requested, tried.figures.peak_requested)
            || *self.is_in_pieces
    }
}
