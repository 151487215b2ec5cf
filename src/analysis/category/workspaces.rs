//! Workspaces that cuBLAS keeps for good, one for each stream, where no C++ frame names them.

use super::assign::Scene;
use super::unrecorded::set;
use super::{Category, Reason, Verdict};
use crate::model::StackId;
use foldhash::HashSet;

/// What torch sets aside for cuBLAS: `:4096:2:16:8`, and `:4096:8` on devices of compute capability 9;
/// and for cuBLASLt.
const SIZES_BYTES: [i64; 3] = [(2 * 4096 + 8 * 16) << 10, (8 * 4096) << 10, 1 << 20];

/// A workspace is made together with the result of a product: the allocation before it has the
/// same stack, in the same stream, and only the workspace stays to the end. Later products have none.
/// Without stacks, a gradient of that size would look the same.
pub(super) fn find(scene: &Scene<'_>, verdicts: &mut [Verdict]) {
    let mut known: HashSet<(Option<i64>, i64)> = HashSet::default();
    let mut before: Option<(StackId, i64)> = None;
    for id in scene.ids().skip(scene.timeline.lifetimes.initial_count()) {
        let Some(start) = scene.timeline.lifetimes.start(id).event() else { continue };
        let now = (scene.timeline.events.stack(start), scene.size(id));
        let follows = before
            .replace(now)
            .is_some_and(|(stack, size)| stack != StackId::EMPTY && stack == now.0 && size != now.1);
        let is_work =
            verdicts.get(id.index()).is_some_and(|v| matches!(v.1, Reason::ModuleCall | Reason::Backward));
        let fits = SIZES_BYTES.contains(&now.1) && scene.gone(id).is_none();
        if follows && is_work && fits && known.insert((scene.timeline.events.stream(start), now.1)) {
            set(verdicts, id, (Category::Temporary, Reason::Workspace));
        }
    }
}
