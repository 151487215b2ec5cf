//! What a program does again and again, one of which a request failed in: iterations or, where these show nothing, calls of a model
//! that do not train, such as the batches of an evaluation or the tokens of a generation.

use super::course::{Turn, TurnKind};
use super::failure::Failure;
use crate::Run;
use oomscope_analysis::Phase;
use oomscope_model::Moment;
use std::ops::Range;

/// An earlier turn that is like the last is looked for among this many.
const MAX_BACK: usize = 1024;

/// Turns up to the one in which a request failed.
#[derive(Debug)]
pub(super) struct Turns {
    are_calls: bool,
    /// The events of each, up to the failure.
    list: Vec<Range<u32>>,
}

impl Turns {
    /// The iterations.
    pub(super) fn iterations(run: &Run<'_>, failure: &Failure) -> Self {
        let iterations = &run.attribution.phases.iterations.list;
        let begun = iterations.partition_point(|iteration| iteration.start <= failure.event);
        let range = |start: u32, Moment(end)| start..end.min(failure.event.0);
        let list = iterations[..begun].iter().map(|iteration| range(iteration.start.0, iteration.end));
        Self { are_calls: false, list: list.collect() }
    }

    /// The calls of models, where the request failed in one that does not train. What the program does between two is a part of the
    /// first.
    pub(super) fn calls(run: &Run<'_>, failure: &Failure) -> Option<Self> {
        let phases = &run.attribution.phases;
        if phases.phase_at(Moment::after(failure.event)) != Phase::Eval {
            return None;
        }
        let begun = phases.calls.partition_point(|call| call.event <= failure.event);
        let calls = &phases.calls[..begun];
        let ends = calls.iter().skip(1).map(|next| next.event.0).chain([failure.event.0]);
        let ranges = calls.iter().zip(ends).filter(|(call, _)| !call.trains);
        let list = ranges.map(|(call, end)| call.event.0..end).collect();
        Some(Self { are_calls: true, list })
    }

    /// The events of one.
    pub(super) fn events(&self, index: usize) -> Range<u32> {
        self.list[index].clone()
    }

    /// The last one, in which the request failed, and those before it that may be like it, the latest first.
    pub(super) fn last_and_earlier(&self) -> Option<(usize, impl Iterator<Item = usize> + use<>)> {
        let last = self.list.len().checked_sub(1)?;
        Some((last, (0..last).rev().take(MAX_BACK)))
    }

    /// The name of one that contains a moment.
    pub(super) fn name(&self, run: &Run<'_>, index: usize, moment: Moment) -> Option<Turn> {
        if self.are_calls {
            return Some(Turn { number: u32::try_from(index).ok()?, kind: TurnKind::Call });
        }
        Turn::of_position(run.attribution.phases.position_at(moment))
    }

    /// Whether they are calls of a model.
    pub(super) fn are_calls(&self) -> bool {
        self.are_calls
    }
}
