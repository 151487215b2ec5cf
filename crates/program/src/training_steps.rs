//! The passes of workload: forward, backward and step.

use super::run::Run;
use oomscope_analysis::Phase;
use oomscope_model::EventIx;
use std::ops::Range;

/// An iteration that trains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingStep {
    /// The events of its iteration.
    pub events: Range<u32>,
    /// The events of its first backward.
    pub first_backward: Range<u32>,
    /// The event at which its last backward is over.
    pub backward_end: u32,
    /// The first event after the step; `None` if the recording ends before.
    pub over: Option<EventIx>,
}

/// The steps of a run, in order. Iterations without a backward are none.
pub fn training_steps(run: &Run<'_>) -> Vec<TrainingStep> {
    let phases = &run.attribution.phases;
    let iterations = &phases.iterations.list;
    let end = run.recording.events.len() as u32;
    let starts = iterations.iter().map(|iteration| iteration.start.0);
    // What is before the first iteration may be the rest of one.
    let before = iterations.first().map(|first| 0..first.start.0);
    let ends = starts.clone().skip(1).chain([end]);
    let ranges = before.into_iter().chain(starts.zip(ends).map(|(start, end)| start..end));
    ranges.filter_map(|range| training_step(run, range, end)).collect()
}

fn training_step(run: &Run<'_>, events: Range<u32>, last: u32) -> Option<TrainingStep> {
    let phases = &run.attribution.phases.phases;
    let first = phases.partition_point(|start| start.event.0 < events.start).saturating_sub(1);
    let ends = phases.iter().skip(1).map(|start| start.event.0).chain([last]);
    let spans: Vec<(Phase, Range<u32>)> = phases
        .iter()
        .zip(ends)
        .skip(first)
        .take_while(|(start, _)| start.event.0 < events.end)
        .map(|(start, until)| (start.phase, start.event.0.max(events.start)..until.min(events.end)))
        .filter(|(_, span)| !span.is_empty())
        .collect();
    let backward = |(phase, _): &&(Phase, Range<u32>)| *phase == Phase::Backward;
    let first_backward = spans.iter().find(backward)?.1.clone();
    let last_backward = spans.iter().rposition(|span| backward(&span))?;
    let next =
        spans[last_backward..].iter().find(|(phase, _)| !matches!(phase, Phase::Backward | Phase::Optimizer));
    let over = next.map_or(events.end, |(_, span)| span.start);
    let backward_end = spans[last_backward].1.end;
    Some(TrainingStep { events, first_backward, backward_end, over: (over < last).then_some(EventIx(over)) })
}
