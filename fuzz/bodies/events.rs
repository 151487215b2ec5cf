//! Absurd streams of events: the builder, lifetimes, curves and what is asked of them.

use super::choices::Choices;
use super::{made_up, questions};
use oomscope_analysis::{Attribution, UserRules, lanes, structure_lanes};

pub(crate) fn body(bytes: &[u8]) {
    let snapshot = made_up::snapshot(&mut Choices::new(bytes));
    questions::ask(&snapshot);
    for timeline in &snapshot.timelines {
        let attribution = Attribution::of(&snapshot, timeline, &UserRules::default());
        lanes(&snapshot, timeline);
        structure_lanes(timeline, &attribution.phases);
    }
}
