//! Whether a change is enough of one.

use crate::diagnosis::is_fragmentation;
use crate::remedies::offer::Combination;
use crate::remedies::outcome::saves;
use crate::remedies::tried::Tried;
use crate::remedies::validator::Recorded;

/// Whether a change is known to do more than get past the request that failed.
///
/// What follows that request needs as much as it did before, unless the program asks for less: settings change nothing that it
/// asks for, and some remedies hardly do. Only where memory was in pieces, that they are put together is all that was missing.
pub(in crate::remedies) fn outlasts_the_request(
    recorded: &Recorded<'_, '_>,
    (_, tried): &(Combination<'_, '_>, Tried),
) -> bool {
    let scene = recorded.scene;
    scene.run.timeline.ooms.is_empty()
        || saves(recorded.baseline.figures.peak_requested, tried.figures.peak_requested)
        || is_fragmentation(scene.workload())
}
