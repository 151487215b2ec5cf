//! The capacity of a device for PyTorch.

use oomscope_model::{Bytes, Moment, Timeline};

/// The most bytes that could be reserved on the device.
///
/// They are the bytes that were reserved when a request failed, and those that the driver still had.
/// Memory of other libraries and processes is not among them. `None` without an OOM that recorded the
/// free bytes.
pub fn capacity(timeline: &Timeline) -> Option<Bytes> {
    let at_oom = timeline.ooms.iter().filter_map(|oom| {
        let free = oom.device_free.filter(|&free| 0 <= free)?;
        Some(timeline.reserved.at(Moment::after(oom.event)) + free)
    });
    at_oom.max()
}
