//! What a step that failed would have gone on to need, as earlier iterations show.

use crate::diagnosis::is_fragmentation;
use crate::model::{Action, EventIx, Moment, StackId};
use crate::remedies::offer::{Change, Offer};
use crate::remedies::scene::Scene;
use crate::remedies::tried::Tried;
use std::ops::Range;

/// Whether a change leaves enough for the rest of the step in which a request failed.
///
/// It is asked of settings alone: these change nothing that the program asks for, so what follows needs as much as it did
/// before. Where memory was only in pieces, that they are put together is all that was missing.
pub(in crate::remedies) fn leaves_enough(
    scene: &Scene<'_>,
    combination: &[&Offer<'_>],
    tried: &Tried,
) -> bool {
    let is_setting = |offer: &&Offer<'_>| matches!(offer.change, Change::Setting(..));
    if scene.timeline.ooms.is_empty() || !combination.iter().all(is_setting) {
        return true;
    }
    let needed = rest_of_step_bytes(scene);
    needed.zip(tried.margin).is_some_and(|(needed, margin)| needed <= margin)
        || is_fragmentation(scene.snapshot, scene.timeline, scene.attribution)
}

/// The most bytes that earlier iterations went on to need beyond those in use when they had made the request that failed; `None`
/// if none shows that.
fn rest_of_step_bytes(scene: &Scene<'_>) -> Option<i64> {
    let failed = scene.timeline.ooms.first()?.event;
    let iterations = &scene.attribution.phases.iterations;
    let current = iterations.index_at(Moment::after(failed))?;
    let start = |index: usize| iterations.list.get(index).map(|iteration| iteration.start.0);
    let before = requests_of(scene, start(current)?..failed.0, scene.timeline.events.stack(failed)).count();
    let rest = |index: usize| {
        let events = start(index)?..start(index + 1)?;
        let made = requests_of(scene, events.clone(), scene.timeline.events.stack(failed)).nth(before)?;
        let made = Moment::after(made);
        let moments = made.index()..events.end as usize + 1;
        let (_, most) = scene.timeline.active.peak_in(moments)?;
        Some(most.saturating_sub(scene.timeline.active.at(made)))
    };
    (0..current).filter_map(rest).max()
}

/// The requests of a stack that were met among some events. Without stacks, requests cannot be told apart.
fn requests_of<'s>(
    scene: &'s Scene<'_>,
    events: Range<u32>,
    stack: StackId,
) -> impl Iterator<Item = EventIx> + 's {
    let all = &scene.timeline.events;
    events
        .map(EventIx)
        .filter(move |&event| all.action(event) == Action::Alloc && all.stack(event) == stack)
        .filter(move |_| stack != StackId::EMPTY)
}
