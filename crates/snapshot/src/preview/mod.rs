//! What can be seen of a snapshot while it is still being decoded: its final segments, and the shape of the curve so far.

mod outline;

pub use outline::Outline;

use oomscope_model::{Block, Bytes, DeviceId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Segments of a device that are kept one by one; of further ones, only the sums are.
const MAX_SEGMENTS: usize = 4096;

/// Traces whose outline is kept: those of sixteen devices, and then some.
const MAX_TRACES: usize = 64;

/// What a decoder lets others see of its progress, from any thread.
#[derive(Debug, Default)]
pub struct Preview {
    events: AtomicU64,
    /// `None` where nobody looks.
    seen: Option<Mutex<Seen>>,
}

/// What was seen of a snapshot so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The final segments of each device.
    pub segments: BTreeMap<DeviceId, SeenSegments>,
    /// The outline of allocated bytes of each trace that has events, by the number of its list, which is the order of the file.
    pub traces: BTreeMap<u32, Outline>,
}

/// The final segments of a device so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenSegments {
    /// Number of segments.
    pub count: usize,
    /// Bytes reserved from the driver.
    pub reserved_bytes: Bytes,
    /// Requested bytes of blocks that are allocated, or wait for another stream.
    pub active_bytes: Bytes,
    /// Bytes of each segment and of its active blocks, in file order, up to a limit.
    pub sizes: Vec<(Bytes, Bytes)>,
}

impl Preview {
    /// One that shows segments and curves, too. Others count events only.
    pub fn of_all() -> Self {
        Self { seen: Some(Mutex::default()), ..Self::default() }
    }

    /// Number of events that were decoded.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// What was seen so far; `None` if only events are counted.
    pub fn seen(&self) -> Option<Seen> {
        self.lock().map(|seen| seen.clone())
    }

    /// `events` were decoded.
    pub(super) fn set_events(&self, events: usize) {
        self.events.store(events as u64, Ordering::Relaxed);
    }

    pub(super) fn lock(&self) -> Option<MutexGuard<'_, Seen>> {
        Some(self.seen.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Seen {
    pub(super) fn add_segment(&mut self, device: DeviceId, size: Bytes, blocks: &[Block]) {
        let segments = self.segments.entry(device).or_default();
        let active = blocks.iter().filter(|block| block.is_active());
        let active = active.map(|block| block.requested).sum::<Bytes>();
        segments.count += 1;
        segments.reserved_bytes += size;
        segments.active_bytes += active;
        if segments.sizes.len() < MAX_SEGMENTS {
            segments.sizes.push((size, active));
        }
    }

    pub(super) fn trace(&mut self, list: u32) -> Option<&mut Outline> {
        if self.traces.len() < MAX_TRACES || self.traces.contains_key(&list) {
            return Some(self.traces.entry(list).or_default());
        }
        None
    }
}
