//! Pinned host memory.

use crate::assessment::Assessment;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_model::{Bytes, DeviceId};

/// Bytes below which pinned memory is not worth a finding: every data loader takes some.
const MIN_BYTES: Bytes = Bytes(1 << 30);

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some(host) = case.recording.snapshot().timeline(DeviceId::HOST) else { return Vec::new() };
    let (_, reserved) = host.reserved.peak();
    if case.recording.device == DeviceId::HOST || reserved < MIN_BYTES {
        return Vec::new();
    }
    let title = say!("{} of host memory were pinned", figure::bytes(reserved));
    let mut finding = Finding::new(FindingId::PinnedHostMemory, Severity::Info, title);
    finding.explain("Pinned memory is taken from all processes of the machine. Its allocator rounds each block up to a power of two and never gives it back.");
    finding.evidence.bytes("host_peak_reserved_bytes", "pinned at most", reserved);
    finding.evidence.bytes("host_peak_active_bytes", "in use at most", host.active.peak().1);
    finding.advise("Pin only what is copied to the device, and reuse the buffers; fewer workers with pin_memory=True, a smaller prefetch_factor.");
    vec![finding]
}
