//! Phases and iterations of made-up programs.

use super::{Phase, PhaseBasis, Phases};
use crate::{Attribution, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program, train};
use oomscope_model::{EventIx, Moment, Recording};

fn phases(recording: &Recording) -> Phases {
    Attribution::of(recording, &UserRules::default()).phases
}

fn keys(phases: &Phases) -> Vec<&'static str> {
    phases.phases.iter().map(|start| start.phase.key()).collect()
}

#[test]
fn a_training_goes_round_in_phases() {
    let mut program = Program::default();
    train(&mut program, 3, None);
    let recording = program.finish();
    let found = phases(&recording);
    let round = ["data", "forward", "backward", "optimizer", "eval"];
    let expected: Vec<&str> =
        ["init"].into_iter().chain(round).chain(round).chain(round[..3].iter().copied()).collect();
    assert_eq!(keys(&found), expected);
    assert_eq!((found.iterations.list.len(), found.iterations.first_number), (3, Some(0)));
    let end = recording.end();
    assert_eq!((found.phase_at(end), found.iteration_at(end)), (Phase::Backward, Some(2)));
    assert_eq!((found.phase_at(Moment(2)), found.iteration_at(Moment(2))), (Phase::Init, None));
    let starts: Vec<EventIx> = found.iterations.list.iter().map(|iteration| iteration.start).collect();
    let data = found.phases.iter().filter(|start| start.phase == Phase::Data).map(|start| start.event);
    assert_eq!(starts, data.collect::<Vec<_>>());
}

#[test]
fn growth_and_peaks_are_those_of_the_curve() {
    let mut program = Program::default();
    train(&mut program, 3, None);
    let recording = program.finish();
    for iteration in &phases(&recording).iterations.list {
        let range = iteration.start.0 + 1..=iteration.end.0;
        let most = range.map(|moment| recording.active.at(Moment(moment))).max();
        assert_eq!(Some(iteration.peak_bytes), most);
        assert_eq!(recording.active.at(iteration.peak), iteration.peak_bytes);
        let change = recording.active.at(iteration.end) - recording.active.at(Moment(iteration.start.0));
        assert_eq!(iteration.growth_bytes(), change);
    }
}

#[test]
fn a_late_recording_numbers_nothing() {
    let mut program = Program::default();
    train(&mut program, 4, Some(2));
    let found = phases(&program.finish());
    assert_eq!((found.iterations.list.len(), found.iterations.first_number), (2, None));
}

#[test]
fn a_late_recording_counts_from_its_start_and_says_what_it_can() {
    let mut program = Program::default();
    train(&mut program, 4, Some(2));
    let recording = program.finish();
    let phases = Attribution::of(&recording, &UserRules::default()).phases;
    let position = phases.position_at(recording.end());
    assert_eq!((position.iteration, position.iteration_of_recording), (None, Some(1)));
    // Two states for each parameter were there: the first of the recording was not the first of all.
    assert_eq!(position.iteration_at_least, Some(2));
    assert_eq!(position.basis, Some(PhaseBasis::Events));
}

/// The least number that the iteration at the end can have, and its number within the recording.
fn bound(program: Program) -> (Option<u32>, Option<u32>) {
    let recording = program.finish();
    let phases = Attribution::of(&recording, &UserRules::default()).phases;
    let position = phases.position_at(recording.end());
    assert_eq!(position.iteration, None);
    (position.iteration_at_least, position.iteration_of_recording)
}

#[test]
fn iterations_without_a_step_raise_no_bound() {
    let (mut program, generate) = (Program::default(), "/home/me/train.py generate");
    train(&mut program, 3, None);
    program.forget_events();
    for _ in 0..5 {
        let data = program.alloc(4096, DATA);
        let frames = [&FORWARD[..2], &[generate, FORWARD[2]]].concat();
        let result = program.alloc(20 << 20, &frames);
        program.free(result, &frames);
        program.free(data, DATA);
    }
    // State that steps had left shows that there was one.
    assert_eq!(bound(program), (Some(1), Some(4)));
    // Micro-batches without any step.
    let mut program = Program::default();
    program.alloc(512, LOAD);
    program.start_late();
    for _ in 0..4 {
        let data = program.alloc(4096, DATA);
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        for activation in kept {
            program.free(activation, BACKWARD);
        }
        program.free(data, DATA);
    }
    assert_eq!(bound(program), (None, Some(3)));
}
