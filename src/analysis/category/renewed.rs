//! State that an optimizer does not update in place, but makes anew in each step.

use super::assign::Scene;
use super::verdicts::Verdicts;
use super::{Category, Reason};
use crate::analysis::flow::Act;
use crate::model::EventIx;
use foldhash::HashSet;

/// What each step leaves.
pub(super) struct Renewed {
    /// Start and end of each step.
    steps: Vec<(u32, u32)>,
    /// The number of a step, and a size of state that it left.
    sizes: HashSet<(usize, i64)>,
}

impl Renewed {
    pub(super) fn of(scene: &Scene<'_>, verdicts: &Verdicts) -> Self {
        let mut out = Self { steps: steps(scene), sizes: HashSet::default() };
        for id in scene.ids().skip(scene.timeline.lifetimes.initial_count()) {
            // What is set up takes the place of nothing.
            let (category, reason) = verdicts.get(id);
            let is_made_anew = category == Category::OptimizerState && reason != Reason::StateSetup;
            let start = scene.timeline.lifetimes.start(id).event().filter(|_| is_made_anew);
            if let Some(step) = start.and_then(|start| out.step_at(start)) {
                out.sizes.insert((step, scene.size(id)));
            }
        }
        out
    }

    /// Whether the step that an event lies in leaves state of a size.
    pub(super) fn has(&self, event: EventIx, size: i64) -> bool {
        self.step_at(event).is_some_and(|step| self.sizes.contains(&(step, size)))
    }

    fn step_at(&self, event: EventIx) -> Option<usize> {
        let at = self.steps.partition_point(|step| step.0 <= event.0).checked_sub(1)?;
        self.steps.get(at).filter(|step| event.0 < step.1).map(|_| at)
    }
}

/// The steps; what libraries make within does not divide them.
fn steps(scene: &Scene<'_>) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    let mut is_open = false;
    for run in scene.flow.acts.runs.iter().filter(|run| run.act != Act::Aside) {
        match out.last_mut() {
            Some(last) if is_open && run.act == Act::Step => last.1 = run.end,
            _ if run.act == Act::Step => out.push((run.start, run.end)),
            _ => {}
        }
        is_open = run.act == Act::Step;
    }
    out
}
