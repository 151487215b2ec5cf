//! Trying a remedy: the requests of the changed program added up, and replayed through the allocator.

use super::offer::{Change, Offer};
use super::outcome::Figures;
use super::scene::Scene;
use crate::simulator::{Device, Outcome, Profile, Program, Reach, Settings};

/// The outcome of a program.
pub(super) struct Tried {
    pub(super) figures: Figures,
    pub(super) profile: Profile,
    pub(super) fits: Option<bool>,
    pub(super) margin: Option<i64>,
}

/// Make the changes of some offers, and see what becomes of the program.
pub(super) fn try_out(scene: &Scene<'_>, recorded: &Program<'_>, combination: &[&Offer<'_>]) -> Tried {
    let mut program = recorded.clone();
    let mut settings = scene.subject.recorded_settings().clone();
    for offer in combination {
        match &offer.change {
            Change::Program(change) => change(&mut program),
            // Wrong settings are refused where they are read.
            Change::Setting(name, value) => settings.set(name, value).unwrap_or_default(),
        }
    }
    let (peak, profile) = program.sums();
    let limit = scene.device.limit_bytes();
    let outcome = scene.subject.simulate_program(&program, &settings, &scene.device);
    let (peak_allocated, peak_reserved) = peaks(scene, &program, &settings, &outcome);
    let figures = Figures { peak_requested: peak.bytes, peak_allocated, peak_reserved };
    let margin = limit.map(|limit| margin(&outcome, limit));
    let fits = limit.map(|_| outcome.fits());
    Tried { figures, profile, fits, margin }
}

/// The peaks of allocated and reserved bytes. A request that failed again counts with what it would have taken. If another
/// one fails, the peaks are those of a device that is large enough.
fn peaks(scene: &Scene<'_>, program: &Program<'_>, settings: &Settings, outcome: &Outcome) -> (u64, u64) {
    let peaks = |outcome: &Outcome| (outcome.peak_allocated_bytes(), outcome.peak_reserved_bytes());
    match (outcome.oom, outcome.reach) {
        (Some(_), Reach::Oom(_)) => {
            let device = Device { capacity_bytes: None, allowed_bytes: None, ..scene.device };
            peaks(&scene.subject.simulate_program(program, settings, &device))
        }
        (Some(oom), _) => {
            let (allocated, reserved) = peaks(outcome);
            (allocated, reserved.max(oom.reserved_bytes.saturating_add(oom.requested_bytes)))
        }
        (None, _) => peaks(outcome),
    }
}

/// Bytes that are left or missing where it is tightest.
fn margin(outcome: &Outcome, limit: u64) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    match outcome.oom {
        None => signed(limit).saturating_sub(signed(outcome.peak_allocated_bytes())),
        Some(oom) => {
            let left = signed(limit).saturating_sub(signed(oom.reserved_bytes));
            left.saturating_sub(signed(oom.requested_bytes)).min(-1)
        }
    }
}
