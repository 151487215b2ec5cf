//! A whole model in bf16.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::Precondition;
use crate::scene::Scene;
use foldhash::HashSet;
use oomscope_analysis::Category;
use oomscope_model::AllocId;
use oomscope_program::Dependence;
use oomscope_program::Loss;
use oomscope_simulator::{Point, Program, Row};

/// `bf16-model`, where a recording shows training, or numbers of four bytes.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let workload = scene.workload();
    let types = workload.number_types();
    // What only computes results is mostly in numbers of two bytes already.
    if !(workload.computation.has_backward() || types.are_wide) {
        return None;
    }
    let is_inferred = !types.are_wide;
    let fact = if types.are_wide { "numbers have four bytes" } else { "nothing shows numbers of two bytes" };
    let precondition = Precondition::of(scene, fact, &scene.run.of_category(Category::Parameter));
    let upcast: Vec<&Loss> = workload.losses().iter().filter(|loss| loss.is_upcast).collect();
    let in_fp32: HashSet<AllocId> =
        upcast.iter().flat_map(|loss| loss.backward.iter().copied().chain([loss.logarithms])).collect();
    let (copies, whole) = upcasts(scene);
    let in_fp32: HashSet<AllocId> = in_fp32.into_iter().chain(whole).collect();
    let change = move |program: &mut Program<'_>| {
        for &loss in &upcast {
            add_upcast(scene, program, loss);
        }
        let factor_of = |id| if is_halved(scene, id) && !in_fp32.contains(&id) { 0.5 } else { 1.0 };
        for id in scene.run.recording.ids() {
            program.scale(id, factor_of(id));
        }
        program.scale_added(factor_of);
        for &(like, row) in &copies {
            // What other remedies give back earlier has no copy after that, and what they leave out has none at all.
            let now = program.row(like);
            let end = if now.end < recorded_end(scene, like) { row.end.min(now.end) } else { row.end };
            if now.bytes != 0 {
                program.add(like, Row { end, ..row });
            }
        }
        program.scale_failed(|_| 0.5);
    };
    let (title, kind) = ("compute in bf16 altogether", (Part::Precision, Effort::Results));
    let offer = Offer::new("bf16-model", title, kind, precondition, change);
    Some(
        if workload.trains() {
            offer
                .code("model.to(torch.bfloat16)  # before the optimizer is made; float inputs likewise")
                .cost("coarser weights and updates: training may stall without fp32 copies of the weights")
        } else {
            offer
                .code("model.to(torch.bfloat16)  # or from_pretrained(..., torch_dtype=torch.bfloat16); float inputs likewise")
                .cost("coarser weights and activations, which results of most models hardly show")
        }
        .inferred(is_inferred),
    )
}

/// Copies in fp32 that code of transformers makes in a model of another type: of what norms normalize, and of softmax.
fn upcasts(scene: &Scene<'_>) -> (Vec<(AllocId, Row)>, Vec<AllocId>) {
    let of_transformers = scene.run.stacks_with(|code| code.is_of_transformers_model());
    let softmax = scene.run.stacks_with(|code| code.has_fp32_softmax());
    let lifetimes = &scene.run.recording.lifetimes;
    let end = |id: AllocId| lifetimes.end(id).map_or(Point::NEVER, Point::of);
    let mut added = Vec::new();
    for span in scene.computation().spans.iter() {
        let operations = scene.computation().operations(&span.forward());
        let norms = operations.chunk_by(|a, b| a.is_written_norm && b.is_written_norm && a.is_with(b));
        for norm in norms.filter(|norm| norm[0].is_written_norm) {
            let first = norm[0].main(&scene.run);
            let is_known = of_transformers.has(scene.run.recording.stack(first));
            let kept = norm.iter().flat_map(|operation| &operation.ids).map(|&id| end(id)).max();
            if let (Some(start), Some(end)) = (lifetimes.start(first).event().filter(|_| is_known), kept) {
                let bytes = scene.run.bytes(first);
                added.push((first, Row { bytes, start: Point::before(start, 0), end }));
            }
        }
    }
    let mut whole = Vec::new();
    for attention in scene.workload().attention() {
        let is_whole = |id: &AllocId| {
            scene.run.bytes(*id) == attention.bytes && softmax.has(scene.run.recording.stack(*id))
        };
        let Some(result) = attention.scores.iter().copied().filter(is_whole).max_by_key(|&id| end(id)) else {
            continue;
        };
        whole.push(result);
        if let Some(start) = lifetimes.start(result).event() {
            let bytes = scene.run.bytes(result) / 2;
            added.push((result, Row { bytes, start: Point::after(start, 0), end: end(result) }));
        }
    }
    (added, whole)
}

/// A copy of the logits in fp32, from before their logarithms until the loss is computed.
fn add_upcast(scene: &Scene<'_>, program: &mut Program<'_>, loss: &Loss) {
    let lifetimes = &scene.run.recording.lifetimes;
    let (Some(start), Some(next)) =
        (lifetimes.start(loss.logarithms).event(), lifetimes.first_after(lifetimes.start(loss.logarithms)))
    else {
        return;
    };
    let Some(end) = (next.0..).map(AllocId).take_while(|id| id.index() < lifetimes.len()).find_map(|id| {
        let is_elsewhere = scene.run.recording.stack(id) != scene.run.recording.stack(loss.logarithms);
        lifetimes.start(id).event().filter(|_| is_elsewhere)
    }) else {
        return;
    };
    let bytes = program.row(loss.logarithms).bytes;
    program.add(loss.logarithms, Row { bytes, start: Point::before(start, 0), end: Point::after(end, 0) });
}

fn recorded_end(scene: &Scene<'_>, id: AllocId) -> Point {
    scene.run.recording.lifetimes.end(id).map_or(Point::NEVER, Point::of)
}

/// Whether an allocation holds numbers of the model's type.
fn is_halved(scene: &Scene<'_>, id: AllocId) -> bool {
    scene.computation().dependence(id) != Dependence::Workspace
        && scene.run.category(id) != Category::Input
        && !scene.workload().number_types().is_other(id)
}
