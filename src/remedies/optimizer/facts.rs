//! The state and the temporaries of a program's optimizers.

use crate::analysis::{Category, Phase};
use crate::model::AllocId;
use crate::remedies::scene::{Scene, StackSet};

/// What the optimizers of a program allocate.
#[derive(Debug)]
pub(super) struct OptimizerFacts {
    /// State, which is kept from step to step.
    pub(super) state: Vec<AllocId>,
    /// What is needed only within a step.
    pub(super) temporaries: Vec<AllocId>,
}

impl OptimizerFacts {
    /// Look at a recording.
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let in_step = in_optimizer(scene);
        let (mut state, mut temporaries) = (Vec::new(), Vec::new());
        for id in scene.timeline.ids() {
            match scene.category(id) {
                Category::OptimizerState => state.push(id),
                Category::Temporary if is_in_step(scene, &in_step, id) => temporaries.push(id),
                _ => {}
            }
        }
        Self { state, temporaries }
    }
}

/// Whether a temporary belongs to an optimizer's step: its stack says so or, where nothing has stacks, its phase.
fn is_in_step(scene: &Scene<'_>, in_step: &StackSet, id: AllocId) -> bool {
    if scene.snapshot.frames.is_empty() {
        return scene.attribution.phases.phase_at(scene.timeline.lifetimes.start(id)) == Phase::Optimizer;
    }
    in_step.has(scene.timeline.stack(id))
}

/// The stacks in a step of an optimizer: one of torch, or one that is derived from its base class, whose wrapper shows.
fn in_optimizer(scene: &Scene<'_>) -> StackSet {
    scene.stacks_with(|file, function| file.contains("torch/optim/") && function != "zero_grad")
}
