//! A loss over many classes, computed for some of the positions at a time.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::price::Price;
use crate::scene::Scene;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, SaturatingSum as _};
use oomscope_program::{Dependence, Loss};
use oomscope_simulator::{Point, Program, Row};
use std::cmp::Reverse;

/// The number of chunks in the code that is shown: more save little, as the rest of the pass stays.
const CHUNKS: f64 = 8.0;

/// `chunk-loss`, where logits are larger than what else a pass keeps.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let losses = scene.workload().losses();
    if losses.is_empty() {
        return None;
    }
    let change = move |program: &mut Program<'_>| {
        for loss in losses {
            in_chunks(scene, program, loss);
        }
    };
    let logits: Vec<AllocId> = losses.iter().flat_map(|loss| loss.forward.iter().copied()).collect();
    let fact =
        format!("logits and their logarithms are the largest values of a pass: {}", most(scene, &logits));
    let (title, kind) = ("compute the loss in chunks", (Part::Loss, Effort::Time));
    let offer = Offer::new("chunk-loss", title, kind, Precondition::of(scene, fact, &logits), change);
    Some(
        offer
            .code(
                "loss = sum(torch.utils.checkpoint.checkpoint(chunk_loss, h, t, use_reentrant=False)\n           \
                 for h, t in zip(hidden.chunk(8), target.chunk(8))) / target.numel()\n\
                 # chunk_loss = lambda h, t: F.cross_entropy(head(h), t, reduction='sum')",
            )
            .cost("the same results; the logits are computed twice")
            .price(Price::of_work(more_work(scene, losses))),
    )
}

/// The work of making the logits again, as a share of a step.
fn more_work(scene: &Scene<'_>, losses: &[Loss]) -> f64 {
    let logits = losses.iter().flat_map(|loss| loss.forward.iter().map(|id| id.0..id.0 + 1));
    let work = scene.workload().work();
    work.share(logits).unwrap_or_else(|| work.of_forward(largest_weight_share(scene)))
}

/// About the share that the last layer has of the work of a forward, going by sizes of weights: that of the largest one of all. A second one of its size is taken
/// for the table of which rows are looked up, which is no work.
fn largest_weight_share(scene: &Scene<'_>) -> f64 {
    let mut weights: Vec<u64> =
        scene.run.of_category(Category::Parameter).iter().map(|&id| scene.run.bytes(id)).collect();
    weights.sort_unstable_by_key(|&bytes| Reverse(bytes));
    let Some(&largest) = weights.first() else { return 1.0 };
    let table = weights.get(1).filter(|&&second| second == largest).copied().unwrap_or(0);
    let all = weights.iter().copied().saturating_sum().saturating_sub(table);
    largest as f64 / all.max(1) as f64
}

/// One chunk of everything at a time, once in the forward and once more in the backward; the weight of the last layer gets a
/// gradient from each.
fn in_chunks(scene: &Scene<'_>, program: &mut Program<'_>, loss: &Loss) {
    for &id in loss.forward.iter().chain(&loss.backward) {
        program.scale(id, 1.0 / CHUNKS);
    }
    let over =
        scene.run.recording.lifetimes.start(loss.logarithms).event().map(|event| Point::after(event, 0));
    // Shifted copies of the logits are not needed where the hidden states are shifted instead.
    let copies = loss.forward.iter().skip(1).rev().skip(1);
    copies.for_each(|&id| program.leave_out(id));
    for &id in &loss.forward {
        let row = program.row(id);
        if let Some(&first) = loss.backward.first() {
            // The chunk is there again as long as its gradients are computed.
            let end = scene.run.recording.lifetimes.end(loss.logarithms).map_or(Point::NEVER, Point::of);
            program.add(id, Row { start: program.row(first).start, end, ..row });
        }
        program.free_at(id, over.unwrap_or(row.end));
    }
    let Some(&last) = loss.backward.last() else { return };
    let lifetimes = &scene.run.recording.lifetimes;
    let Some(end) = lifetimes.end(last) else { return };
    let made = lifetimes.started_between(lifetimes.start(last), end);
    for id in made.filter(|&id| scene.computation().dependence(id) == Dependence::Gradient) {
        if let Some(start) = lifetimes.start(id).event() {
            let end = scene.computation().frees.first_older_after(start, id).map_or(Point::NEVER, Point::at);
            program.add(id, Row { bytes: program.row(id).bytes, start: Point::at(start), end });
        }
    }
}
