//! A whole model in bf16.

use super::loss::{self, Loss};
use super::number_types::NumberTypes;
use crate::analysis::Category;
use crate::model::AllocId;
use crate::remedies::offer::{Effort, Offer, Part};
use crate::remedies::scene::Scene;
use crate::remedies::training::{Role, Training};
use crate::simulator::{Point, Program, Row};
use foldhash::HashSet;
use std::sync::Arc;

/// `bf16-model`, unless the recording shows numbers of half the width already.
pub(super) fn offer<'a>(
    scene: &'a Scene<'a>,
    training: &Arc<Training>,
    types: &Arc<NumberTypes>,
) -> Option<Offer<'a>> {
    if types.are_half {
        return None;
    }
    let (training, types) = (Arc::clone(training), Arc::clone(types));
    let upcast: Vec<Loss> = loss::find(scene, &training).into_iter().filter(|loss| loss.is_upcast).collect();
    let in_fp32: HashSet<AllocId> =
        upcast.iter().flat_map(|loss| loss.backward.iter().copied().chain([loss.logarithms])).collect();
    let change = move |program: &mut Program<'_>| {
        upcast.iter().for_each(|loss| add_upcast(scene, program, loss));
        let factor_of =
            |id| if is_halved(scene, &training, &types, id) && !in_fp32.contains(&id) { 0.5 } else { 1.0 };
        for id in scene.timeline.ids() {
            program.scale(id, factor_of(id));
        }
        program.scale_added(factor_of);
        program.scale_failed(|_| 0.5);
    };
    let offer =
        Offer::new("bf16-model", "train in bf16 altogether", (Part::Precision, Effort::Results), change);
    Some(
        offer
            .code("model.to(torch.bfloat16)  # before the optimizer is made; float inputs likewise")
            .cost("coarser weights and updates: training may stall without fp32 copies of the weights"),
    )
}

/// A copy of the logits in fp32, from before their logarithms until the loss is computed.
fn add_upcast(scene: &Scene<'_>, program: &mut Program<'_>, loss: &Loss) {
    let lifetimes = &scene.timeline.lifetimes;
    let (Some(start), Some(next)) =
        (lifetimes.start(loss.logarithms).event(), lifetimes.first_after(lifetimes.start(loss.logarithms)))
    else {
        return;
    };
    let Some(end) = (next.0..).map(AllocId).take_while(|id| id.index() < lifetimes.len()).find_map(|id| {
        let is_elsewhere = scene.timeline.stack(id) != scene.timeline.stack(loss.logarithms);
        lifetimes.start(id).event().filter(|_| is_elsewhere)
    }) else {
        return;
    };
    let bytes = program.row(loss.logarithms).bytes;
    program.add(loss.logarithms, Row { bytes, start: Point::before(start, 0), end: Point::after(end, 0) });
}

/// Whether an allocation holds numbers of the model's type.
fn is_halved(scene: &Scene<'_>, training: &Training, types: &NumberTypes, id: AllocId) -> bool {
    let is_of_model = match training.role(id) {
        Role::Batch | Role::EvalBatch | Role::Gradient | Role::FreshGradient | Role::WeightCopy => true,
        Role::Workspace => false,
        Role::Fixed => true,
    };
    is_of_model && scene.category(id) != Category::Input && !types.is_mask(id)
}
