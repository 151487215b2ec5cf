//! A handle to one device of a file.

use super::{AllocId, Allocation, Bytes, DeviceId, Event, Lifetimes, Moment, Snapshot, StackId, Timeline};
use std::ops::Deref;
use std::sync::Arc;

/// One device of a loaded file: a shared snapshot and one of its timelines, or what [continues](Self::continued) it.
///
/// Cloning is cheap. Two recordings are equal if they have the same timeline of the same loaded file, continued by the same call if
/// at all. A recording dereferences to its [`Timeline`].
#[derive(Debug, Clone)]
pub struct Recording {
    snapshot: Arc<Snapshot>,
    timeline: Arc<Timeline>,
}

impl Recording {
    /// The recordings of all devices, in the snapshot's order.
    pub fn all(snapshot: &Arc<Snapshot>) -> impl ExactSizeIterator<Item = Self> + use<> {
        let snapshot = Arc::clone(snapshot);
        (0..snapshot.timelines.len()).map(move |at| Self {
            timeline: Arc::clone(&snapshot.timelines[at]),
            snapshot: Arc::clone(&snapshot),
        })
    }

    /// The recording to show first; see [`Snapshot::main_timeline`].
    pub fn main(snapshot: &Arc<Snapshot>) -> Option<Self> {
        Self::of_device(snapshot, snapshot.main_timeline()?.device)
    }

    /// The first `count` events of the device, and others after them; see [`Timeline::continued`]. The snapshot stays as it was.
    pub fn continued(&self, count: u32, others: &[Event]) -> Self {
        Self { timeline: Arc::new(self.timeline.continued(count, others)), ..self.clone() }
    }

    /// The recording of the only device of a file; the snapshot has everything else.
    pub fn only(snapshot: Snapshot, timeline: Timeline) -> Self {
        let timeline = Arc::new(timeline);
        let snapshot = Arc::new(Snapshot { timelines: vec![Arc::clone(&timeline)], ..snapshot });
        Self { snapshot, timeline }
    }

    /// The recording of a device; `None` if the file does not have the device.
    pub fn of_device(snapshot: &Arc<Snapshot>, device: DeviceId) -> Option<Self> {
        Self::all(snapshot).find(|recording| recording.device == device)
    }

    /// The device's memory as the user says it of all devices; `None` where a failed request, the recorder or an estimate shows
    /// it, or where more was reserved, which the user's word must not override, and of the host.
    pub fn assumed_memory(&self) -> Option<Bytes> {
        let is_stated = !self.ooms.is_empty()
            || self.snapshot.device_memory(self.device).is_some()
            || self.snapshot.estimate().is_some()
            || self.device == DeviceId::HOST;
        let most_reserved = self.reserved.peak().1;
        self.snapshot.assumed.device_memory.filter(|&bytes| !is_stated && most_reserved <= bytes)
    }

    /// The snapshot, which all devices of the file share.
    #[inline]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The timeline of the device.
    #[inline]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}

impl Deref for Recording {
    type Target = Timeline;

    #[inline]
    fn deref(&self) -> &Timeline {
        self.timeline()
    }
}

impl PartialEq for Recording {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.timeline, &other.timeline)
    }
}

impl Eq for Recording {}

impl Timeline {
    /// The ids of all allocations, in allocation order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = AllocId> + ExactSizeIterator + use<> {
        self.lifetimes.ids()
    }

    /// Everything about one allocation.
    pub fn allocation(&self, id: AllocId) -> Allocation {
        self.lifetimes.get(id, &self.events)
    }

    /// Requested bytes of an allocation.
    #[inline]
    pub fn size(&self, id: AllocId) -> Bytes {
        self.lifetimes.size(id, &self.events)
    }

    /// The stack that made an allocation; see [`Lifetimes::stack`].
    #[inline]
    pub fn stack(&self, id: AllocId) -> StackId {
        self.lifetimes.stack(id, &self.events)
    }

    /// Address of an allocation's first byte.
    #[inline]
    pub fn addr(&self, id: AllocId) -> u64 {
        self.lifetimes.addr(id, &self.events)
    }

    /// First moment at which the program no longer has an allocation; its memory may still wait for a
    /// stream. `None` if the program has it until the end of the trace.
    #[inline]
    pub fn gone(&self, id: AllocId) -> Option<Moment> {
        self.lifetimes.gone(id)
    }
}

impl Lifetimes {
    /// First moment at which the program no longer has an allocation; see [`Timeline::gone`].
    #[inline]
    pub fn gone(&self, id: AllocId) -> Option<Moment> {
        // Events of old PyTorch versions have only the completed free.
        self.requested(id).or(self.end(id))
    }

    /// Whether the program allocated nothing else while it had an allocation, as with the workspace of one kernel. A result
    /// lives on at least until the next operation has used it.
    #[inline]
    pub fn is_fleeting(&self, id: AllocId) -> bool {
        let next = AllocId(id.0.saturating_add(1));
        self.gone(id).is_some_and(|gone| self.len() <= next.index() || gone <= self.start(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, EventTable, SegmentTable, TimelineInput};

    fn snapshot(devices: i64) -> Arc<Snapshot> {
        let timeline = |device| {
            Arc::new(Timeline::build(TimelineInput {
                device: DeviceId(device),
                events: EventTable::default(),
                segments: SegmentTable::default(),
                anchor: Anchor::EndState,
            }))
        };
        Arc::new(Snapshot { timelines: (0..devices).map(timeline).collect(), ..Snapshot::default() })
    }

    #[test]
    fn there_is_one_for_each_device() {
        let found: Vec<_> = Recording::all(&snapshot(2)).map(|recording| recording.device).collect();
        assert_eq!(found, [DeviceId(0), DeviceId(1)]);
        assert_eq!(Recording::all(&snapshot(0)).len(), 0);
        let found = |device| Recording::of_device(&snapshot(2), device).map(|found| found.device);
        assert_eq!([0, 1, 2].map(|n| found(DeviceId(n))), [Some(DeviceId(0)), Some(DeviceId(1)), None]);
    }

    #[test]
    fn equal_means_the_same_device_of_the_same_loaded_file() {
        let (file, again) = (snapshot(2), snapshot(2));
        let [a, b] = [0, 1].map(|at| Recording::all(&file).nth(at));
        assert_eq!(a, a.clone());
        assert_ne!(a, b);
        assert_ne!(a, Recording::all(&again).next());
        let continued = a.as_ref().map(|a| a.continued(0, &[]));
        assert_eq!(continued, continued.clone());
        assert_ne!(a, continued);
    }
}
