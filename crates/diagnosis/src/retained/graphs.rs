//! Tells graphs that are retained from results: of a call that keeps its graph, much of what it made is still there, while
//! results are a few of many blocks.

use crate::case::Case;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{AllocId, Allocation, Bytes, EventIx, Moment};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::{MOST, NEARLY_ALL, NOTABLE};

/// What keeps the graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphKind {
    /// No backward pass follows these calls.
    Untrained,
    /// They outlive the backward pass of their iteration, as with `retain_graph`.
    Outliving,
    /// A backward pass of their iteration uses other calls.
    Beside,
}

/// The blocks of one call, without workspaces and those of the backward pass, the step and the loading of data.
#[derive(Debug, Clone, Copy, Default)]
struct CallBlocks {
    /// Whether a backward pass of its iteration comes after it; one that came before is of no use to it.
    is_before_backward: bool,
    made: usize,
    kept: usize,
    kept_bytes: Bytes,
}

impl CallBlocks {
    fn keeps_a_graph(&self) -> bool {
        SEVERAL <= self.kept && NOTABLE.is_reached(self.kept, self.made)
    }
}

/// Whether calls keep their graphs in most of some allocations, and what keeps them; `None` if it is results.
pub(super) fn graph_kind(case: &Case<'_>, retained: &[&Allocation], current: usize) -> Option<GraphKind> {
    let calls = calls(case, retained, current);
    let bytes =
        |calls: &mut dyn Iterator<Item = &CallBlocks>| calls.map(|call| call.kept_bytes).sum::<Bytes>();
    let all = bytes(&mut calls.iter());
    let graphs: Vec<CallBlocks> = calls.iter().filter(|call| call.keeps_a_graph()).copied().collect();
    let in_graphs = bytes(&mut graphs.iter());
    if !MOST.is_reached(in_graphs, all) {
        return None;
    }
    let before_backward = |call: &&CallBlocks| call.is_before_backward;
    if !MOST.is_reached(bytes(&mut graphs.iter().filter(before_backward)), in_graphs) {
        return Some(GraphKind::Untrained);
    }
    let all_calls = calls.iter().filter(before_backward).filter(|call| SEVERAL <= call.made).count();
    let keeping = graphs.iter().filter(before_backward).count();
    Some(if all_calls == 0 || NEARLY_ALL.is_reached(keeping, all_calls) {
        GraphKind::Outliving
    } else {
        GraphKind::Beside
    })
}

/// The blocks of each call, or of each repetition without one, before the current repetition.
fn calls(case: &Case<'_>, retained: &[&Allocation], current: usize) -> Vec<CallBlocks> {
    let mut starts: Vec<EventIx> = case.phases().calls.iter().map(|call| call.event).collect();
    starts.extend((0..=current).filter_map(|index| case.repetitions.start(index)));
    starts.sort_unstable();
    starts.dedup();
    let mut kept: Vec<AllocId> = retained.iter().map(|a| a.id).collect();
    kept.sort_unstable();
    let phases = &case.phases().phases;
    let timeline = case.recording.timeline();
    let mut calls: Vec<CallBlocks> = vec![CallBlocks::default(); starts.len()];
    let (mut at, mut phase_at, mut kept_at) = (0usize, 0usize, 0usize);
    // Allocations, starts, phases and kept ids are all in the order of time, so one walk meets each once.
    for id in timeline.ids() {
        let Some(event) = timeline.lifetimes.start(id).event() else { continue };
        while starts.get(at).is_some_and(|start| *start <= event) {
            at += 1;
        }
        while phases.get(phase_at + 1).is_some_and(|phase| phase.event <= event) {
            phase_at += 1;
        }
        while kept.get(kept_at).is_some_and(|&kept| kept < id) {
            kept_at += 1;
        }
        let phase = phases.get(phase_at).map_or(Phase::Unknown, |phase| phase.phase);
        let is_counted = !matches!(phase, Phase::Backward | Phase::Optimizer)
            && !matches!(case.category(id), Category::Input | Category::Parameter)
            && !timeline.lifetimes.is_fleeting(id);
        let Some(call) = at.checked_sub(1).and_then(|at| calls.get_mut(at)).filter(|_| is_counted) else {
            continue;
        };
        call.made += 1;
        if kept.get(kept_at) == Some(&id) {
            call.kept += 1;
            call.kept_bytes += timeline.size(id);
        }
    }
    // Of the current repetition, nothing is left behind.
    calls.truncate(starts.iter().filter(|&&start| case.repetitions.index_of(start) < Some(current)).count());
    let last_backwards = last_backwards(case);
    for (call, start) in calls.iter_mut().zip(&starts) {
        let iteration = case.phases().iterations.index_at(Moment::after(*start));
        let backward = iteration.and_then(|at| last_backwards.get(at).copied()).flatten();
        call.is_before_backward = backward.is_some_and(|backward| *start < backward);
    }
    calls
}

/// Of each iteration, the start of its last backward pass.
fn last_backwards(case: &Case<'_>) -> Vec<Option<EventIx>> {
    let iterations = &case.phases().iterations;
    let mut out = vec![None; iterations.list.len()];
    for phase in case.phases().phases.iter().filter(|phase| phase.phase == Phase::Backward) {
        let index = iterations.index_at(Moment::after(phase.event));
        if let Some(last) = index.and_then(|index| out.get_mut(index)) {
            *last = Some(phase.event);
        }
    }
    out
}
