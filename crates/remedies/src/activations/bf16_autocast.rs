//! Autocast to bf16 in training.
//!
//! Types are followed from operation to operation. What multiplies matrices computes in bf16, from copies of its input and its
//! parameters; norms, softmax and losses compute in fp32; the rest takes the type of what came before it. Where values of both
//! types meet, as a residual stream and what is added to it right before a norm, the result is fp32.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::Precondition;
use crate::price::Price;
use crate::scene::Scene;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::TorchOperation;
use oomscope_model::{AllocId, EventIx, Moment};
use oomscope_program::Attention;
use oomscope_program::Loss;
use oomscope_program::{Dependence, Operation, OperationKind, Pass, Span};
use oomscope_simulator::{Point, Program, Row};
use std::ops::Range;

/// What autocast changes.
#[derive(Debug, Default)]
struct Changes {
    /// The share that is left of an allocation.
    factors: HashMap<AllocId, f64>,
    /// When an allocation is gone, where that is earlier.
    ends: HashMap<AllocId, Point>,
    /// What is added: like which allocation, which share of it, and when.
    added: Vec<(AllocId, f64, Point, Point)>,
}

impl Changes {
    fn add(&mut self, other: Self) {
        self.factors.extend(other.factors);
        self.ends.extend(other.ends);
        self.added.extend(other.added);
    }

    fn apply(&self, scene: &Scene<'_>, program: &mut Program<'_>) {
        let bytes =
            |program: &Program<'_>, id: AllocId, share: f64| (program.row(id).bytes as f64 * share) as u64;
        program.scale_added(|id| self.factors.get(&id).copied().unwrap_or(1.0));
        for &(like, share, start, end) in &self.added {
            let bytes = bytes(program, like, share);
            // What other remedies give back earlier has no copy after that.
            let now = program.row(like).end;
            let end = if now < recorded_end(scene, like) { end.min(now) } else { end };
            program.add(like, Row { bytes, start, end });
        }
        self.ends.iter().for_each(|(&id, &end)| program.free_at(id, end));
        self.factors.iter().for_each(|(&id, &factor)| program.scale(id, factor));
    }
}

/// `bf16-autocast`, where stacks show training.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let has_stacks = !scene.run.recording.snapshot().frames.is_empty();
    if !has_stacks || !scene.computation().has_backward() {
        return None;
    }
    let changes = find_changes(scene);
    // Products have no frame of their own where functions call them rather than modules: then nothing tells what halves.
    if changes.factors.values().all(|&factor| 1.0 <= factor) {
        return None;
    }
    let halved: Vec<AllocId> = changes.factors.keys().copied().collect();
    let fact = "products of matrices make no copies in two bytes for each number";
    let precondition = Precondition::of_call(scene, fact, &halved);
    let change = move |program: &mut Program<'_>| changes.apply(scene, program);
    // How often cells of recurrent networks copy their weights depends on how they are called.
    let has_cells = scene
        .run
        .has_frame(|code| code.operation() == TorchOperation::Recurrent && code.function == "forward");
    let (title, kind) = ("train under autocast to bf16", (Part::Precision, Effort::Lines));
    let offer = Offer::new("bf16-autocast", title, kind, precondition, change);
    let offer = offer
        .price(Price { other_numbers: true, ..Price::default() })
        .code("with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    loss = loss_fn(model(x), y)\nloss.backward()")
        .cost("coarser products; weights, gradients and state stay fp32, and copies of the weights come on top")
        .note(
            "Evaluation is taken to stay as it is. Powers, exponentials and sums in the program's own code compute in \
             fp32 and may add to it.",
        );
    Some(if has_cells { offer.bound() } else { offer })
}

/// What autocast changes in all passes, and in calls that belong to them.
fn find_changes(scene: &Scene<'_>) -> Changes {
    let known = Known::of(scene);
    let mut changes = Changes::default();
    for span in scene.computation().spans.iter() {
        match span {
            Span::Pass(pass) => changes.add(changes_of_pass(scene, &known, pass)),
            Span::Eval(events, true) => {
                let operations = scene.computation().operations(events);
                follow(scene, &operations, &known, &mut changes);
            }
            Span::Eval(..) => {}
        }
    }
    changes
}

/// What is known besides single operations, in order.
struct Known<'a> {
    losses: &'a [Loss],
    attention: &'a [Attention],
    /// All scores of attention, and the last of each.
    scores: HashSet<AllocId>,
    last_scores: HashSet<AllocId>,
    /// Whether accelerate runs the program.
    has_accelerate: bool,
}

impl<'a> Known<'a> {
    fn of(scene: &'a Scene<'_>) -> Self {
        let attention = scene.workload().attention();
        Self {
            losses: scene.workload().losses(),
            scores: attention.iter().flat_map(|attention| attention.scores.iter().copied()).collect(),
            last_scores: attention.iter().filter_map(|attention| attention.scores.last().copied()).collect(),
            attention,
            has_accelerate: scene.run.has_frame(|code| code.is_of_accelerate()),
        }
    }
}

