//! The calls of models whose graphs are alive.

use crate::assessment::Assessment;
use crate::case::Case;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, Bytes, EventIx};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::NEARLY_ALL;
use std::collections::BTreeMap;

/// The live activations of one call of a model.
#[derive(Default)]
pub(super) struct Graph<'a> {
    /// The call; `None` is one from before the recording.
    pub(super) call: Option<usize>,
    pub(super) blocks: Vec<&'a Allocation>,
    pub(super) bytes: Bytes,
}

impl Graph<'_> {
    /// The event at which its call began; `None` is before the recording.
    pub(super) fn began(&self, case: &Case<'_>) -> Option<EventIx> {
        self.call.and_then(|call| case.phases().calls.get(call)).map(|call| call.event)
    }

    /// Whether it has nearly all blocks of another, by their sizes.
    fn covers(&self, case: &Case<'_>, other: &Self) -> bool {
        let [own, others] = [self, other].map(|graph| case.sizes(graph.blocks.iter().copied()));
        NEARLY_ALL.is_reached(own.shared_bytes(&others), others.bytes())
    }
}

/// The calls that hold graphs, in their order.
pub(super) fn graphs<'a>(assessment: &Assessment<'a>) -> Vec<Graph<'a>> {
    let calls = &assessment.case.phases().calls;
    let mut graphs: BTreeMap<Option<usize>, Graph<'_>> = BTreeMap::new();
    for a in assessment.in_use(Category::Activation) {
        let call = match a.alloc_event() {
            Some(event) => match calls.partition_point(|call| call.event <= event).checked_sub(1) {
                Some(call) => Some(call),
                None => continue,
            },
            None => None,
        };
        let graph = graphs.entry(call).or_default();
        graph.call = call;
        graph.bytes += a.size;
        graph.blocks.push(a);
    }
    // What is older than the recording is of another call if it has all blocks of one, else perhaps of the call at its start.
    let older = graphs.remove(&None);
    // The last call may have been cut off early.
    let last = graphs.keys().next_back().copied();
    let is_graph = |graph: &Graph<'_>| SEVERAL <= graph.blocks.len() || Some(graph.call) == last;
    let graphs: Vec<Graph<'_>> = graphs.into_values().filter(is_graph).collect();
    let largest = graphs.iter().max_by_key(|graph| graph.bytes);
    let older = older.filter(|older| largest.is_some_and(|largest| older.covers(assessment.case, largest)));
    older.into_iter().chain(graphs).collect()
}

/// The first events of the backward passes before the moment, without the one that the moment lies in.
pub(super) fn finished_backwards(case: &Case<'_>) -> Vec<EventIx> {
    let current = case.phases().backward_at(case.moment);
    case.starts_of(Phase::Backward).filter(|&event| Some(event) != current).collect()
}
