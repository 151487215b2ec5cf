//! Graphs of several calls that are alive at once: more calls before one backward pass than usual, or two graphs of which one
//! may be over.

mod graph;
mod more_calls;
mod two_graphs;

use crate::assessment::Assessment;
use crate::finding::Finding;
use graph::{finished_backwards, graphs};
use more_calls::{Stretch, later_iterations, more_calls};
use oomscope_analysis::Phase;
use two_graphs::two_graphs;

pub(in crate::detectors) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Where the calls of many iterations are held, that is the verdict.
    if assessment.is_leak() || case.phases().phase_at(case.moment) == Phase::Eval {
        return Vec::new();
    }
    let graphs = graphs(assessment);
    let by_backward = || more_calls(case, &graphs, &finished_backwards(case), Stretch::BeforeBackward);
    let by_iteration = || more_calls(case, &graphs, &later_iterations(case), Stretch::Iteration);
    by_backward().or_else(by_iteration).or_else(|| two_graphs(case, &graphs)).into_iter().collect()
}
