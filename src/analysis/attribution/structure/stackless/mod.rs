//! Iterations and phases of recordings without stacks, between steps that torch announced.

mod alignment;
mod humps;
mod plain_pass;
mod rounds;
mod stepwise;
#[cfg(test)]
mod stepwise_tests;
mod tail;
mod tape;
#[cfg(test)]
mod twins;
mod valley;
mod window;

use super::{Phase, PhaseStart, start_at};
use crate::analysis::attribution::facts::Announced;
use crate::model::{EventIx, Timeline};

/// What is found in a recording without stacks.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) phases: Vec<PhaseStart>,
    /// The first event of each iteration.
    pub(super) starts: Vec<EventIx>,
    /// Whether optimizer steps were seen, so that iterations can be counted.
    pub(super) is_counted: bool,
    /// From here on a further iteration may have begun.
    pub(super) unsure_from: Option<u32>,
}

/// Find phases and iterations between the steps that torch announced; `None` where it announced none, or nothing tells.
pub(super) fn find(timeline: &Timeline, announced: &Announced) -> Option<Found> {
    announced.within_trace().next()?;
    stepwise::find(timeline, announced)
}
