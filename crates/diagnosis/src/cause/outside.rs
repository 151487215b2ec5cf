//! Memory of the device that is neither in the pool nor free: other processes, other libraries.

use crate::case::{Case, Shortage};
use oomscope_model::{Bytes, Moment};
use oomscope_program::share::{MUCH, NOTABLE, WORTH};

/// The most bytes that a CUDA context, cuBLAS and a communicator usually take, which is nothing to report.
const USUAL_BYTES: Bytes = Bytes(3 << 29);

/// How it is known that something outside of PyTorch's allocator holds memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutsideBasis {
    /// The user said how much memory the device has.
    Told,
    /// PyTorch had more at an earlier moment of the recording.
    Earlier(Moment),
}

/// Memory that PyTorch could not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outside {
    pub(crate) bytes: Bytes,
    pub(crate) basis: OutsideBasis,
}

/// The memory of the device that is not accounted for, if it is more than usual.
pub(super) fn outside(case: &Case<'_>, shortage: &Shortage) -> Option<Outside> {
    // The device had enough left, so nothing outside is in the way.
    if shortage.is_refused_by_limit() {
        return None;
    }
    let available = shortage.available_bytes()?;
    if let Some(device) = case.device_memory {
        let bytes = device - available;
        // On small devices, less than usual may be much.
        let is_much = USUAL_BYTES < bytes && WORTH.is_reached(bytes, device);
        let is_unusual = is_much || MUCH.is_reached(bytes, device);
        return is_unusual.then_some(Outside { bytes, basis: OutsideBasis::Told });
    }
    earlier(case, available)
}

/// Memory that PyTorch had reserved before, or could have, and that something else has taken since.
fn earlier(case: &Case<'_>, available: Bytes) -> Option<Outside> {
    let timeline = case.recording.timeline();
    let (at, reserved) = timeline.reserved.peak_in(0..case.moment.index())?;
    let ooms = timeline.ooms.iter().filter(|oom| Moment::after(oom.event) < case.moment);
    let could = ooms.filter_map(|oom| {
        let moment = Moment::after(oom.event);
        let free = oom.device_free.filter(|&free| 0 <= free)?;
        Some((timeline.reserved.at(moment) + free, moment))
    });
    let (most, at) = could.chain([(reserved, at)]).max()?;
    let bytes = most - available;
    WORTH.is_reached(bytes, most).then_some(Outside { bytes, basis: OutsideBasis::Earlier(at) })
}

/// Memory of common devices as the driver states it, in MiB.
const DEVICES_MIB: [i64; 24] = [
    6_144, 8_192, 10_240, 11_264, 12_288, 15_360, 16_384, 20_480, 22_731, 24_576, 32_768, 40_960, 45_568,
    46_068, 49_152, 65_536, 81_920, 96_256, 98_304, 131_072, 144_384, 184_320, 196_608, 294_912,
];

/// Devices with less memory than this, in bytes, are rare, and small devices and slices of devices come in too many sizes to say
/// which one it is.
pub(crate) const USUAL_DEVICE_BYTES: Bytes = Bytes(6 << 30);

/// The bytes of the next larger common device, if PyTorch could not have a good part of them: something else may hold it, or
/// the device is an uncommon one or a slice.
pub(crate) fn larger_device(available: Bytes) -> Option<Bytes> {
    if available < USUAL_DEVICE_BYTES {
        return None;
    }
    let device = DEVICES_MIB.iter().map(|mib| Bytes(mib << 20)).find(|&device| available < device)?;
    let bytes = device - available;
    (USUAL_BYTES < bytes && NOTABLE.is_reached(bytes, device)).then_some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_with_what_is_usually_taken_is_not_suspicious() {
        let mib = |mib: i64| Bytes(mib << 20);
        for (device, taken) in [(24_576, 460), (81_079, 460), (40_960, 1_500), (16_384, 460), (15_109, 500)] {
            assert_eq!(larger_device(mib(device - taken)), None, "{device} MiB");
        }
        assert_eq!(larger_device(mib(24_576 - 12_000)), Some(mib(15_360)));
        assert_eq!(larger_device(mib(4_212)), None);
    }
}
