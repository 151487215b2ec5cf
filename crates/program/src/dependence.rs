//! What each allocation of a workload program depends on.

use super::frames::CallFrames;
use super::numbers::SEVERAL;
use super::passes::Spans;
use super::run::Run;
use super::share::MOST;
use super::sizes::Sizes;
use super::span::{Pass, Span};
use foldhash::{HashMap, HashSet};
use oomscope_analysis::Category;
use oomscope_model::{AllocId, EventIx, StackId};

/// What an allocation depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// The model, the optimizer, or something else that no batch changes.
    Fixed,
    /// The batch of a pass.
    Batch,
    /// The batch of an evaluation.
    EvalBatch,
    /// The gradient of a parameter that is kept after the backward that makes it.
    Gradient,
    /// The gradient of a parameter on its way into one that is kept.
    FreshGradient,
    /// A parameter in another type, made by autocast for a pass.
    WeightCopy,
    /// The workspace of one product of matrices.
    Workspace,
}

/// Workspaces that torch sets aside for cuBLAS and cuBLASLt, in bytes: `:4096:2:16:8`, `:4096:8`, 32 KiB less on some
/// devices, and 1 MiB.
const WORKSPACES_BYTES: [u64; 3] = [(2 * 4096 + 8 * 16) << 10, (8 * 4096) << 10, 1 << 20];

/// A workspace is given back by the event after the one that makes it, or the one after that: requested, then completed.
const WORKSPACE_EVENTS: u32 = 2;

/// What roles follow from.
struct Facts<'a> {
    run: &'a Run<'a>,
    frames: &'a CallFrames,
    weights: &'a Sizes,
}

/// Find the role of every allocation.
pub(super) fn find(run: &Run<'_>, frames: &CallFrames, spans: &Spans) -> Vec<Dependence> {
    let weights = Sizes::of(run, run.of_category(Category::Parameter));
    let facts = Facts { run, frames, weights: &weights };
    let mut roles = vec![Dependence::Fixed; run.recording.lifetimes.len()];
    for span in spans.iter() {
        let ids = run.made_in(span.events()).collect::<Vec<AllocId>>();
        match span {
            Span::Pass(pass) => of_pass(&facts, pass, &ids, &mut roles),
            Span::Eval(_, is_part) => {
                let batch = if *is_part { Dependence::Batch } else { Dependence::EvalBatch };
                of_calls(&facts, &ids, batch, &mut roles);
            }
        }
    }
    roles
}

/// Whether an allocation belongs to the model or its optimizer, wherever it is made.
fn is_state(run: &Run<'_>, id: AllocId) -> bool {
    matches!(
        run.category(id),
        Category::Parameter | Category::OptimizerState | Category::Comm | Category::GraphPool
    )
}

fn of_pass(facts: &Facts<'_>, pass: &Pass, ids: &[AllocId], roles: &mut [Dependence]) {
    let Facts { run, weights, .. } = *facts;
    let made = |id: AllocId| run.recording.lifetimes.start(id).event().unwrap_or(EventIx(0)).0;
    let split = ids.partition_point(|&id| made(id) < pass.backward);
    let (forward, backward) = ids.split_at(split);
    of_calls(facts, forward, Dependence::Batch, roles);
    let sizes: HashSet<u64> =
        forward.iter().filter(|id| roles[id.index()] == Dependence::Batch).map(|&id| run.bytes(id)).collect();
    for &id in backward.iter().filter(|&&id| !is_state(run, id)) {
        let bytes = run.bytes(id);
        let is_kept = run.recording.lifetimes.end(id).is_none_or(|end| pass.events.end < end.0);
        roles[id.index()] = if is_workspace(run, id) {
            Dependence::Workspace
        } else if is_kept && weights.count(bytes) != 0 {
            Dependence::Gradient
        } else if !sizes.contains(&bytes)
            && [bytes, bytes.saturating_mul(2)].iter().any(|&of| weights.count(of) != 0)
        {
            Dependence::FreshGradient
        } else {
            Dependence::Batch
        };
    }
}

