//! Gradients that are there after a step.

use crate::analysis::{Category, RuleId};
use crate::model::AllocId;
use crate::remedies::passes::Pass;
use crate::remedies::scene::Scene;
use crate::simulator::{Point, Program};

/// A gradient that is there after a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) id: AllocId,
    /// The pass after which it is freed.
    pub(super) pass: usize,
    freed: Point,
}

impl Kept {
    pub(super) fn free(&self, program: &mut Program<'_>) {
        program.free_at(self.id, self.freed);
    }
}

/// The gradients that are there when the program goes on after a step, each with the first such pass.
pub(super) fn kept(scene: &Scene<'_>, passes: &[Pass]) -> Vec<Kept> {
    let lifetimes = &scene.timeline.lifetimes;
    let mut out: Vec<Kept> = Vec::new();
    // Buckets stay, whatever becomes of the gradients that are parts of them.
    let is_bucket = |&id: &AllocId| scene.attribution.categories.rule(id) == RuleId::BucketOfGradients;
    for id in scene.of_category(Category::Gradient).into_iter().filter(|id| !is_bucket(id)) {
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let after = passes.partition_point(|pass| pass.over.is_none_or(|over| over.0 < start.0));
        // Those that are freed before the program goes on are freed in time.
        let Some((pass, over)) = passes.get(after).and_then(|pass| Some((after, pass.over?))) else {
            continue;
        };
        if end.is_none_or(|end| over.0 + 1 < end.0) {
            out.push(Kept { id, pass, freed: Point::before(over, 0) });
        }
    }
    out
}
