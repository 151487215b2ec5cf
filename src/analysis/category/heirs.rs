//! Tensors that take the place of parameters: `p.data = p.data * m + q.data * (1 - m)`.

use super::assign::Scene;
use super::unrecorded::set;
use super::{Category, Reason, Verdict};
use crate::analysis::flow::Part;
use crate::model::{AllocId, Moment};

/// What takes the place of a parameter was made so few events before that was given back.
const WINDOW_EVENTS: u32 = 8;

/// Where a parameter is given back just after the program's own code has made a block of its size
/// that stays, that block is the parameter from then on; and so is what takes its place.
pub(super) fn find(scene: &Scene<'_>, verdicts: &mut [Verdict]) {
    let is_parameter =
        |id: &AllocId| verdicts.get(id.index()).is_some_and(|verdict| verdict.0 == Category::Parameter);
    let mut open: Vec<AllocId> = scene.ids().filter(is_parameter).collect();
    while let Some(id) = open.pop() {
        if let Some(heir) = heir(scene, verdicts, id) {
            set(verdicts, heir, (Category::Parameter, Reason::ReplacesParameter));
            open.push(heir);
        }
    }
}

/// The block that takes the place of another.
fn heir(scene: &Scene<'_>, verdicts: &[Verdict], id: AllocId) -> Option<AllocId> {
    let lifetimes = &scene.timeline.lifetimes;
    let (gone, size) = (scene.gone(id)?, scene.size(id));
    let first = lifetimes.first_after(Moment(gone.0.saturating_sub(WINDOW_EVENTS)))?;
    (first.0..lifetimes.len() as u32)
        .map(AllocId)
        .take_while(|&other| lifetimes.start(other).event().is_some_and(|start| start.0 < gone.0))
        .filter(|&other| id < other && scene.size(other) == size && is_open(verdicts, other))
        .filter(|&other| scene.places.get(scene.stack(other)).part == Part::Main)
        .filter(|&other| scene.gone(other).is_none_or(|end| gone.0.saturating_add(WINDOW_EVENTS) < end.0))
        .last()
}

fn is_open(verdicts: &[Verdict], id: AllocId) -> bool {
    verdicts.get(id.index()).is_some_and(|&(category, reason)| {
        matches!(category, Category::Input | Category::Other | Category::Temporary | Category::Activation)
            && !matches!(reason, Reason::Rule | Reason::Recorded | Reason::Annotated)
    })
}
