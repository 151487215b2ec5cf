//! The calls of models whose graphs are alive.

use crate::analysis::{Category, Phase};
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::case::Case;
use crate::diagnosis::numbers::SEVERAL;
use crate::model::{Allocation, EventIx};
use std::collections::BTreeMap;

/// The live activations of one call of a model.
#[derive(Default)]
pub(super) struct Graph<'a> {
    pub(super) call: usize,
    pub(super) blocks: Vec<&'a Allocation>,
    pub(super) bytes: i64,
}

/// The calls that hold graphs, in their order.
pub(super) fn graphs<'a>(assessment: &Assessment<'a>) -> Vec<Graph<'a>> {
    let calls = &assessment.case.phases().calls;
    let mut graphs: BTreeMap<usize, Graph<'_>> = BTreeMap::new();
    for a in assessment.in_use(Category::Activation) {
        let Some(event) = a.alloc_event() else { continue };
        let Some(call) = calls.partition_point(|call| call.event <= event).checked_sub(1) else { continue };
        let graph = graphs.entry(call).or_default();
        graph.call = call;
        graph.bytes = graph.bytes.saturating_add(a.size);
        graph.blocks.push(a);
    }
    // The last call may have been cut off early.
    let last = graphs.keys().next_back().copied();
    let is_graph = |graph: &Graph<'_>| SEVERAL <= graph.blocks.len() || Some(graph.call) == last;
    graphs.into_values().filter(is_graph).collect()
}

/// The first events of the backward passes before the moment, without the one that the moment lies in.
pub(super) fn finished_backwards(case: &Case<'_>) -> Vec<EventIx> {
    let current = case.phases().backward_at(case.moment);
    let starts = case.phases().phases.iter().filter(|start| start.phase == Phase::Backward);
    let events = starts.map(|start| start.event);
    events.filter(|&event| event.0 < case.moment.0 && Some(event) != current).collect()
}
