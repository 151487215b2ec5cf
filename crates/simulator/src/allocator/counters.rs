//! The allocator's own counters, as `torch.cuda.memory_stats()` has them.

/// A total, its peak, and all that was ever added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Now.
    pub current: u64,
    /// The most so far.
    pub peak: u64,
    /// The sum of all increases. What it exceeds `current` by was taken away.
    pub allocated: u64,
}

impl Gauge {
    #[inline]
    pub(super) fn add(&mut self, amount: u64) {
        self.current = self.current.saturating_add(amount);
        self.peak = self.peak.max(self.current);
        self.allocated = self.allocated.saturating_add(amount);
    }

    #[inline]
    pub(super) fn sub(&mut self, amount: u64) {
        debug_assert!(amount <= self.current, "what is taken away was counted before");
        self.current = self.current.saturating_sub(amount);
    }

    /// Replace one amount by another in one step: only the difference counts.
    #[inline]
    pub(super) fn swap(&mut self, gone: u64, come: u64) {
        match come.checked_sub(gone) {
            Some(more) => self.add(more),
            None => self.sub(gone - come),
        }
    }
}

/// Totals of a simulated allocator, named as in `torch.cuda.memory_stats()`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of blocks that the program holds, with rounding.
    pub allocated_bytes: Gauge,
    /// Bytes of blocks that the program holds or that wait for a stream, with rounding.
    pub active_bytes: Gauge,
    /// Requested bytes of active blocks.
    pub requested_bytes: Gauge,
    /// Bytes of segments and mapped pages.
    pub reserved_bytes: Gauge,
    /// Free bytes in segments that also hold something else; expandable segments do not count.
    pub inactive_split_bytes: Gauge,
    /// Number of such free blocks.
    pub inactive_split: Gauge,
    /// Number of blocks that the program holds.
    pub allocation: Gauge,
    /// Number of active blocks.
    pub active: Gauge,
    /// Number of segments, expandable ones left out.
    pub segment: Gauge,
    /// Number of blocks that the program holds which are too large to be split, by `max_split_size_mb`.
    pub oversize_allocations: Gauge,
    /// Number of such segments.
    pub oversize_segments: Gauge,
    /// Calls of `cudaMalloc` that succeeded.
    pub segment_allocs: u64,
    /// Calls of `cudaFree`.
    pub segment_frees: u64,
    /// Number of times that pages were mapped.
    pub segment_maps: u64,
    /// Number of times that pages were unmapped.
    pub segment_unmaps: u64,
    /// Number of times that everything cached was given back for a request.
    pub num_alloc_retries: u64,
    /// Number of requests that could not be met.
    pub num_ooms: u64,
}
