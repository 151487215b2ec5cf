//! Memory of the device that is neither in the pool nor free: other processes, other libraries.

use crate::diagnosis::{Context, Finding, Saving, Shortage};
use crate::model::Moment;
use crate::units;

const GIB: i64 = 1 << 30;

/// What a CUDA context, cuBLAS and a communicator take is nothing to report.
const USUAL_BYTES: i64 = 3 * GIB / 2;

/// How sure it is that something outside of PyTorch holds memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) enum Basis {
    /// The user said how much memory the device has.
    Told,
    /// PyTorch had more earlier in the same recording.
    Earlier(Moment),
    /// No common device has so little memory; the next larger one has this much.
    Sizes(i64),
}

/// Memory that PyTorch could not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) struct Outside {
    pub(super) bytes: i64,
    pub(super) basis: Basis,
}

/// What is not accounted for, if it is more than usual.
pub(super) fn outside(context: &Context<'_>, shortage: &Shortage) -> Option<Outside> {
    // Where the device had enough left, nothing outside is in the way.
    if shortage.is_refused_by_limit() {
        return None;
    }
    let available = shortage.available_bytes()?;
    if let Some(device) = context.device_memory {
        let bytes = device.saturating_sub(available);
        return is_unusual(bytes, device).then_some(Outside { bytes, basis: Basis::Told });
    }
    earlier(context, available).or_else(|| by_size(available))
}

fn is_unusual(bytes: i64, device: i64) -> bool {
    USUAL_BYTES.min(device / 8) < bytes && device / 16 < bytes
}

/// PyTorch had reserved more before, or could have: then something else has taken it since.
fn earlier(context: &Context<'_>, available: i64) -> Option<Outside> {
    let timeline = context.timeline;
    let (at, reserved) = timeline.reserved.peak_in(0..context.moment.index())?;
    let ooms = timeline.ooms.iter().filter(|oom| Moment::after(oom.event) < context.moment);
    let could = ooms.filter_map(|oom| {
        let moment = Moment::after(oom.event);
        let free = oom.device_free.filter(|&free| 0 <= free)?;
        Some((timeline.reserved.at(moment).saturating_add(free), moment))
    });
    let (most, at) = could.chain([(reserved, at)]).max()?;
    let bytes = most.saturating_sub(available);
    (GIB / 4 < bytes && most / 20 < bytes).then_some(Outside { bytes, basis: Basis::Earlier(at) })
}

/// Memory of common devices, as the driver states it, in MiB.
const DEVICES_MIB: [i64; 24] = [
    6_144, 8_192, 10_240, 11_264, 12_288, 15_360, 16_384, 20_480, 22_731, 24_576, 32_768, 40_960, 45_568,
    46_068, 49_152, 65_536, 81_920, 96_256, 98_304, 131_072, 144_384, 184_320, 196_608, 294_912,
];

/// Below this, devices and their slices come in too many sizes.
const MIN_JUDGED: i64 = 6 * GIB;

fn by_size(available: i64) -> Option<Outside> {
    if available < MIN_JUDGED {
        return None;
    }
    let device = DEVICES_MIB.iter().map(|mib| mib << 20).find(|&device| available < device)?;
    let bytes = device - available;
    // A device of this size, less what is usually taken.
    (USUAL_BYTES.max(device / 12) < bytes).then_some(Outside { bytes, basis: Basis::Sizes(device) })
}

/// How it is known, and who may hold it.
pub(super) fn describe(finding: &mut Finding, shortage: &Shortage, outside: Outside) {
    let bytes = units::bytes(outside.bytes);
    let available = shortage.available_bytes().map_or_else(String::new, units::bytes);
    finding.evidence.bytes("outside_bytes", "neither in PyTorch's pool nor free", outside.bytes);
    match outside.basis {
        Basis::Told => finding.explain(format!(
            "Of the device's memory, as it was given, PyTorch could have {available}; {bytes} are neither in its pool nor free."
        )),
        Basis::Earlier(at) => {
            let event = at.event().map_or_else(|| "Before the first event".to_owned(), |e| format!("After event {}", units::count(e.0)));
            finding.evidence.events.extend(at.event());
            finding.explain(format!(
                "{event} PyTorch had, or could have had, {bytes} more than the {available} at this moment. Something else on the device has taken them since."
            ));
        }
        Basis::Sizes(device) => {
            finding.explain(format!(
                "PyTorch could have {available} in all. No common GPU has so little; if it is one with {}, then {bytes} are held by something else.",
                units::bytes(device)
            ));
            finding.limit("The device's memory is not in the recording. A GPU slice (MIG, vGPU) of this size would explain it as well: give --capacity to be sure.");
        }
    }
    finding.advise_code("See who else uses the device while the job runs: other processes, a notebook that was left open, the display, or several ranks on one GPU.", "nvidia-smi");
    finding.advise("In the process itself, NCCL communicators, cuDNN and cuBLAS workspaces, CUDA graphs, other libraries (CuPy, RAPIDS, TensorRT, JAX) and a context on a device that is not meant (set_device before anything else) take memory that PyTorch does not count.");
    finding.saving = Some(Saving {
        bytes: outside.bytes,
        formula: "the device's memory - (reserved + free on the device)".to_owned(),
    });
    finding.confirm = Some(
        "Compare torch.cuda.mem_get_info() at the start of the program with the size of the device."
            .to_owned(),
    );
    finding.limit("A snapshot does not name what is outside of PyTorch's allocator.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_with_what_is_usually_taken_is_not_suspicious() {
        let mib = |mib: i64| mib << 20;
        for (device, taken) in [(24_576, 460), (81_079, 460), (40_960, 1_500), (16_384, 460), (15_109, 500)] {
            assert_eq!(by_size(mib(device - taken)), None, "{device} MiB");
        }
        let taken = by_size(mib(24_576 - 12_000)).expect("12.3 GiB is no device");
        assert_eq!(taken, Outside { bytes: mib(15_360 - 12_576), basis: Basis::Sizes(mib(15_360)) });
        assert_eq!(by_size(mib(4_212)), None);
    }
}
