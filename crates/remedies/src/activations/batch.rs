//! Smaller batches with as many more passes before each step.

use super::batch_parts::Parts;
use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::price::Price;
use crate::scene::Scene;
use oomscope_analysis::{Category, EventSet};
use oomscope_model::{AllocId, Bytes, EventIx, Moment, StackId};
use oomscope_program::{BatchSize, Dependence, Span, is_loaded_once};
use oomscope_simulator::{Point, Program, Row};
use std::collections::BTreeSet;
use std::ops::Range;

/// `half-batch`, `quarter-batch`, `eighth-batch` and, down to single samples, the degrees of `micro-batch`: where a recording shows
/// training, or calls of a model and nothing else.
pub(crate) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let of_batch: Vec<AllocId> = scene.run.recording.ids().filter(|&id| is_of_batch(scene, id)).collect();
    if of_batch.is_empty() {
        return Vec::new();
    }
    let fact = format!("calls of the model make {} of their batch", most(scene, &of_batch));
    let precondition = Precondition::of_call(scene, fact, &of_batch);
    let batch = BatchSize::of(&scene.run);
    // The nodes of one graph cannot be computed apart.
    let is_whole = is_loaded_once(scene.computation());
    let offer = |id: &str, parts: Parts| {
        let condition = condition(batch, is_whole, parts);
        let change = move |program: &mut Program<'_>| micro_batches(scene, program, parts);
        Offer::new(
            id,
            title(scene, parts, &condition),
            (Part::Batch, Effort::Time),
            precondition.clone(),
            change,
        )
        .conditional(!condition.is_empty())
        .degree(parts.count)
        .price(Price { passes: parts.count, ..Price::default() })
        .code(code(scene, parts))
        .cost("the same results, but for batch norm; smaller kernels may run slower")
    };
    let of = |id, count| Parts::of(batch, count).map(|parts| offer(id, parts));
    let named = [of("half-batch", 2), of("quarter-batch", 4), of("eighth-batch", 8).map(Offer::rung)];
    // Nobody wants these where a larger part is enough.
    let bytes: Vec<Bytes> = of_batch.iter().map(|&id| scene.run.recording.size(id)).collect();
    let degrees = Parts::all(batch, &bytes).into_iter().map(|parts| offer("micro-batch", parts).rung());
    named.into_iter().flatten().chain(degrees).collect()
}

/// What the recording does not tell; empty if it tells all.
fn condition(batch: BatchSize, is_whole: bool, parts: Parts) -> String {
    match batch.has_at_least(parts.count) {
        _ if is_whole => ", if its samples do not depend on each other".to_owned(),
        None => parts.condition(),
        Some(_) => String::new(),
    }
}

fn title(scene: &Scene<'_>, parts: Parts, condition: &str) -> String {
    let times = if scene.computation().has_backward() {
        format!(", {} times before each step", parts.count)
    } else {
        String::new()
    };
    format!("compute {} at a time{times}{condition}", parts.words())
}

fn code(scene: &Scene<'_>, parts: Parts) -> String {
    if scene.computation().has_backward() {
        return parts.code();
    }
    let count = parts.count;
    let call = format!("for part in x.chunk({count}):  # batch_size // {count}\n    y = model(part)");
    if scene.workload().trains() {
        return format!("{call}  # in training, with a backward pass of each part");
    }
    format!("with torch.inference_mode():\n    {}", call.replace('\n', "\n    "))
}

/// Whether an allocation depends on the batch that can be smaller: that of training or, where nothing trains, of any call.
fn is_of_batch(scene: &Scene<'_>, id: AllocId) -> bool {
    match scene.computation().dependence(id) {
        Dependence::Batch => true,
        Dependence::EvalBatch => !scene.workload().trains(),
        _ => false,
    }
}

/// Each pass becomes several with a part of the batch. All but the first run while the gradients of those before are there,
/// into which they add theirs; so the last of them stands for all.
fn micro_batches(scene: &Scene<'_>, program: &mut Program<'_>, parts: Parts) {
    let kept = kept_across_calls(scene);
    scale(scene, program, parts.share(), |id| kept.binary_search(&id).is_err());
    let lifetimes = &scene.run.recording.lifetimes;
    let mut earlier: Vec<AllocId> = Vec::new();
    for pass in scene.computation().spans.passes() {
        let is_gradient = |id: &AllocId| scene.computation().dependence(*id) == Dependence::Gradient;
        let made: Vec<AllocId> = scene.run.made_in(&pass.events).filter(is_gradient).collect();
        let start = Point::before(EventIx(pass.events.start), 0);
        for &id in &made {
            accumulate(scene, program, id, start);
        }
        // Those that are cleared after the first forward are gone in the last.
        let is_cleared = |id: &&AllocId| {
            lifetimes.end(**id).is_some_and(|end| pass.events.start < end.0 && end.0 <= pass.backward)
        };
        earlier.iter().filter(is_cleared).for_each(|&id| program.free_at(id, start));
        if !made.is_empty() {
            earlier = made;
        }
    }
}

