//! Whether what an evaluation is said to keep can be kept by a graph.

use crate::offer::{Offer, Part};
use crate::scene::Scene;
use crate::tried::changed;
use oomscope_analysis::{FrameCode, Phase, is_named_after_evaluation, site_frame};
use oomscope_model::{AllocId, FrameId, StackId};
use oomscope_simulator::Program;

/// Whether all that a change of evaluations frees was made by evaluations, and may belong to a graph.
pub(super) fn is_kept_by_graphs(scene: &Scene<'_>, program: &Program<'_>, offer: &Offer<'_>) -> bool {
    if offer.part != Part::Evaluation {
        return true;
    }
    let roles: Vec<FrameRole> = (0..scene.run.recording.snapshot().frames.len() as u32)
        .map(|index| FrameRole::of(scene, FrameId(index)))
        .collect();
    let of_evaluation = |id: AllocId| {
        let phase = scene.run.attribution.phases.phase_at(scene.run.recording.lifetimes.start(id));
        !matches!(phase, Phase::Forward | Phase::Backward | Phase::Optimizer)
            && may_keep_graph(scene, &roles, scene.run.recording.stack(id))
    };
    program.touched_by(&changed(program, &[offer])).all(of_evaluation)
}

/// Whether code keeps a graph, as far as its frames tell: no model is called under `no_grad`, and the innermost function that is
/// named for what it does does not train. A function that a module calls may do without gradients for itself.
fn may_keep_graph(scene: &Scene<'_>, roles: &[FrameRole], stack: StackId) -> bool {
    let frames = scene.run.recording.snapshot().stacks.frames(stack);
    let role = |frame: &FrameId| roles.get(frame.index()).copied().unwrap_or(FrameRole::Other);
    let from_outermost = || frames.iter().rev().map(role);
    let is_outside = |role: &FrameRole| *role != FrameRole::Module;
    let is_without_gradients = from_outermost().take_while(is_outside).any(|role| role == FrameRole::NoGrad);
    let trains =
        frames.iter().map(role).find(|role| matches!(role, FrameRole::Trains | FrameRole::Evaluates));
    !is_without_gradients && trains != Some(FrameRole::Trains)
}

/// What a frame tells about gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameRole {
    /// It runs a function without gradients.
    NoGrad,
    /// It calls a module.
    Module,
    Trains,
    Evaluates,
    Other,
}

impl FrameRole {
    fn of(scene: &Scene<'_>, frame: FrameId) -> Self {
        let frame = site_frame(scene.run.recording.snapshot(), frame);
        let file = frame.file.replace('\\', "/");
        let code = FrameCode { file: &file, function: &frame.name };
        if code.runs_without_gradients() {
            Self::NoGrad
        } else if code.is_module_class() {
            Self::Module
        } else if code.is_named_after_training() {
            Self::Trains
        } else if is_named_after_evaluation(code.plain_function()) {
            Self::Evaluates
        } else {
            Self::Other
        }
    }
}
