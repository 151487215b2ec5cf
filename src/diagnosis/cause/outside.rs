//! Memory of the device that is neither in the pool nor free: other processes, other libraries.

use crate::diagnosis::case::{Case, Shortage};
use crate::model::Moment;

const GIB: i64 = 1 << 30;

/// The most bytes that a CUDA context, cuBLAS and a communicator usually take, which is nothing to report.
const USUAL_BYTES: i64 = 3 * GIB / 2;

/// On small devices, the usual bytes are at most one in this many of the device's.
const USUAL_PART: i64 = 8;

/// Bytes outside are also nothing to report if they are at most one in this many of the device's.
const SMALL_PART: i64 = 16;

/// PyTorch had more before if the difference is more than this, in bytes: processes that come and go take less.
const MIN_TAKEN_BYTES: i64 = GIB / 4;

/// The difference must also be more than one in this many of the bytes that PyTorch had.
const MIN_TAKEN_PART: i64 = 20;

/// How it is known that something outside of PyTorch's allocator holds memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) enum OutsideBasis {
    /// The user said how much memory the device has.
    Told,
    /// PyTorch had more at an earlier moment of the recording.
    Earlier(Moment),
}

/// Memory that PyTorch could not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) struct Outside {
    pub(in crate::diagnosis) bytes: i64,
    pub(in crate::diagnosis) basis: OutsideBasis,
}

/// The memory of the device that is not accounted for, if it is more than usual.
pub(super) fn outside(case: &Case<'_>, shortage: &Shortage) -> Option<Outside> {
    // The device had enough left, so nothing outside is in the way.
    if shortage.is_refused_by_limit() {
        return None;
    }
    let available = shortage.available_bytes()?;
    if let Some(device) = case.device_memory {
        let bytes = device.saturating_sub(available);
        return is_unusual(bytes, device).then_some(Outside { bytes, basis: OutsideBasis::Told });
    }
    earlier(case, available)
}

fn is_unusual(bytes: i64, device: i64) -> bool {
    USUAL_BYTES.min(device / USUAL_PART) < bytes && device / SMALL_PART < bytes
}

/// Memory that PyTorch had reserved before, or could have, and that something else has taken since.
fn earlier(case: &Case<'_>, available: i64) -> Option<Outside> {
    let timeline = case.timeline;
    let (at, reserved) = timeline.reserved.peak_in(0..case.moment.index())?;
    let ooms = timeline.ooms.iter().filter(|oom| Moment::after(oom.event) < case.moment);
    let could = ooms.filter_map(|oom| {
        let moment = Moment::after(oom.event);
        let free = oom.device_free.filter(|&free| 0 <= free)?;
        Some((timeline.reserved.at(moment).saturating_add(free), moment))
    });
    let (most, at) = could.chain([(reserved, at)]).max()?;
    let bytes = most.saturating_sub(available);
    let is_much = MIN_TAKEN_BYTES < bytes && most / MIN_TAKEN_PART < bytes;
    is_much.then_some(Outside { bytes, basis: OutsideBasis::Earlier(at) })
}

/// Memory of common devices as the driver states it, in MiB.
const DEVICES_MIB: [i64; 24] = [
    6_144, 8_192, 10_240, 11_264, 12_288, 15_360, 16_384, 20_480, 22_731, 24_576, 32_768, 40_960, 45_568,
    46_068, 49_152, 65_536, 81_920, 96_256, 98_304, 131_072, 144_384, 184_320, 196_608, 294_912,
];

/// Less available memory, in bytes, is not judged: small devices and slices of devices come in too many sizes.
const MIN_JUDGED_BYTES: i64 = 6 * GIB;

/// On a device of a common size, less than one in this many of its bytes is usually taken.
const TAKEN_PART: i64 = 12;

/// The bytes of the next larger common device, if PyTorch could not have a good part of them: something else may hold it, or
/// the device is an uncommon one or a slice.
pub(in crate::diagnosis) fn larger_device(available: i64) -> Option<i64> {
    if available < MIN_JUDGED_BYTES {
        return None;
    }
    let device = DEVICES_MIB.iter().map(|mib| mib << 20).find(|&device| available < device)?;
    let bytes = device - available;
    let is_much = USUAL_BYTES.max(device / TAKEN_PART) < bytes;
    is_much.then_some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_with_what_is_usually_taken_is_not_suspicious() {
        let mib = |mib: i64| mib << 20;
        for (device, taken) in [(24_576, 460), (81_079, 460), (40_960, 1_500), (16_384, 460), (15_109, 500)] {
            assert_eq!(larger_device(mib(device - taken)), None, "{device} MiB");
        }
        assert_eq!(larger_device(mib(24_576 - 12_000)), Some(mib(15_360)));
        assert_eq!(larger_device(mib(4_212)), None);
    }
}
