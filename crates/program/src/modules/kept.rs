//! What a forward keeps until its end.

use crate::run::Run;
use oomscope_model::{AllocId, StackId};
use std::ops::Range;

/// What some consecutive allocations of a forward keep, in sums.
pub(crate) struct Kept<'a> {
    run: &'a Run<'a>,
    /// The first of the allocations.
    first: u32,
    /// The sum of what is kept before each, in bytes; the last one is that of all.
    sums: Vec<u64>,
}

impl<'a> Kept<'a> {
    /// Add up what the allocations keep, given which are kept.
    pub(crate) fn of(run: &'a Run<'a>, ids: &[AllocId], is_kept: impl Fn(AllocId) -> bool) -> Self {
        let mut sum = 0u64;
        let mut sums = vec![0];
        sums.extend(ids.iter().map(|&id| {
            sum = sum.saturating_add(if is_kept(id) { run.bytes(id) } else { 0 });
            sum
        }));
        Self { run, first: ids.first().map_or(0, |first| first.0), sums }
    }

    fn sum_to(&self, id: u32) -> u64 {
        let all = self.sums.last().copied().unwrap_or(0);
        self.sums.get(id.saturating_sub(self.first) as usize).copied().unwrap_or(all)
    }

    /// What allocations in a range of ids keep, in bytes.
    pub(super) fn bytes(&self, ids: Range<u32>) -> u64 {
        self.sum_to(ids.end) - self.sum_to(ids.start)
    }

    /// The largest that is kept of what the last line with something kept made, in bytes: what a block of these allocations
    /// returns.
    pub(super) fn result_bytes(&self, ids: Range<u32>) -> u64 {
        let is_kept = |id: &u32| self.bytes(*id..id + 1) != 0;
        let stack = |id: u32| self.run.recording.stack(AllocId(id));
        let mut last: Option<StackId> = None;
        let of_last = ids.rev().filter(is_kept).take_while(|&id| *last.get_or_insert(stack(id)) == stack(id));
        of_last.map(|id| self.bytes(id..id + 1)).max().unwrap_or(0)
    }
}
