//! What a user tries besides the remedies: other settings of the allocator, and another batch.

use super::activations::{has_batch, scale_batch};
use super::outcome::Figures;
use super::scene::Scene;
use super::tried::Tried;
use oomscope_model::Bytes;
use oomscope_program::projection::Turn;
use oomscope_simulator::{Profile, Program, Settings};

/// A change that a user tries.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// The settings of the allocator.
    pub settings: Settings,
    /// The size of the batch, as a multiple of the recorded one.
    pub batch: f64,
}

/// What the program takes with it.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnOutcome {
    /// The predicted peaks.
    pub figures: Figures,
    /// The most reserved bytes in each of some stretches of the program that are equally long, up to a request that fails.
    pub reserved: Profile,
    /// Whether every request is met; `None` without a capacity.
    pub fits: Option<bool>,
    /// Bytes to spare; negative, those that are missing at least.
    pub margin: Option<Bytes>,
    /// The last iteration or call that fits, where the program goes on to need more with each; else `None`.
    pub fits_until_turn: Option<Turn>,
    /// Whether the recording shows what depends on the batch: else, another one changes nothing here.
    pub has_batch: bool,
}

impl Own {
    /// Replay the program with this change, by the rules that remedies follow.
    pub fn outcome(&self, scene: &Scene<'_>) -> OwnOutcome {
        let recorded = Program::recorded(scene.run.recording);
        let mut program = recorded.clone();
        if self.batch.to_bits() != 1f64.to_bits() {
            scale_batch(scene, &mut program, self.batch);
        }
        let tried = Tried::under(scene, &program, &self.settings);
        // Only what is followed by another iteration can be seen to grow.
        let as_it_is = scene.projected.is_ok().then(|| Tried::recorded(scene, &recorded));
        let growth = as_it_is.and_then(|as_it_is| as_it_is.growth?.of_changed(&program));
        let tried = Tried { growth, ..tried };
        OwnOutcome {
            figures: tried.figures,
            fits: tried.fits(),
            fits_until_turn: tried.fits_until_turn(),
            margin: tried.margin,
            reserved: tried.reserved.unwrap_or_default(),
            has_batch: has_batch(scene),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scene, predict_all};
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_model::Recording;
    use oomscope_program::{Run, Workload};
    use oomscope_simulator::Subject;
    use oomscope_snapshot::load::{Input, Progress, load};
    use std::sync::Arc;

    fn tried(name: &str, change: impl FnOnce(&mut Own)) -> (OwnOutcome, crate::Predictions) {
        let path = format!("{}/../../sample_snapshots/{name}", env!("CARGO_MANIFEST_DIR"));
        let snapshot = Arc::new(load(&Input::File(path.into()), &Progress::default()).expect("a sample"));
        let recording = Recording::main(&snapshot).expect("a device");
        let attribution = Attribution::of(&recording, &UserRules::default());
        let run = Run { recording: &recording, attribution: &attribution };
        let subject = Subject::new(&recording);
        let mut own = Own { settings: subject.recorded_settings().clone(), batch: 1.0 };
        change(&mut own);
        let outcome = Scene::with_whole_step(&Workload::of(run), &subject, None, |scene| own.outcome(scene));
        (outcome, predict_all(&recording, &attribution, None).expect("predictions"))
    }

    #[test]
    fn without_a_change_it_is_the_program_as_it_is() {
        let (outcome, predictions) = tried("gpt_oom_forward.pickle", |_| ());
        assert_eq!(outcome.figures, predictions.baseline);
        assert_eq!((outcome.fits, outcome.margin), (predictions.fits, predictions.margin));
        assert!(outcome.has_batch);
        let known = outcome.reserved.highest().len();
        assert!(known < predictions.curve.highest().len(), "it ends where a request fails");
    }

    #[test]
    fn a_setting_comes_to_what_the_fix_with_its_name_does() {
        let (outcome, predictions) = tried("frag_oom.pickle", |own| {
            own.settings.set("expandable_segments", "True").expect("a setting");
        });
        let id = "set:expandable_segments=True";
        let fix = predictions.remedies.iter().find(|fix| fix.id == id).expect("a fix");
        assert_eq!((outcome.figures, outcome.margin), (fix.figures, fix.margin));
        let reserved = fix.reserved.as_ref().expect("settings change what is reserved");
        assert_eq!(reserved, &outcome.reserved);
        assert_eq!(reserved.peak_bytes(), fix.figures.peak_reserved);
        assert_eq!(reserved.highest().len(), predictions.curve.highest().len());
        let others = predictions.remedies.iter().filter(|fix| !fix.id.starts_with("set:"));
        assert!(others.clone().count() > 0 && others.into_iter().all(|fix| fix.reserved.is_none()));
    }

    #[test]
    fn what_goes_on_growing_fits_as_long_as_the_fix_with_its_name_says() {
        let (outcome, predictions) = tried("kv_cache_oom.pickle", |own| {
            own.settings.set("expandable_segments", "True").expect("a setting");
        });
        let id = "set:expandable_segments=True";
        let fix = predictions.remedies.iter().find(|fix| fix.id == id).expect("a fix");
        assert!(fix.fits_until_turn.is_some());
        assert_eq!((outcome.fits, outcome.fits_until_turn), (fix.fits, fix.fits_until_turn));
    }

    #[test]
    fn a_batch_that_is_said_to_fit_does() {
        let (_, predictions) = tried("gpt_oom_forward.pickle", |_| ());
        let largest = predictions.largest_batch.expect("training").factor;
        let (fits, _) = tried("gpt_oom_forward.pickle", |own| own.batch = largest);
        let (not, _) = tried("gpt_oom_forward.pickle", |own| own.batch = largest * 1.1);
        assert_eq!((fits.fits, not.fits), (Some(true), Some(false)));
    }
}
