//! How a program trains, as far as remedies for activations ask: its passes, and what each allocation in them depends on.

mod blocks;
mod call_stack;
mod frames;
mod frees;
mod module_calls;
mod operation_kind;
mod operations;
mod passes;
mod roles;
mod weights;
mod without_graph;

pub(super) use frees::Frees;
pub(super) use operation_kind::OperationKind;
pub(super) use operations::Operation;
pub(super) use passes::{Pass, Span, Spans};
pub(super) use roles::Role;

use super::scene::Scene;
use crate::model::{AllocId, EventIx, Moment};
use crate::simulator::Point;
use frames::CallFrames;
use module_calls::{ModuleCall, ModuleCalls};
use std::ops::Range;
use without_graph::WithoutGraph;

/// The passes of a program, its evaluations, and the role of each allocation.
#[derive(Debug)]
pub(super) struct Training {
    /// Forwards with their backwards, and evaluations, in order.
    pub(super) spans: Spans,
    roles: Vec<Role>,
    /// Which allocation each event gives back.
    pub(super) frees: Frees,
    frames: CallFrames,
}

impl Training {
    /// Look at a recording.
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let spans = Spans::of(scene);
        let frames = CallFrames::of(scene.snapshot);
        let frees = Frees::of(scene.timeline);
        let roles = roles::find(scene, &frames, &spans);
        Self { spans, roles, frees, frames }
    }

    /// What an allocation depends on.
    #[inline]
    pub(super) fn role(&self, id: AllocId) -> Role {
        self.roles.get(id.index()).copied().unwrap_or(Role::Fixed)
    }

    /// Whether some backward was recorded.
    pub(super) fn has_backward(&self) -> bool {
        self.spans.passes().any(|pass| pass.backward < pass.events.end)
    }

    /// Whether autocast copies parameters.
    pub(super) fn has_weight_copies(&self) -> bool {
        self.roles.contains(&Role::WeightCopy)
    }

    /// Whether a module's product of matrices made an allocation.
    pub(super) fn is_product(&self, scene: &Scene<'_>, id: AllocId) -> bool {
        self.frames.is_product(scene.snapshot, scene.timeline.stack(id))
    }

    /// The pass that an event lies in.
    pub(super) fn pass_at(&self, event: EventIx) -> Option<&Pass> {
        match self.spans.at(event)? {
            Span::Pass(pass) => Some(pass),
            Span::Eval(..) => None,
        }
    }

    /// The repeated blocks in some events of a forward: the allocations from the first to the last of each call.
    pub(super) fn blocks(&self, scene: &Scene<'_>, events: Range<u32>) -> Vec<Range<u32>> {
        let lifetimes = &scene.timeline.lifetimes;
        let ids = ids_of(scene, &events);
        let Some(&first) = ids.first() else { return Vec::new() };
        let calls = ModuleCalls::of(scene, &self.frames, &ids);
        let range = events.start as usize + 1..events.end as usize + 1;
        let peak = scene.timeline.active.peak_in(range).map_or(Moment(events.end), |(peak, _)| peak);
        let mut sums = vec![0u64];
        for &id in &ids {
            let is_batch = matches!(self.role(id), Role::Batch | Role::EvalBatch);
            let is_kept =
                is_batch && lifetimes.start(id) <= peak && lifetimes.end(id).is_none_or(|end| peak < end);
            let sum = sums.last().copied().unwrap_or(0);
            sums.push(sum.saturating_add(if is_kept { scene.bytes(id) } else { 0 }));
        }
        let sum_to = |id: u32| sums[(id - first.0) as usize];
        let kept = |call: &ModuleCall| sum_to(call.ids.end) - sum_to(call.ids.start);
        let blocks = blocks::repeated(&calls, &kept);
        blocks.into_iter().map(|call| calls.list[call].ids.clone()).collect()
    }

    /// The operations of a forward.
    pub(super) fn operations(&self, scene: &Scene<'_>, events: Range<u32>) -> Vec<Operation> {
        operations::operations(scene, &self.frames, &ids_of(scene, &events), |id| self.role(id))
    }

    /// The ends of what some events make, if no graph keeps it; what may stay as long as recorded is left out.
    pub(super) fn without_graph(&self, scene: &Scene<'_>, events: &Range<u32>) -> Vec<(AllocId, Point)> {
        let is_value = |id| self.role(id) != Role::Workspace;
        WithoutGraph::ends(scene, &self.frames, events, is_value)
    }
}

/// The allocations that some events make.
fn ids_of(scene: &Scene<'_>, events: &Range<u32>) -> Vec<AllocId> {
    scene.timeline.lifetimes.started_between(Moment(events.start), Moment(events.end)).collect()
}
