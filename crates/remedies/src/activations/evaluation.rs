//! Evaluation that keeps no graph.

use super::without_graph::without_graph;
use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::scene::Scene;
use oomscope_model::{AllocId, Moment};
use oomscope_simulator::{Point, Program};
use std::ops::Range;

/// `eval-no-grad`, where an evaluation keeps a graph.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let calls = scene.computation().spans.calls();
    let with_graph = calls.filter(|events| keeps_graph(scene, events));
    let ends: Vec<(AllocId, Point)> = with_graph.flat_map(|events| without_graph(scene, events)).collect();
    if ends.is_empty() {
        return None;
    }
    let ids: Vec<AllocId> = ends.iter().map(|&(id, _)| id).collect();
    let fact = format!("an evaluation keeps a graph, with what it makes in {}", most(scene, &ids));
    let precondition = Precondition::of_call(scene, fact, &ids);
    let change = move |program: &mut Program<'_>| {
        for &(id, end) in &ends {
            program.free_at(id, end);
        }
    };
    let (title, kind) = ("keep no graph in evaluation", (Part::Evaluation, Effort::Lines));
    let offer = Offer::new("eval-no-grad", title, kind, precondition, change);
    let trains = scene.workload().trains();
    let code = if trains {
        "with torch.no_grad():  # or torch.inference_mode()\n    evaluate(model)"
    } else {
        "with torch.inference_mode():\n    y = model(x)"
    };
    Some(offer.code(code).cost("nothing, unless evaluation needs gradients"))
}

/// A graph keeps every second value or so. An evaluation has one if at least one part in this many of the allocations that
/// it made up to its peak are there then, though no function holds them.
const GRAPH_PART: usize = 4;

/// Whether an evaluation keeps a graph.
pub(super) fn keeps_graph(scene: &Scene<'_>, events: &Range<u32>) -> bool {
    let range = events.start as usize + 1..events.end as usize + 1;
    let Some((peak, _)) = scene.run.recording.active.peak_in(range) else { return false };
    let lifetimes = &scene.run.recording.lifetimes;
    let is_value = |id: &AllocId| scene.computation().depends_on_batch(*id);
    let made = lifetimes.started_between(Moment(events.start), peak).filter(is_value).count();
    let is_there =
        |id: AllocId| lifetimes.start(id) <= peak && lifetimes.end(id).is_none_or(|end| peak < end);
    let ends = without_graph(scene, events).into_iter();
    let kept = ends.filter(|&(id, end)| is_there(id) && end <= Point::of(peak)).count();
    made < kept * GRAPH_PART
}
