//! The live memory of one side at its moment.

use super::side::Side;
use super::sites::MatchedSites;
use crate::Verdict;
use oomscope_model::{AllocId, Bytes, Moment};

/// The beginning of the time that a moment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The iteration that the moment lies in.
    Iteration(Moment),
    /// The recording, where the moment lies in no iteration.
    Recording,
}

impl Since {
    /// The state at that beginning.
    pub fn moment(self) -> Moment {
        match self {
            Self::Iteration(moment) => moment,
            Self::Recording => Moment::START,
        }
    }
}

/// A live allocation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) id: AllocId,
    pub(super) size: Bytes,
    pub(super) verdict: Verdict,
    /// Its line, as an index into the pairs of lines.
    pub(super) line: u32,
    /// The innermost function that is not torch's, by number.
    pub(super) inner: u32,
    /// Its operator, as an index into the operators.
    pub(super) operator: u32,
    /// Its module, as an index into the pairs of modules.
    pub(super) module: u32,
    /// Its pool and stream, as an index into the pairs of pools.
    pub(super) pool: u32,
    /// Whether the other side has it under another verdict.
    pub(super) is_restated: bool,
    /// Whether it was live when the iteration or the recording began.
    pub(super) is_older: bool,
}

/// The time that the side's moment belongs to.
pub(super) fn since(side: &Side<'_>) -> Since {
    let iterations = &side.attribution.phases.iterations;
    let iteration = iterations.index_at(side.moment).and_then(|at| iterations.list.get(at));
    iteration.map_or(Since::Recording, |iteration| Since::Iteration(Moment(iteration.start.0)))
}

/// The live allocations of a side, in allocation order. Operators, modules and pools are filled in by others.
pub(super) fn live_items(side: &Side<'_>, sites: &MatchedSites) -> Vec<Item> {
    let since = since(side).moment();
    let (timeline, categories) = (side.recording.timeline(), &side.attribution.categories);
    let item = |id| {
        let stack = timeline.stack(id).index();
        Item {
            id,
            size: timeline.size(id),
            verdict: categories.verdict(id),
            line: sites.line.get(stack).copied().unwrap_or_default(),
            inner: sites.inner.get(stack).copied().unwrap_or_default(),
            operator: 0,
            module: 0,
            pool: 0,
            is_restated: false,
            is_older: timeline.lifetimes.start(id) <= since,
        }
    };
    timeline.lifetimes.live_at(side.moment).map(item).collect()
}
