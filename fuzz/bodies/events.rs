//! Absurd streams of events: the builder, lifetimes, curves and what is asked of them.

use super::choices::Choices;
use super::{made_up, questions};
use oomscope_analysis::{Attribution, UserRules, lanes, structure_lanes};
use oomscope_model::Recording;

pub(crate) fn body(bytes: &[u8]) {
    let snapshot = made_up::snapshot(&mut Choices::new(bytes));
    questions::ask(&snapshot);
    for recording in Recording::all(&snapshot) {
        let attribution = Attribution::of(&recording, &UserRules::default());
        lanes(&recording);
        structure_lanes(&recording, &attribution.phases);
    }
}
