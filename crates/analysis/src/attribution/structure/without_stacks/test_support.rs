//! Pairs of recordings of one program, with stacks and without, for tests of the phases that are found without.

use crate::{Attribution, Phase, PhaseBasis, Phases, UserRules};
use oomscope_fixtures::programs::Program;
use oomscope_model::{Moment, Recording};

pub(super) fn phases(recording: &Recording) -> Phases {
    Attribution::of(recording, &UserRules::default()).phases
}

/// The first event of each iteration.
pub(super) fn starts(phases: &Phases) -> Vec<u32> {
    phases.iterations.list.iter().map(|iteration| iteration.start.0).collect()
}

/// Recordings of a program by two observers.
pub(super) fn record_twice(observers: [Program; 2], run: impl Fn(&mut Program)) -> [Recording; 2] {
    observers.map(|mut program| {
        run(&mut program);
        program.finish()
    })
}

/// The share of moments whose phases are known without stacks. Panics if any of them is wrong.
pub(super) fn share_known([with, without]: &[Recording; 2], basis: PhaseBasis) -> f64 {
    let (with, without, events) = (phases(with), phases(without), with.events.len() as u32);
    let mut found = 0;
    for moment in (1..=events).map(Moment) {
        let phase = without.phase_at(moment);
        if phase != Phase::Unknown {
            assert_eq!(phase, with.phase_at(moment), "{moment:?}");
            assert_eq!(without.basis_at(moment), Some(basis));
            found += 1;
        }
    }
    f64::from(found) / f64::from(events)
}
