//! A case with everything that is concluded from it, for the verdict and the detectors.

use super::case::Case;
use super::cause::Cause;
use super::failed_attempt::FailedAttempts;
use super::growing_tensors::GrowingTensors;
use super::pinning::Pinning;
use super::retained::Retained;
use super::share::share;
use crate::analysis::Category;
use crate::model::{AllocId, Allocation};
use std::collections::BTreeSet;

/// Without an OOM, a retained graph is wrong if it is at least this share of the live bytes: a smaller one may be wanted.
const GRAPH_SHARE: f64 = 0.25;

/// A case with the conclusions that several findings rest on, each of them found once.
#[derive(Debug)]
pub(super) struct Assessment<'a> {
    /// The case itself.
    pub(super) case: &'a Case<'a>,
    /// Memory of attempts that failed before.
    pub(super) failed: Option<FailedAttempts>,
    /// Memory that earlier repetitions left behind.
    pub(super) retained: Option<Retained>,
    /// Tensors that get larger in every repetition.
    pub(super) growing: Option<GrowingTensors>,
    /// Blocks that keep free memory from being used.
    pub(super) pinning: Pinning,
    /// Why the request failed; `None` if none did.
    pub(super) cause: Option<Cause>,
}

impl<'a> Assessment<'a> {
    /// Draw all conclusions from a case.
    pub(super) fn of(case: &'a Case<'a>) -> Self {
        let retained = Retained::of(case);
        let growing = GrowingTensors::of(case);
        let failed = FailedAttempts::of(case);
        let cause = case
            .shortage
            .as_ref()
            .map(|shortage| Cause::of(case, shortage, failed.as_ref(), retained.as_ref(), growing.as_ref()));
        Self { case, failed, retained, growing, pinning: Pinning::of(case), cause }
    }

    /// Whether the verdict is a leak.
    pub(super) fn is_leak(&self) -> bool {
        match &self.cause {
            Some(cause) => cause.is_leak(),
            None => self.leaked_graph().is_some(),
        }
    }

    /// A large retained graph. Without an OOM, it is the only memory that counts as leaked, since nobody keeps one on
    /// purpose.
    pub(super) fn leaked_graph(&self) -> Option<&Retained> {
        let is_much = |retained: &&Retained| GRAPH_SHARE <= share(retained.bytes, self.case.live_bytes());
        self.retained.as_ref().filter(|retained| retained.is_graph()).filter(is_much)
    }

    /// The live allocations of a category, without memory that nothing will use any more: what is retained, or left of an
    /// attempt that failed.
    pub(super) fn in_use(&self, category: Category) -> Vec<&'a Allocation> {
        let retained = self.retained.iter().flat_map(|retained| &retained.allocations);
        let failed = self.failed.iter().flat_map(|failed| &failed.allocations);
        let left: BTreeSet<AllocId> = retained.chain(failed).copied().collect();
        let is_in_use = |a: &&Allocation| self.case.category(a.id) == category && !left.contains(&a.id);
        self.case.live.iter().filter(is_in_use).collect()
    }
}