/// Those of some things in order that begin with an allocation in a range.
fn within<'k, T>(all: &'k [T], ids: &Range<AllocId>, first: impl Fn(&T) -> AllocId) -> &'k [T] {
    let start = all.partition_point(|one| first(one) < ids.start);
    let end = all.partition_point(|one| first(one) < ids.end);
    all.get(start..end).unwrap_or_default()
}

fn changes_of_pass(scene: &Scene<'_>, known: &Known<'_>, pass: &Pass) -> Changes {
    let mut out = Changes::default();
    let operations = scene.computation().operations(&(pass.events.start..pass.backward));
    follow(scene, &operations, known, &mut out);
    add_weight_copies(scene, pass, &operations, &mut out);
    let lifetimes = &scene.run.recording.lifetimes;
    let first_after = |event: u32| lifetimes.first_after(Moment(event)).unwrap_or(AllocId(u32::MAX));
    let ids = first_after(pass.events.start)..first_after(pass.events.end);
    for attention in within(known.attention, &ids, |attention| attention.scores[0]) {
        softmax_in_fp32(scene, pass, attention, &mut out);
    }
    halve_gradients(scene, pass, &operations, &mut out);
    for loss in within(known.losses, &ids, |loss| loss.logarithms) {
        loss_in_fp32(scene, loss, &mut out);
        if known.has_accelerate {
            returned_in_fp32(scene, loss, &mut out);
        }
    }
    out
}

fn recorded_end(scene: &Scene<'_>, id: AllocId) -> Point {
    scene.run.recording.lifetimes.end(id).map_or(Point::NEVER, Point::of)
}

/// Follow types through the operations of a forward.
fn follow(scene: &Scene<'_>, operations: &[Operation], known: &Known<'_>, out: &mut Changes) {
    let lifetimes = &scene.run.recording.lifetimes;
    let start = |operation: &Operation| lifetimes.start(operation.ids[0]).event().unwrap_or(EventIx(0));
    let mut is_half = false;
    // The value that products take as their input, and the first operation after those products.
    let mut input: Option<(AllocId, OperationKind)> = None;
    for (index, operation) in operations.iter().enumerate() {
        let next = operations.get(index + 1);
        let over = next.map_or(Point::NEVER, |next| Point::before(start(next), 0));
        let main = operation.main(&scene.run);
        let was_half = is_half;
        let before = index.checked_sub(1).map(|before| &operations[before]);
        is_half = gives_half(known, before, operation, next, was_half);
        if is_half {
            let halved = operation.ids.iter().filter(|&&id| !scene.workload().number_types().is_other(id));
            halved.for_each(|&id| {
                out.factors.insert(id, 0.5);
            });
        }
        match operation.kind {
            OperationKind::Product => {
                if let Some((input, by)) = input.filter(|(input, _)| !known.scores.contains(input)) {
                    cast_input(scene, (input, by), start(operation), over, out);
                }
                continue;
            }
            // A copy in fp32 is all that a norm keeps of its input.
            OperationKind::Norm if was_half => {
                if let Some((before, _)) = input {
                    out.factors.remove(&before);
                }
            }
            _ => {}
        }
        input = Some((main, operation.kind)).filter(|_| !is_half);
    }
}

/// Whether an operation gives numbers in bf16, after one that does or does not.
fn gives_half(
    known: &Known<'_>,
    before: Option<&Operation>,
    operation: &Operation,
    next: Option<&Operation>,
    was_half: bool,
) -> bool {
    // Scores are multiplied with values, in the program's own code.
    let is_attention =
        before.is_some_and(|before| before.ids.iter().any(|id| known.last_scores.contains(id)));
    let is_before_norm = next.is_some_and(|next| next.kind == OperationKind::Norm);
    is_attention
        || match operation.kind {
            OperationKind::Product => true,
            OperationKind::Norm | OperationKind::Embedding | OperationKind::Fp32 => false,
            OperationKind::Own => was_half && !is_before_norm,
            OperationKind::Same => was_half,
        }
}

/// A product keeps a copy of its input in bf16. What only it kept goes.
fn cast_input(
    scene: &Scene<'_>,
    (input, by): (AllocId, OperationKind),
    start: EventIx,
    over: Point,
    out: &mut Changes,
) {
    let end = recorded_end(scene, input);
    out.added.push((input, 0.5, Point::before(start, 1), end.max(over)));
    // Softmax keeps its result itself.
    if by != OperationKind::Fp32 && over < end {
        out.ends.insert(input, over);
    }
}

