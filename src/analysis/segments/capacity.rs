//! How much a device could give to PyTorch.

use crate::model::{Moment, Timeline};

/// The most that could be reserved on the device.
///
/// That is what was reserved when a request failed, and what the driver still had. Memory of other
/// libraries and processes is not part of it. `None` without an OOM that recorded what was free.
pub fn capacity(timeline: &Timeline) -> Option<i64> {
    let at_oom = timeline.ooms.iter().filter_map(|oom| {
        let free = oom.device_free.filter(|&free| 0 <= free)?;
        Some(timeline.reserved.at(Moment::after(oom.event)).saturating_add(free))
    });
    at_oom.max()
}
