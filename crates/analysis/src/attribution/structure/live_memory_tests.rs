//! The phase of states without events.

use super::phase::{Phase, PhaseBasis};
use crate::{Attribution, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::programs::{
    BACKWARD, DATA, EVALUATE, FORWARD, LOAD, LOSS, Program, SIZES, STATE, state,
};
use oomscope_model::{Anchor, Bytes, DeviceId, EventTable, Recording, Snapshot, Timeline, TimelineInput};

/// The phase at the end, if it is known.
fn at_end(recording: &Recording) -> Option<Phase> {
    let phases = Attribution::of(recording, &UserRules::default()).phases;
    let position = phases.position_at(recording.end());
    assert_eq!(position.iteration, None);
    assert_eq!(position.basis, (position.phase != Phase::Unknown).then_some(PhaseBasis::LiveMemory));
    position.basis.map(|_| position.phase)
}

const MIB: i64 = 1 << 20;
const PARAMETERS: &[i64] = &[2 * MIB, 3 * MIB, 5 * MIB, 6 * MIB];
const STATES: &[i64] = &[2 * MIB, 2 * MIB, 3 * MIB, 3 * MIB, 5 * MIB, 5 * MIB, 6 * MIB, 6 * MIB];
const EMPTY: &[i64] = &[-40 * MIB];

#[test]
fn two_states_for_each_parameter_behind_what_was_given_back_are_left_by_a_step() {
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, STATES])), Some(Phase::Optimizer));
    // With the gradients, too.
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, STATES, PARAMETERS])), Some(Phase::Optimizer));
}

#[test]
fn copies_of_a_model_are_no_states() {
    assert_eq!(at_end(&state(&[PARAMETERS, PARAMETERS, PARAMETERS])), None);
    assert_eq!(at_end(&state(&[PARAMETERS, PARAMETERS, PARAMETERS, EMPTY])), None);
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, PARAMETERS])), None);
    assert_eq!(at_end(&state(&[PARAMETERS])), None);
}

#[test]
fn anything_else_that_is_live_may_belong_to_a_call() {
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, STATES, &[4]])), Some(Phase::Optimizer));
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, STATES, &[4, 64 << 10]])), None);
    assert_eq!(at_end(&state(&[PARAMETERS, EMPTY, STATES, &[MIB, MIB]])), None);
}

#[test]
fn hostile_sizes_say_nothing() {
    assert_eq!(at_end(&state(&[])), None);
    let mut segments = state(&[PARAMETERS, EMPTY, STATES]).segments.clone();
    for block in &mut segments.blocks {
        (block.size, block.requested) = (Bytes::MAX, Bytes::MIN);
    }
    let input = TimelineInput {
        device: DeviceId(0),
        events: EventTable::default(),
        segments,
        anchor: Anchor::EndState,
    };
    let huge = Snapshot { timelines: vec![Timeline::build(input).into()], ..Snapshot::default() };
    assert_eq!(at_end(&first(huge)), None);
}

/// Parameters with two states each, and more; only the state at the end is recorded.
fn after(more: impl Fn(&mut Program)) -> Recording {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for size in SIZES {
        program.alloc(size, STATE);
        program.alloc(size, STATE);
    }
    more(&mut program);
    program.forget_events();
    program.finish()
}

fn graph(program: &mut Program, frames: &[&str]) {
    program.alloc(31 << 20, frames);
    for _ in 0..20 {
        program.alloc(30 << 20, frames);
    }
}

#[test]
fn stacks_of_what_is_live_tell_what_was_last() {
    assert_eq!(at_end(&after(|_| {})), Some(Phase::Optimizer));
    let loss = |program: &mut Program| {
        program.alloc(4, LOSS);
    };
    assert_eq!(at_end(&after(loss)), Some(Phase::Optimizer));
    assert_eq!(at_end(&after(|program| graph(program, FORWARD))), Some(Phase::Forward));
    let falling = |program: &mut Program| {
        graph(program, FORWARD);
        program.alloc(SIZES[3], BACKWARD);
        program.alloc(29 << 20, BACKWARD);
    };
    assert_eq!(at_end(&after(falling)), Some(Phase::Backward));
}

#[test]
fn stacks_that_leave_it_open_say_nothing() {
    let fed = |program: &mut Program| {
        program.alloc(64 << 10, DATA);
    };
    assert_eq!(at_end(&after(fed)), None);
    assert_eq!(at_end(&after(|program| graph(program, EVALUATE))), None);
    // Several graphs were kept.
    let kept = |program: &mut Program| {
        graph(program, FORWARD);
        graph(program, FORWARD);
    };
    assert_eq!(at_end(&after(kept)), None);
    // One call's results that were kept are no pass.
    let result = |program: &mut Program| {
        program.alloc(30 << 20, FORWARD);
    };
    assert_eq!(at_end(&after(result)), None);
    // Gradients of some parameters may be those of another optimizer.
    let some = |program: &mut Program| {
        graph(program, FORWARD);
        program.alloc(SIZES[3], BACKWARD);
    };
    assert_eq!(at_end(&after(some)), None);
}

#[test]
fn where_only_modules_were_made_nothing_has_begun() {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    program.forget_events();
    assert_eq!(at_end(&program.finish()), Some(Phase::Init));
}