/// Parameters that are multiplied by have a copy in bf16 from their first use until their gradient is computed.
fn add_weight_copies(scene: &Scene<'_>, pass: &Pass, operations: &[Operation], out: &mut Changes) {
    let lifetimes = &scene.run.recording.lifetimes;
    let ids = lifetimes.started_between(Moment(pass.backward), Moment(pass.events.end));
    let gradients: Vec<AllocId> = ids
        .filter(|&id| {
            matches!(scene.computation().dependence(id), Dependence::Gradient | Dependence::FreshGradient)
        })
        .collect();
    let embeddings = operations.iter().filter(|operation| operation.kind == OperationKind::Embedding).count();
    let cast = &gradients[..gradients.len().saturating_sub(embeddings)];
    let backward = f64::from((pass.events.end - pass.backward).max(1));
    let forward = f64::from(pass.backward - pass.events.start);
    for &id in cast.iter().filter(|&&id| scene.computation().dependence(id) == Dependence::Gradient) {
        let Some(made) = lifetimes.start(id).event() else { continue };
        // The backward goes through the layers in the opposite order.
        let share = f64::from(pass.events.end - made.0) / backward;
        let first = pass.events.start + (forward * share) as u32;
        out.added.push((id, 0.5, Point::before(EventIx(first.min(pass.backward)), 2), Point::at(made)));
        let over = scene.computation().frees.first_older_after(made, id).map_or(Point::NEVER, Point::at);
        out.added.push((id, 0.5, Point::at(made), over));
    }
}

/// Gradients have the types of what they are the gradients of; those of a size have the type of most of that size.
fn halve_gradients(scene: &Scene<'_>, pass: &Pass, operations: &[Operation], out: &mut Changes) {
    let mut votes: HashMap<u64, i64> = HashMap::default();
    for &id in operations.iter().flat_map(|operation| &operation.ids) {
        let is_half = out.factors.contains_key(&id);
        *votes.entry(scene.run.bytes(id)).or_default() += if is_half { 1 } else { -1 };
    }
    let ids = scene.run.recording.lifetimes.started_between(Moment(pass.backward), Moment(pass.events.end));
    for id in ids.filter(|&id| scene.computation().dependence(id) == Dependence::Batch) {
        if votes.get(&scene.run.bytes(id)).is_some_and(|&votes| 0 < votes) {
            out.factors.insert(id, 0.5);
        }
    }
}

/// Scores are in bf16, their softmax in fp32; what is multiplied with the values is a copy in bf16.
fn softmax_in_fp32(scene: &Scene<'_>, pass: &Pass, attention: &Attention, out: &mut Changes) {
    let lifetimes = &scene.run.recording.lifetimes;
    let whole = attention.scores.iter().copied().filter(|&id| scene.run.bytes(id) == attention.bytes);
    let (kept, brief): (Vec<AllocId>, Vec<AllocId>) =
        whole.partition(|&id| lifetimes.end(id).is_none_or(|end| pass.backward < end.0));
    let halve = |out: &mut Changes, id: AllocId| {
        if !scene.workload().number_types().is_other(id) {
            out.factors.insert(id, 0.5);
        }
    };
    for id in brief {
        halve(out, id);
    }
    let (Some(&first), Some(&last)) = (kept.first(), kept.last()) else { return };
    for id in &kept {
        out.factors.remove(id);
    }
    if first == last {
        let start = lifetimes.start(first).event().map_or(Point::START, |event| Point::after(event, 0));
        let end = recorded_end(scene, first);
        out.added.push((first, 0.5, start, end));
    } else {
        halve(out, last);
    }
}

/// The logarithms of a loss are in fp32, beside a copy of the logits; so is their gradient, but not that of the logits.
fn loss_in_fp32(scene: &Scene<'_>, loss: &Loss, out: &mut Changes) {
    let lifetimes = &scene.run.recording.lifetimes;
    let start =
        lifetimes.start(loss.logarithms).event().map_or(Point::START, |event| Point::before(event, 0));
    let end = recorded_end(scene, loss.logarithms);
    // transformers makes the copy itself, in fp32.
    let (copy, until) = match lifetimes.start(loss.logarithms).event() {
        Some(event) if loss.is_upcast => (1.0, Point::after(event, 0)),
        _ => (0.5, end),
    };
    out.added.push((loss.logarithms, copy, start, until.min(end)));
    out.factors.remove(&loss.logarithms);
    let first = loss.backward.first().and_then(|&id| lifetimes.start(id).event());
    if let Some(first) = first.filter(|_| !loss.is_upcast) {
        out.ends.insert(loss.logarithms, Point::after(first, 0));
    }
    for (index, &id) in loss.backward.iter().enumerate() {
        if index == 0 || loss.is_upcast {
            out.factors.remove(&id);
        } else {
            out.factors.insert(id, 0.5);
        }
    }
}

/// accelerate turns what a model returns into fp32. The logits themselves go with the graph.
fn returned_in_fp32(scene: &Scene<'_>, loss: &Loss, out: &mut Changes) {
    let lifetimes = &scene.run.recording.lifetimes;
    let Some(&logits) = loss.forward.last() else { return };
    let start = lifetimes.start(loss.logarithms).event().map_or(Point::START, |event| Point::after(event, 1));
    out.added.push((logits, 1.0, start, recorded_end(scene, logits)));
    out.ends.insert(logits, recorded_end(scene, loss.logarithms));
}