/// The roles of what calls of a model make.
fn of_calls(facts: &Facts<'_>, ids: &[AllocId], batch: Dependence, roles: &mut [Dependence]) {
    let Facts { run, weights, .. } = *facts;
    let mut counts: HashMap<u64, u32> = HashMap::default();
    for &id in ids {
        *counts.entry(run.bytes(id)).or_default() += 1;
    }
    // Autocast keeps one copy of each parameter until the pass is over, so that there are never more copies than parameters.
    let outlives = outlives_operation(run, ids);
    let is_copy = |id: AllocId| {
        let count = counts.get(&run.bytes(id)).copied().unwrap_or(0);
        count <= weights.count(run.bytes(id).saturating_mul(2)) && outlives.contains(&id)
    };
    let has_copies = most_products_copy(facts, ids, is_copy) || most_weights_are_copied(facts, ids, is_copy);
    for &id in ids.iter().filter(|&&id| !is_state(run, id)) {
        roles[id.index()] = if is_workspace(run, id) {
            Dependence::Workspace
        } else if has_copies && is_copy(id) {
            Dependence::WeightCopy
        } else {
            batch
        };
    }
}

/// What is there after the operation that makes it: when another stack allocates.
fn outlives_operation(run: &Run<'_>, ids: &[AllocId]) -> HashSet<AllocId> {
    let stack = |id: AllocId| run.recording.stack(id);
    let lifetimes = &run.recording.lifetimes;
    let mut out = HashSet::default();
    for operation in ids.chunk_by(|&a, &b| stack(a) == stack(b)) {
        let last = operation[operation.len() - 1];
        let next = lifetimes.first_after(lifetimes.start(last)).map(|next| lifetimes.start(next));
        let is_there = |id: AllocId| lifetimes.end(id).is_none_or(|end| next.is_some_and(|next| next < end));
        out.extend(operation.iter().copied().filter(|&id| is_there(id)));
    }
    out
}

/// Whether most modules that multiply by a parameter make a copy of it first, as they do under autocast.
fn most_products_copy(facts: &Facts<'_>, ids: &[AllocId], is_copy: impl Fn(AllocId) -> bool) -> bool {
    let mut copying: HashMap<StackId, bool> = HashMap::default();
    for &id in ids {
        let stack = facts.run.recording.stack(id);
        if let Some(copies) = copying.get_mut(&stack) {
            *copies |= is_copy(id);
        } else if facts.frames.is_product(facts.run.recording.snapshot(), stack) {
            copying.insert(stack, is_copy(id));
        }
    }
    MOST.is_exceeded(copying.values().filter(|&&copies| copies).count(), copying.len())
}

/// Whether copies cover most of the bytes of the parameters, which have several sizes: no module need show where products are
/// written by hand. A half that is the size of another parameter may be a gradient or optimizer state.
fn most_weights_are_copied(facts: &Facts<'_>, ids: &[AllocId], is_copy: impl Fn(AllocId) -> bool) -> bool {
    let Facts { run, weights, .. } = *facts;
    let is_alone = |id: &AllocId| weights.count(run.bytes(*id)) == 0 && is_copy(*id);
    let copies = Sizes::of(run, ids.iter().copied().filter(is_alone));
    // Copies have half of the bytes of what they are copies of.
    let copied = copies.bytes().saturating_mul(2);
    SEVERAL <= copies.different() && MOST.is_exceeded(copied, weights.bytes())
}

fn is_workspace(run: &Run<'_>, id: AllocId) -> bool {
    let lifetimes = &run.recording.lifetimes;
    let is_brief =
        lifetimes.end(id).is_some_and(|end| end.0.saturating_sub(lifetimes.start(id).0) <= WORKSPACE_EVENTS);
    is_brief && WORKSPACES_BYTES.contains(&run.bytes(id))
}
