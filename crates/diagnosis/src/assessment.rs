//! A case with everything that is concluded from it, for the verdict and the detectors.

use super::answered::Answered;
use super::case::Case;
use super::cause::Cause;
use super::failed_attempt::FailedAttempts;
use super::figure;
use super::growing_tensors::GrowingTensors;
use super::pinning::Pinning;
use super::retained::Retained;
use super::sentence::say;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Allocation, Bytes};
use oomscope_program::share::MUCH;
use std::collections::BTreeSet;

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
    /// The questions that were asked to find out.
    asked: Vec<Answered>,
}

impl<'a> Assessment<'a> {
    /// Draw all conclusions from a case.
    pub(super) fn of(case: &'a Case<'a>) -> Self {
        let retained = Retained::of(case);
        let growing = GrowingTensors::of(case);
        let failed = FailedAttempts::of(case);
        let why = case
            .shortage
            .as_ref()
            .map(|shortage| Cause::of(case, shortage, failed.as_ref(), retained.as_ref(), growing.as_ref()));
        let (cause, asked) = why.map_or((None, Vec::new()), |(cause, asked)| (Some(cause), asked));
        Self { case, failed, retained, growing, pinning: Pinning::of(case), cause, asked }
    }

    /// Whether the verdict is a leak.
    pub(super) fn is_leak(&self) -> bool {
        match &self.cause {
            Some(cause) => cause.is_leak(),
            None => self.leaked().is_some(),
        }
    }

    /// The questions that were asked for the verdict, in their order.
    pub(super) fn asked(&self) -> Vec<Answered> {
        let mut asked = self.asked.clone();
        if self.cause.is_none() {
            let bytes = self.retained.as_ref().map_or(Bytes::ZERO, |retained| retained.bytes);
            asked.push(Answered {
                asks: "Do graphs of earlier iterations, or what each of them left, hold much of what is in use?",
                figures: say!(
                    "{} left by earlier iterations, {} in use",
                    figure::bytes(bytes),
                    figure::bytes(self.case.live_bytes())
                ),
                is_yes: self.leaked().is_some(),
            });
        }
        let is_retained = matches!(self.cause, Some(Cause::Retained) | None) && self.is_leak();
        let kind =
            self.retained.iter().filter(|_| is_retained).flat_map(|retained| retained.asked.iter().cloned());
        asked.extend(kind);
        asked
    }

    /// What counts as leaked without an OOM: a large retained graph, which nobody keeps on purpose, or much memory that each
    /// repetition adds to.
    pub(super) fn leaked(&self) -> Option<&Retained> {
        let is_leak = |retained: &&Retained| retained.is_graph() || retained.steady.is_some();
        let is_much = |retained: &&Retained| MUCH.is_reached(retained.bytes, self.case.live_bytes());
        self.retained.as_ref().filter(is_leak).filter(is_much)
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
