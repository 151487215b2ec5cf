//! `no-copy`: a second copy of the model, such as a moving average, a reference or a teacher, that is not there.

use super::offer::{Effort, Offer, Part};
use super::precondition::{Precondition, most};
use super::scene::Scene;
use oomscope_analysis::{At, Phase};
use oomscope_model::{AllocId, Moment};
use oomscope_program::share::TRACE;
use oomscope_program::{CopyKind, training_steps};

/// `no-copy`, where a model is in memory twice at the last OOM or, without one, at the peak.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let moment = At::oom_or_peak(scene.run.recording).moment(scene.run.recording).ok();
    let Some(copy) = moment.and_then(|moment| scene.workload().copy(moment, TRACE)) else {
        return Vec::new();
    };
    let (copy, kind): (Vec<AllocId>, CopyKind) = (copy.blocks, copy.kind);
    let is_inferred = scene.run.are_inferred(&copy);
    let calls = calls(scene);
    let again = match kind {
        CopyKind::Named(_) => "a model of the same class, paths and shapes is not trained",
        _ => "the sizes of all parameters are there again",
    };
    let fact = format!("{again}, in {}", most(scene, &copy));
    let precondition = Precondition::of(scene, fact, &copy);
    let (title, change) = ("do without the second copy of the model", (Part::Copy, Effort::Lines));
    let offer = Offer::new("no-copy", title, change, precondition, move |program| {
        program.leave_out_all(&copy);
        program.leave_out_all(&calls);
    });
    let offer = offer
        .code("ema = {k: v.cpu() for k, v in model.state_dict().items()}  # on the host, or no copy at all")
        .cost("the copy's results, or transfers: on the host, it is updated or used more slowly")
        .note("Calls of a model without gradients between a forward and its backward are taken to be those of the copy.");
    vec![offer.inferred(is_inferred)]
}

/// What calls of the copy allocate: calls that train nothing, before the backward of a pass.
fn calls(scene: &Scene<'_>) -> Vec<AllocId> {
    let (lifetimes, phases) = (&scene.run.recording.lifetimes, &scene.run.attribution.phases);
    let steps = training_steps(&scene.run);
    let before = steps.iter().map(|step| (Moment(step.events.start), Moment(step.first_backward.start)));
    let made = before.flat_map(|(from, until)| lifetimes.started_between(from, until));
    made.filter(|&id| phases.phase_at(lifetimes.start(id)) == Phase::Eval).collect()
}
