//! The result of a simulation.

use crate::model::{EventIx, StepCurve};
use crate::simulator::allocator::Counters;
use crate::simulator::settings::Settings;

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
