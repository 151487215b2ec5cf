//! Smaller batches with as many more passes before each step.

use crate::model::{AllocId, EventIx};
use crate::remedies::offer::{Effort, Offer, Part};
use crate::remedies::scene::Scene;
use crate::remedies::training::{Role, Training};
use crate::simulator::{Point, Program, Row};
use std::sync::Arc;

/// `half-batch` and `quarter-batch`, where a recording shows training.
pub(super) fn offers<'a>(scene: &'a Scene<'a>, training: &Arc<Training>) -> Vec<Offer<'a>> {
    if training.spans.passes().next().is_none() {
        return Vec::new();
    }
    [("half-batch", "half", 2), ("quarter-batch", "a quarter of", 4)]
        .into_iter()
        .map(|(id, share, parts)| {
            let training = Arc::clone(training);
            let title = format!("compute {share} the batch at a time, {parts} times before each step");
            let change = move |program: &mut Program<'_>| micro_batches(scene, &training, program, parts);
            Offer::new(id, title, (Part::Batch, Effort::Time), change)
                .code(code(parts))
                .cost("the same step and results, but for batch norm; smaller kernels may run slower")
                .error(0.02)
        })
        .collect()
}

fn code(parts: u32) -> String {
    format!(
        "(loss_fn(model(x), y) / {parts}).backward()  # batch_size // {parts}, a step after every {parts}"
    )
}

/// Each pass becomes several with a part of the batch. All but the first run while the gradients of those before are there,
/// into which they add theirs; so the last of them stands for all.
fn micro_batches(scene: &Scene<'_>, training: &Training, program: &mut Program<'_>, parts: u32) {
    let share = 1.0 / f64::from(parts);
    scale_batch(training, program, share);
    for pass in training.spans.passes() {
        let range = crate::model::Moment(pass.events.start)..crate::model::Moment(pass.events.end);
        for id in scene.timeline.lifetimes.started_between(range.start, range.end) {
            if training.role(id) == Role::Gradient {
                accumulate(scene, training, program, id, EventIx(pass.events.start));
            }
        }
    }
}

/// Multiply what depends on the batch of a pass.
pub(super) fn scale_batch(training: &Training, program: &mut Program<'_>, factor: f64) {
    let factor_of = |id| if training.role(id) == Role::Batch { factor } else { 1.0 };
    for id in program.timeline().ids() {
        program.scale(id, factor_of(id));
    }
    program.scale_added(factor_of);
    program.scale_failed(|event| if training.pass_at(event).is_some() { factor } else { 1.0 });
}

/// Have a gradient from the start of its pass on, and add a fresh one to it where the backward makes it.
fn accumulate(
    scene: &Scene<'_>,
    training: &Training,
    program: &mut Program<'_>,
    id: AllocId,
    start: EventIx,
) {
    let Some(made) = scene.timeline.lifetimes.start(id).event() else { return };
    let bytes = program.row(id).bytes;
    program.make_at(id, Point::before(start, 0));
    let end = training.frees.first_older_after(made, id).map_or(Point::NEVER, Point::at);
    program.add(id, Row { bytes, start: Point::at(made), end });
}
