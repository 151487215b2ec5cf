//! What came of a simulation.

use super::{Counters, Settings};
use crate::model::{EventIx, StepCurve};

/// A request that could not be met in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedOom {
    /// The event that recorded the request.
    pub event: EventIx,
    /// Bytes that were asked for.
    pub requested_bytes: u64,
    /// Bytes that were reserved after everything cached had been given back.
    pub reserved_bytes: u64,
}

/// How far the answer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To the end of the recording.
    End,
    /// To a request that was not met under the simulated settings, but was when recording: what the
    /// program would have done then is not known.
    Oom(EventIx),
    /// To a request that was not met when recording, but is under the simulated settings: what the
    /// program would have done then is not known.
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
    /// How far the answer reaches.
    pub reach: Reach,
    /// The largest free block at the OOM, or else when most was reserved, in bytes.
    pub largest_hole_bytes: u64,
    /// All free bytes at that moment.
    pub hole_bytes: u64,
    /// The first event after which most was reserved; `None` before the first.
    pub peak_event: Option<EventIx>,
    /// Reserved bytes over the moments of the recording.
    pub reserved: StepCurve,
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

    /// Whether every request was met.
    pub fn fits(&self) -> bool {
        self.oom.is_none()
    }

    /// Calls of `cudaMalloc`.
    pub fn segment_allocs(&self) -> u64 {
        self.counters.segment_allocs
    }
}
