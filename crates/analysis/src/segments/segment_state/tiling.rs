//! The segment map before the last event: live allocations are laid into reserved runs.

use super::builder::{Builder, bytes_between};
use super::contradictions::Contradiction;
use super::part::{Content, Part};
use super::reserved::Run;
use oomscope_model::allocator_sizes::block_size;
use oomscope_model::{AllocId, Bytes};

/// A live allocation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    pub(super) addr: u64,
    /// Bytes that the program asked for, as recorded.
    pub(super) requested: Bytes,
    pub(super) id: AllocId,
    pub(super) is_awaiting: bool,
    /// True if it is live after the last event.
    pub(super) survives: bool,
}

impl Live {
    pub(super) fn content(&self) -> Content {
        if self.is_awaiting { Content::Awaiting(Some(self.id)) } else { Content::Allocated(Some(self.id)) }
    }
}

/// A sweep over addresses, which lays allocations into runs.
pub(super) struct Tiling<'a> {
    pub(super) builder: &'a mut Builder,
    /// The live allocations, by address.
    pub(super) live: &'a [Live],
    /// Address and rounded size of the blocks that survive, by address, from the sweep's place on.
    pub(super) survivors: &'a [(u64, Bytes)],
    /// True for pinned host memory, where a block takes its whole segment.
    pub(super) is_host: bool,
}

/// The end of a block.
struct Extent {
    /// First address after its requested bytes.
    requested_end: u64,
    /// First address after its rounding, if no other block is in the way.
    rounded_end: u64,
}

impl Tiling<'_> {
    /// Tile runs, which are ordered by address.
    pub(super) fn tile(mut self, runs: &[Run]) {
        self.builder.reserve(self.live.len());
        let (mut next, mut outside) = (0, Vec::new());
        let mut free_from = 0;
        for run in runs {
            if run.addr < free_from {
                self.builder.contradictions.count(Contradiction::SegmentsOverlap);
            }
            let from = run.addr.max(free_from);
            while self.live.get(next).is_some_and(|block| block.addr < from) {
                outside.push(next);
                next += 1;
            }
            if run.past_end <= from {
                continue;
            }
            self.builder.start_run(&Run { addr: from, ..*run });
            next = self.run(from, run.past_end, next);
            free_from = run.past_end;
        }
        outside.extend(next..self.live.len());
        self.outside(&outside);
    }

    /// Tile one run with the blocks from `next` on. Returns the index of the first block after the run.
    fn run(&mut self, from: u64, to: u64, mut next: usize) -> usize {
        let mut at = from;
        while let Some(block) = self.live.get(next).copied().filter(|block| block.addr < to) {
            next += 1;
            let extent = self.extent(&block, to);
            if to < extent.requested_end {
                self.builder.contradictions.count(Contradiction::BeyondSegment);
            }
            let following = self.live.get(next).map_or(u64::MAX, |block| block.addr);
            let is_crowded = following < extent.requested_end.max(extent.rounded_end) && following < to;
            // In host memory the end of a block is a guess, so that another block before it is no
            // contradiction.
            if is_crowded && !self.is_host {
                self.builder.contradictions.count(Contradiction::Overlap);
            }
            // Requested bytes win over the block that follows, rounding does not: it may be a guess.
            let start = block.addr.max(at);
            let end = extent.requested_end.max(extent.rounded_end.min(following)).min(to);
            if end <= start {
                self.builder.contradictions.hidden.push(block.id);
                continue;
            }
            self.builder.hole(at, start);
            self.builder.push(Part {
                addr: start,
                size: bytes_between(start, end),
                requested: bytes_between(start, extent.requested_end.min(end)),
                content: block.content(),
            });
            at = end;
        }
        self.builder.hole(at, to);
        next
    }

    fn extent(&mut self, block: &Live, limit: u64) -> Extent {
        if block.requested <= 0 {
            self.builder.contradictions.count(Contradiction::NoSize);
        }
        let requested = block.requested.or_zero();
        let past = |bytes: Bytes| block.addr.saturating_add(bytes.unsigned_abs());
        let rounded_end = match self.known_size(block) {
            Some(size) => past(size.max(requested)),
            None if self.is_host => limit,
            None => past(block_size(requested)),
        };
        Extent { requested_end: past(requested), rounded_end }
    }

    /// The true size of a block that survives. Blocks come by address, so those before it are dropped.
    fn known_size(&mut self, block: &Live) -> Option<Bytes> {
        if !block.survives {
            return None;
        }
        let skip = self.survivors.iter().take_while(|&&(addr, _)| addr < block.addr).count();
        self.survivors = &self.survivors[skip..];
        self.survivors.first().filter(|&&(addr, _)| addr == block.addr).map(|&(_, size)| size)
    }

    /// Add the blocks that lie in no run, by their indices.
    fn outside(&mut self, blocks: &[usize]) {
        for &i in blocks {
            let block = self.live[i];
            if block.requested <= 0 {
                self.builder.contradictions.count(Contradiction::NoSize);
            }
            let requested = block.requested.or_zero();
            let past_end = block.addr.saturating_add(block_size(requested).unsigned_abs());
            let size = bytes_between(block.addr, past_end);
            let part =
                Part { addr: block.addr, size, requested: requested.min(size), content: block.content() };
            self.builder.outside(part);
            if size == 0 {
                self.builder.contradictions.hidden.push(block.id);
            }
        }
    }
}
