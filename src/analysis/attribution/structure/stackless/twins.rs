//! Recordings with stacks, and the same without, for tests of what is found in these.

use super::Phase;
use crate::analysis::attribution::facts::fixture::Program;
use crate::analysis::{Attribution, PhaseBasis, Phases, UserRules};
use crate::model::{Moment, Snapshot};

pub(super) fn phases(snapshot: &Snapshot) -> Phases {
    Attribution::of(snapshot, &snapshot.timelines[0], &UserRules::default()).phases
}

/// The first event of each iteration.
pub(super) fn starts(phases: &Phases) -> Vec<u32> {
    phases.iterations.list.iter().map(|iteration| iteration.start.0).collect()
}

/// The same program, run under both observers.
pub(super) fn twice(observers: [Program; 2], run: impl Fn(&mut Program)) -> [Snapshot; 2] {
    observers.map(|mut program| {
        run(&mut program);
        program.finish()
    })
}

/// How many of the moments' phases were found, none of them wrong.
pub(super) fn agreeing([with, without]: &[Snapshot; 2], basis: PhaseBasis) -> f64 {
    let (with, without, events) = (phases(with), phases(without), with.timelines[0].events.len() as u32);
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
