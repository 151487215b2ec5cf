//! Trying a remedy: the requests of the changed program added up, and replayed through the allocator.

use super::growth::Growth;
use super::least::least_requested;
use super::offer::{Change, Offer, Part};
use super::outcome::Figures;
use super::scene::Scene;
use oomscope_model::Bytes;
use oomscope_program::projection::Turn;
use oomscope_simulator::{Device, Outcome, Profile, Program, Reach, Settings, margin_bytes};

/// What is asked of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needed {
    /// Its figures, whether it fits or not.
    Figures,
    /// Only what fits, and requests at most so many bytes at once.
    Fit(u64),
}

impl Needed {
    /// What a replay comes to. Where only what fits is needed, `None` with the first proof that it does not: the sum of its requests,
    /// before anything is replayed, or a request that fails.
    pub(super) fn outcome(
        self,
        requested_bytes: u64,
        device: &Device,
        simulate: &dyn Fn(&Device) -> Outcome,
    ) -> Option<Outcome> {
        match self {
            Self::Figures => Some(simulate(device)),
            Self::Fit(most) => (requested_bytes <= most).then(|| simulate(device)).filter(Outcome::fits),
        }
    }
}

/// The outcome of a program.
pub(super) struct Tried {
    pub(super) figures: Figures,
    pub(super) profile: Profile,
    /// The most reserved bytes in as many stretches, up to a request that fails, where nothing but settings changes.
    pub(super) reserved: Option<Profile>,
    /// The most bytes that could be reserved, if that is known.
    pub(super) limit_bytes: Option<u64>,
    /// Bytes to spare; negative, those that are missing.
    pub(super) margin: Option<Bytes>,
    /// What grows with each iteration, or each call of a model.
    pub(super) growth: Option<Growth>,
    /// The most bytes at once that a change cannot touch, where it touches some of them.
    pub(super) least_requested: Option<u64>,
}

impl Tried {
    /// Whether every request is met within the limit; `None` where none is known.
    pub(super) fn fits(&self) -> Option<bool> {
        self.margin.map(|margin| 0 <= margin)
    }

    /// The last iteration or call that fits, where memory goes on growing until none is left.
    pub(super) fn fits_until_turn(&self) -> Option<Turn> {
        let margin = self.margin.filter(|&margin| 0 <= margin)?;
        Some(self.growth?.last(margin))
    }

    /// The recorded program under its own settings.
    pub(super) fn recorded(scene: &Scene<'_>, program: &Program<'_>) -> Self {
        let (peak, profile) = program.sums();
        let simulate = |device: &Device| scene.subject.simulate(scene.subject.recorded_settings(), device);
        let tried = Self::simulated(scene, (peak.bytes, profile), &simulate(&scene.device), &simulate);
        let missing = tried.margin.filter(|&margin| margin < 0).map_or(0, Bytes::unsigned_abs);
        Self { growth: Growth::of(scene, program, missing), ..tried }
    }

    /// A program under some settings, with the most bytes that are reserved for it.
    pub(super) fn under(scene: &Scene<'_>, program: &Program<'_>, settings: &Settings) -> Self {
        let (peak, profile) = program.sums();
        let simulate = |device: &Device| scene.subject.simulate_program(program, settings, device);
        let outcome = simulate(&scene.device);
        Self::simulated(scene, (peak.bytes, profile), &outcome, &simulate).reserving(scene, &outcome)
    }

    /// The same with the most bytes that a replay reserved over time.
    fn reserving(self, scene: &Scene<'_>, outcome: &Outcome) -> Self {
        let moments = scene.run.recording.events.len() + 1;
        let reserved = outcome.reserved_profile(moments, self.profile.highest().len());
        Self { reserved: Some(reserved), ..self }
    }

    /// The program with the changes of some offers; `None` if it is not what is needed.
    pub(super) fn of(
        scene: &Scene<'_>,
        original: &Program<'_>,
        recorded: &Self,
        combination: &[&Offer<'_>],
        needed: Needed,
    ) -> Option<Self> {
        let settings = settings(scene, combination);
        if combination.iter().all(|offer| matches!(offer.change, Change::Setting(..))) {
            let simulate = |device: &Device| scene.subject.simulate(&settings, device);
            let peak = recorded.figures.peak_requested;
            let outcome = needed.outcome(peak, &scene.device, &simulate)?;
            let tried = Self::simulated(scene, (peak, recorded.profile.clone()), &outcome, &simulate);
            return Some(Self { growth: recorded.growth, ..tried.reserving(scene, &outcome) });
        }
        let program = changed(original, combination);
        // What keeps nothing of earlier iterations stops what grows, also where not all of it is known to be kept.
        let is_stopped = combination.iter().any(|offer| offer.part == Part::Leak);
        let growth = recorded.growth.filter(|_| !is_stopped);
        let growth = growth.and_then(|growth| growth.of_changed(&program));
        let (peak, profile) = program.sums();
        if combination.iter().any(|offer| offer.is_bound) {
            let least_requested = least_requested(scene, original, &program, combination);
            return Some(Self { growth, least_requested, ..recorded.shifted(peak.bytes, profile) });
        }
        let simulate = |device: &Device| scene.subject.simulate_program(&program, &settings, device);
        let outcome = needed.outcome(peak.bytes, &scene.device, &simulate)?;
        let least_requested = least_requested(scene, original, &program, combination);
        let tried = Self::simulated(scene, (peak.bytes, profile), &outcome, &simulate);
        Some(Self { growth, least_requested, ..tried })
    }

    /// The same without a replay: as many allocated and reserved bytes are saved as requested ones.
    pub(super) fn estimated(program: &Program<'_>, recorded: &Self, combination: &[&Offer<'_>]) -> Self {
        let (peak, profile) = changed(program, combination).sums();
        recorded.shifted(peak.bytes, profile)
    }

    /// What is requested, with what the replay on the scene's device came to.
    fn simulated(
        scene: &Scene<'_>,
        (peak_requested, profile): (u64, Profile),
        outcome: &Outcome,
        simulate: &dyn Fn(&Device) -> Outcome,
    ) -> Self {
        let (peak_allocated, peak_reserved) = peaks(scene, outcome, simulate);
        let left = outcome.limit_bytes.map(|limit| margin_bytes(limit, peak_reserved));
        Self {
            figures: Figures { peak_requested, peak_allocated, peak_reserved },
            profile,
            reserved: None,
            limit_bytes: outcome.limit_bytes,
            margin: outcome.margin_bytes().zip(left).map(|(margin, left)| margin.min(left)),
            growth: None,
            least_requested: None,
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
        Self {
            figures,
            profile,
            reserved: None,
            limit_bytes: self.limit_bytes,
            margin,
            growth: None,
            least_requested: None,
        }
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

/// The peaks of allocated and reserved bytes. Where a request fails, the program needs at least as much as was reserved then and
/// what it asked for; if that is not where the recording ends, it goes on to what it allocates where there is enough.
fn peaks(scene: &Scene<'_>, outcome: &Outcome, simulate: &dyn Fn(&Device) -> Outcome) -> (u64, u64) {
    let mut allocated = outcome.peak_allocated_bytes();
    let Some(oom) = outcome.oom else { return (allocated, outcome.peak_reserved_bytes()) };
    if matches!(outcome.reach, Reach::Oom(_)) {
        let large_enough = Device { capacity_bytes: None, allowed_bytes: None, ..scene.device };
        allocated = simulate(&large_enough).peak_allocated_bytes();
    }
    let asked = oom.reserved_bytes.saturating_add(oom.requested_bytes);
    (allocated, outcome.peak_reserved_bytes().max(asked).max(allocated))
}
