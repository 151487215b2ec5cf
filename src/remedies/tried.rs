//! Trying a remedy: the requests of the changed program added up, and replayed through the allocator.

use super::offer::{Change, Offer};
use super::outcome::Figures;
use super::scene::Scene;
use crate::simulator::{Device, Outcome, Profile, Program, Reach, Settings, margin_bytes};

/// The outcome of a program.
pub(super) struct Tried {
    pub(super) figures: Figures,
    pub(super) profile: Profile,
    /// The most bytes that could be reserved, if that is known.
    pub(super) limit_bytes: Option<u64>,
    /// Bytes to spare; negative, those that are missing.
    pub(super) margin: Option<i64>,
}

impl Tried {
    /// Whether every request is met within the limit; `None` where none is known.
    pub(super) fn fits(&self) -> Option<bool> {
        self.margin.map(|margin| 0 <= margin)
    }

    /// The recorded program under its own settings.
    pub(super) fn recorded(scene: &Scene<'_>, program: &Program<'_>) -> Self {
        let (peak, profile) = program.sums();
        Self::simulated(scene, peak.bytes, profile, &|device| {
            scene.subject.simulate(scene.subject.recorded_settings(), device)
        })
    }

    /// The program with the changes of some offers.
    pub(super) fn of(
        scene: &Scene<'_>,
        program: &Program<'_>,
        recorded: &Self,
        combination: &[&Offer<'_>],
    ) -> Self {
        let settings = settings(scene, combination);
        if combination.iter().all(|offer| matches!(offer.change, Change::Setting(..))) {
            let simulate = |device: &Device| scene.subject.simulate(&settings, device);
            return Self::simulated(
                scene,
                recorded.figures.peak_requested,
                recorded.profile.clone(),
                &simulate,
            );
        }
        let program = changed(program, combination);
        let (peak, profile) = program.sums();
        if combination.iter().any(|offer| offer.is_bound) {
            return recorded.shifted(peak.bytes, profile);
        }
        let simulate = |device: &Device| scene.subject.simulate_program(&program, &settings, device);
        Self::simulated(scene, peak.bytes, profile, &simulate)
    }

    /// The same without a replay: as many allocated and reserved bytes are saved as requested ones.
    pub(super) fn estimated(program: &Program<'_>, recorded: &Self, combination: &[&Offer<'_>]) -> Self {
        let (peak, profile) = changed(program, combination).sums();
        recorded.shifted(peak.bytes, profile)
    }

    fn simulated(
        scene: &Scene<'_>,
        peak_requested: u64,
        profile: Profile,
        simulate: &dyn Fn(&Device) -> Outcome,
    ) -> Self {
        let outcome = simulate(&scene.device);
        let (peak_allocated, peak_reserved) = peaks(scene, &outcome, simulate);
        Self {
            figures: Figures { peak_requested, peak_allocated, peak_reserved },
            profile,
            limit_bytes: outcome.limit_bytes,
            margin: outcome.margin_bytes(),
        }
    }

    /// The figures of a bound: it saves as many allocated and reserved bytes as requested ones.
    fn shifted(&self, peak_requested: u64, profile: Profile) -> Self {
        let before = self.figures;
        let shift = |bytes: u64| {
            let less = before.peak_requested.saturating_sub(peak_requested);
            let more = peak_requested.saturating_sub(before.peak_requested);
            bytes.saturating_sub(less).saturating_add(more).max(peak_requested)
        };
        let (peak_allocated, peak_reserved) = (shift(before.peak_allocated), shift(before.peak_reserved));
        let figures = Figures { peak_requested, peak_allocated, peak_reserved };
        let margin = self.limit_bytes.map(|limit| margin_bytes(limit, peak_reserved));
        Self { figures, profile, limit_bytes: self.limit_bytes, margin }
    }
}

/// A program with the changes of some offers.
pub(super) fn changed<'a>(program: &Program<'a>, combination: &[&Offer<'_>]) -> Program<'a> {
    let mut program = program.clone();
    for offer in combination {
        if let Change::Program(change) = &offer.change {
            change(&mut program);
        }
    }
    program
}

/// The recorded settings with those that some offers change.
fn settings(scene: &Scene<'_>, combination: &[&Offer<'_>]) -> Settings {
    let mut settings = scene.subject.recorded_settings().clone();
    for offer in combination {
        if let Change::Setting(name, value) = &offer.change {
            // Wrong settings are refused where they are read.
            settings.set(name, value).unwrap_or_default();
        }
    }
    settings
}

/// The peaks of allocated and reserved bytes. A request that failed again counts with what it would have taken. If another
/// one fails, the peaks are those of a device that is large enough.
fn peaks(scene: &Scene<'_>, outcome: &Outcome, simulate: &dyn Fn(&Device) -> Outcome) -> (u64, u64) {
    let peaks = |outcome: &Outcome| (outcome.peak_allocated_bytes(), outcome.peak_reserved_bytes());
    match (outcome.oom, outcome.reach) {
        (Some(_), Reach::Oom(_)) => {
            peaks(&simulate(&Device { capacity_bytes: None, allowed_bytes: None, ..scene.device }))
        }
        (Some(oom), _) => {
            let (allocated, reserved) = peaks(outcome);
            (allocated, reserved.max(oom.reserved_bytes.saturating_add(oom.requested_bytes)))
        }
        (None, _) => peaks(outcome),
    }
}
