//! What earlier repetitions left behind, as allocations, for those who want to know what the program would need without.

use super::assessment::Assessment;
use super::case::{Case, DiagnosisRequest};
use super::cause::Cause;
use super::retained::Retained;
use oomscope_analysis::At;
use oomscope_model::{AllocId, EventIx};
use oomscope_program::Workload;

/// An allocation that outlives its repetition although nothing needs it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftBehind {
    /// The allocation.
    pub id: AllocId,
    /// The first event of its repetition; `None` if it is older than the recording.
    pub from: Option<EventIx>,
    /// The first event of the next repetition, and of the one after it, if they were recorded.
    pub next: [Option<EventIx>; 2],
}

/// What is left behind at the last OOM or, without one, at the peak, and at the end of the recording. Ordered by
/// allocation.
pub fn left_behind(workload: &Workload<'_>) -> Vec<LeftBehind> {
    let main = At::oom_or_peak(workload.computation.run.recording);
    let mut all: Vec<LeftBehind> =
        [main, At::End].into_iter().flat_map(|at| at_moment(workload, at)).collect();
    all.sort_by_key(|left| left.id);
    all.dedup_by_key(|left| left.id);
    all
}

/// Whether the verdict on a recording is a leak.
pub fn is_leak(workload: &Workload<'_>) -> bool {
    let case = Case::new(workload, DiagnosisRequest::default());
    case.is_ok_and(|case| Assessment::of(&case).is_leak())
}

/// Whether the verdict on a recording is that memory was in pieces.
pub fn is_fragmentation(workload: &Workload<'_>) -> bool {
    let case = Case::new(workload, DiagnosisRequest::default());
    case.is_ok_and(|case| matches!(Assessment::of(&case).cause, Some(Cause::Fragmentation(_))))
}

fn at_moment(workload: &Workload<'_>, at: At) -> Vec<LeftBehind> {
    let request = DiagnosisRequest { at: Some(at), ..DiagnosisRequest::default() };
    let Ok(case) = Case::new(workload, request) else { return Vec::new() };
    let Some(retained) = Retained::of(&case) else { return Vec::new() };
    let describe = |id: AllocId| {
        let made = case.recording.lifetimes.origin(id).event();
        let index = made.and_then(|event| case.repetitions.index_of(event));
        let start = |further: usize| index.and_then(|index| case.repetitions.start(index + further));
        LeftBehind { id, from: start(0), next: [start(1), start(2)] }
    };
    retained.allocations.iter().map(|&id| describe(id)).collect()
}
