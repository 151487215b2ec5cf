//! Whether a setting of the allocator is enough of a change.

use crate::diagnosis::is_fragmentation;
use crate::remedies::offer::{Change, Offer};
use crate::remedies::scene::Scene;

/// Whether a change is known to do more than get past the request that failed.
///
/// It is asked of settings alone: these change nothing that the program asks for, so what follows that request needs as much as it
/// did before. Only where memory was in pieces, that they are put together is all that was missing.
pub(in crate::remedies) fn outlasts_the_request(scene: &Scene<'_>, combination: &[&Offer<'_>]) -> bool {
    let is_setting = |offer: &&Offer<'_>| matches!(offer.change, Change::Setting(..));
    scene.run.timeline.ooms.is_empty()
        || !combination.iter().all(is_setting)
        || is_fragmentation(scene.workload())
}
