//! What the allocator counts about itself, as `torch.cuda.memory_stats()` has it.

/// A total and the most that it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Now.
    pub current: u64,
    /// At most so far.
    pub peak: u64,
}

impl Gauge {
    #[inline]
    pub(super) fn add(&mut self, amount: u64) {
        self.current = self.current.saturating_add(amount);
        self.peak = self.peak.max(self.current);
    }

    #[inline]
    pub(super) fn sub(&mut self, amount: u64) {
        self.current = self.current.saturating_sub(amount);
    }

    /// Replace one amount by another in one step.
    #[inline]
    pub(super) fn swap(&mut self, gone: u64, come: u64) {
        self.sub(gone);
        self.add(come);
    }
}

/// Totals of a simulated allocator, named as in `torch.cuda.memory_stats()`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of blocks that the program holds, with rounding.
    pub allocated_bytes: Gauge,
    /// The same with blocks that wait for a stream.
    pub active_bytes: Gauge,
    /// Bytes that were asked for, of active blocks.
    pub requested_bytes: Gauge,
    /// Bytes of segments and mapped pages.
    pub reserved_bytes: Gauge,
    /// Free bytes in segments that also hold something else; expandable segments do not count.
    pub inactive_split_bytes: Gauge,
    /// Number of such free blocks.
    pub inactive_split: Gauge,
    /// Number of active blocks.
    pub active: Gauge,
    /// Number of segments, expandable ones left out.
    pub segment: Gauge,
    /// Calls of `cudaMalloc` that succeeded.
    pub segment_allocs: u64,
    /// Calls of `cudaFree`.
    pub segment_frees: u64,
    /// Times that pages were mapped.
    pub segment_maps: u64,
    /// Times that pages were unmapped.
    pub segment_unmaps: u64,
    /// Times that everything cached was given back to try once more.
    pub num_alloc_retries: u64,
    /// Requests that could not be met.
    pub num_ooms: u64,
}
