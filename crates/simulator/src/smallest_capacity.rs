//! The smallest device on which a recording fits.

use super::replay::Outcome;
use super::settings::{Device, Settings};
use super::subject::Subject;
use oomscope_model::allocator_sizes::ROUND_LARGE;

/// The smallest capacity is found to this many bytes, which segments are a multiple of.
const STEP_BYTES: u64 = ROUND_LARGE.unsigned_abs();

/// The outcome with the smallest capacity that meets every request, and that capacity in bytes, to 2 MiB.
///
/// The search assumes that a larger capacity is never worse than a smaller one. With garbage collection that need not
/// hold; then the result is one of several boundaries.
pub fn smallest_capacity(subject: &Subject, settings: &Settings) -> Option<(Outcome, u64)> {
    let on = |capacity: u64| {
        let device = Device { capacity_bytes: Some(capacity), allowed_bytes: None, ..subject.device() };
        subject.simulate(settings, &device)
    };
    let free =
        subject.simulate(settings, &Device { capacity_bytes: None, allowed_bytes: None, ..subject.device() });
    if !free.fits() {
        return None;
    }
    let mut low = free.counters.active_bytes.peak / STEP_BYTES;
    let mut high = free.peak_reserved_bytes().div_ceil(STEP_BYTES);
    let mut best = on(high * STEP_BYTES);
    if !best.fits() {
        return None;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        let outcome = on(middle * STEP_BYTES);
        if outcome.fits() {
            (high, best) = (middle, outcome);
        } else {
            low = middle;
        }
    }
    Some((best, high * STEP_BYTES))
}