/// What calls leave behind for longer than until the end of the next one, in the order of ids. Each smaller call leaves its
/// part of it, which together is as much. Keys and values of what is generated are gone before the next part is.
fn kept_across_calls(scene: &Scene<'_>) -> Vec<AllocId> {
    let trains = scene.workload().trains();
    let spans = scene.computation().spans.iter().filter(|span| !trains || matches!(span, Span::Pass(_)));
    let spans: Vec<&Range<u32>> = spans.map(Span::events).collect();
    let made = |events: &Range<u32>| {
        let is_counted = |&id: &AllocId| scene.run.category(id) != Category::KvCache;
        scene.run.made_in(events).filter(is_counted)
    };
    let mut kept = Vec::new();
    for pair in spans.windows(2) {
        let is_kept =
            |&id: &AllocId| scene.run.recording.gone(id).is_none_or(|gone| Moment(pair[1].end) < gone);
        kept.extend(made(pair[0]).filter(is_kept));
    }
    // The last has no next one that would show it, but was made by the same code.
    if let Some(last) = spans.last() {
        let code: BTreeSet<(StackId, Bytes)> = kept.iter().map(|&id| made_by(scene, id)).collect();
        let is_like =
            |&id: &AllocId| scene.run.recording.gone(id).is_none() && code.contains(&made_by(scene, id));
        kept.extend(made(last).filter(is_like));
    }
    kept.sort_unstable();
    kept
}

/// The stack and the size of an allocation.
fn made_by(scene: &Scene<'_>, id: AllocId) -> (StackId, Bytes) {
    (scene.run.recording.stack(id), scene.run.recording.size(id))
}

/// Whether a recording shows what depends on the batch.
pub(crate) fn has_batch(scene: &Scene<'_>) -> bool {
    scene.run.recording.ids().any(|id| is_of_batch(scene, id))
}

/// Multiply what depends on the batch of a pass.
pub(crate) fn scale_batch(scene: &Scene<'_>, program: &mut Program<'_>, factor: f64) {
    scale(scene, program, factor, |_| true);
}

fn scale(scene: &Scene<'_>, program: &mut Program<'_>, factor: f64, is_scaled: impl Fn(AllocId) -> bool) {
    let factor_of = |id| if is_of_batch(scene, id) && is_scaled(id) { factor } else { 1.0 };
    for id in program.timeline().ids() {
        program.scale(id, factor_of(id));
    }
    program.scale_added(factor_of);
    program.scale_failed(|event| if is_within_batch(scene, event) { factor } else { 1.0 });
}

/// Whether a request that failed was made for the batch.
fn is_within_batch(scene: &Scene<'_>, event: EventIx) -> bool {
    match scene.computation().spans.at(event) {
        Some(span) => !scene.workload().trains() || matches!(span, Span::Pass(_)),
        None => false,
    }
}

/// The requests that another batch makes larger or smaller, by their events.
#[derive(Debug)]
pub struct BatchEvents {
    allocations: EventSet,
    /// Requests that failed, in their order.
    failed: Vec<EventIx>,
}

impl BatchEvents {
    /// Those of a recording; `None` where it shows nothing that depends on the batch.
    pub fn of(scene: &Scene<'_>) -> Option<Self> {
        let recording = scene.run.recording;
        let ids = recording.ids().filter(|&id| is_of_batch(scene, id));
        let ooms = recording.ooms.iter().map(|oom| oom.event);
        has_batch(scene).then(|| Self {
            allocations: EventSet::of_allocations(recording, ids),
            failed: ooms.filter(|&event| is_within_batch(scene, event)).collect(),
        })
    }

    /// Whether an event's request is one of them.
    pub fn contains(&self, event: EventIx) -> bool {
        self.allocations.contains(event) || self.failed.binary_search(&event).is_ok()
    }
}

/// Have a gradient from the start of its pass on, and add a fresh one to it where the backward makes it.
fn accumulate(scene: &Scene<'_>, program: &mut Program<'_>, id: AllocId, start: Point) {
    let Some(made) = scene.run.recording.lifetimes.start(id).event() else { return };
    let bytes = program.row(id).bytes;
    program.make_at(id, start);
    let end = scene.computation().frees.first_older_after(made, id).map_or(Point::NEVER, Point::at);
    program.add(id, Row { bytes, start: Point::at(made), end });
}
