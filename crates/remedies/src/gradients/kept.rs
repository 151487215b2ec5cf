//! Gradients that are there after a step.

use crate::scene::Scene;
use oomscope_analysis::{Category, RuleId};
use oomscope_model::AllocId;
use oomscope_program::TrainingStep;
use oomscope_simulator::{Point, Program};

/// A gradient that is there after a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) id: AllocId,
    /// The step after which it is freed.
    pub(super) step: usize,
    freed: Point,
}

impl Kept {
    pub(super) fn free(&self, program: &mut Program<'_>) {
        program.free_at(self.id, self.freed);
    }
}

/// The gradients that are there when the program goes on after a step, each with the first such step.
pub(super) fn kept(scene: &Scene<'_>, steps: &[TrainingStep]) -> Vec<Kept> {
    let lifetimes = &scene.run.recording.lifetimes;
    let mut out: Vec<Kept> = Vec::new();
    // Buckets stay, whatever becomes of the gradients that are parts of them.
    let is_bucket = |&id: &AllocId| scene.run.attribution.categories.rule(id) == RuleId::BucketOfGradients;
    for id in scene.run.of_category(Category::Gradient).into_iter().filter(|id| !is_bucket(id)) {
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let after = steps.partition_point(|step| step.over.is_none_or(|over| over.0 < start.0));
        // Those that are freed before the program goes on are freed in time.
        let Some((step, over)) = steps.get(after).and_then(|step| Some((after, step.over?))) else {
            continue;
        };
        if end.is_none_or(|end| over.0 + 1 < end.0) {
            out.push(Kept { id, step, freed: Point::before(over, 0) });
        }
    }
    out
}
