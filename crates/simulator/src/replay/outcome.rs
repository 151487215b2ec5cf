//! The result of a simulation.

use crate::allocator::Counters;
use crate::program::Profile;
use crate::settings::Settings;
use crate::until::Until;
use oomscope_model::{Bytes, EventIx, StepCurve};

/// A request that could not be met in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedOom {
    /// The event that recorded the request.
    pub event: EventIx,
    /// Requested bytes.
    pub requested_bytes: u64,
    /// Bytes that were reserved after everything cached had been given back.
    pub reserved_bytes: u64,
}

/// How far a simulation reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To the end of the recording.
    End,
    /// To a request that failed in the simulation and not in the recording. What the program would have done after
    /// that is unknown.
    Oom(EventIx),
    /// To a request that failed in the recording and not in the simulation. What the program would have done after that
    /// is unknown.
    RecordedOom(EventIx),
}

/// A recording under other settings, or the same.
#[derive(Debug)]
pub struct Outcome {
    /// The settings.
    pub settings: Settings,
    /// Totals and their peaks, as `torch.cuda.memory_stats()` has them.
    pub counters: Counters,
    /// The first request that could not be met.
    pub oom: Option<SimulatedOom>,
    /// How far the simulation reaches.
    pub reach: Reach,
    /// Bytes of the largest free block at the OOM, or else when most was reserved.
    pub largest_hole_bytes: u64,
    /// Bytes of all free blocks at that moment.
    pub hole_bytes: u64,
    /// The first event after which most was reserved; `None` if that was so before the first event.
    pub peak_event: Option<EventIx>,
    /// Reserved bytes over the moments of the recording.
    pub reserved: StepCurve,
    /// The most bytes that could be reserved; `None` for any number.
    pub limit_bytes: Option<u64>,
    /// How far the answer reaches if it fits.
    pub until: Until,
}

/// What is left of a limit once this many bytes are reserved; negative if they are too many.
pub fn margin_bytes(limit_bytes: u64, reserved_bytes: u64) -> Bytes {
    Bytes::clamped(i128::from(limit_bytes) - i128::from(reserved_bytes))
}

impl Outcome {
    /// The most bytes that were reserved.
    pub fn peak_reserved_bytes(&self) -> u64 {
        self.counters.reserved_bytes.peak
    }

    /// The most bytes of blocks that the program held, with rounding.
    pub fn peak_allocated_bytes(&self) -> u64 {
        self.counters.allocated_bytes.peak
    }

    /// Whether every request was met, and all that was reserved, before the first event too, lay within the limit.
    pub fn fits(&self) -> bool {
        self.oom.is_none() && self.margin_bytes().is_none_or(|margin| 0 <= margin)
    }

    /// The bytes that are to spare if it fits: the limit less the most that was reserved. Negative, the bytes that are missing at
    /// least. `None` without a limit.
    pub fn margin_bytes(&self) -> Option<Bytes> {
        let limit = self.limit_bytes?;
        let margin = margin_bytes(limit, self.peak_reserved_bytes());
        let Some(oom) = self.oom else { return Some(margin) };
        let wanted = oom.reserved_bytes.saturating_add(oom.requested_bytes);
        Some(margin.min(margin_bytes(limit, wanted)).min(Bytes(-1)))
    }

    /// The most reserved bytes in each of so many stretches of some moments, up to the first request that could not be met.
    pub fn reserved_profile(&self, moments: usize, stretches: usize) -> Profile {
        let end = self.oom.map_or(moments, |oom| oom.event.0 as usize + 1);
        let ranges = (0..stretches).map(|stretch| Profile::range(stretch, stretches, moments));
        let reached = ranges.take_while(|range| range.start < end);
        Profile::of(reached.map(|range| self.reserved.max_in(range).as_u64()).collect())
    }

    /// Calls of `cudaMalloc`.
    pub fn segment_allocs(&self) -> u64 {
        self.counters.segment_allocs
    }
}
