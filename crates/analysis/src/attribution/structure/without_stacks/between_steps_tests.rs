//! Recordings without stacks, with the steps that torch announces, beside the same recordings with stacks.

use super::between_steps::phases_between_steps;
use super::test_support::{self, phases, starts};
use crate::attribution::facts::Announced;
use crate::{Phase, PhaseBasis};
use oomscope_fixtures::first;
use oomscope_fixtures::programs::{
    BACKWARD, DATA, EVALUATE, FORWARD, LOAD, LOSS, Program, SIZES, STEP_NAME, ZERO_GRAD, train,
};
use oomscope_fixtures::tables::{any_events, snapshot};
use oomscope_model::{Annotation, DeviceId, Moment, Recording};
use proptest::prelude::*;

/// Recordings of a program with stacks and without.
fn record_twice(run: impl Fn(&mut Program)) -> [Recording; 2] {
    test_support::record_twice([Program::timed(), Program::timed().without_stacks()], run)
}

fn share_known(recordings: &[Recording; 2]) -> f64 {
    test_support::share_known(recordings, PhaseBasis::Announced)
}

fn end(recording: &Recording) -> Moment {
    recording.end()
}

#[test]
fn phases_and_iterations_are_those_that_stacks_show_up_to_the_end() {
    for iterations in 3..6 {
        let recordings = record_twice(|program| {
            train(program, iterations, None);
        });
        assert!(0.9 < share_known(&recordings));
        let [with, without] = recordings.each_ref().map(phases);
        assert_eq!(starts(&without), starts(&with));
        let end = end(&recordings[1]);
        let last = Some(iterations as u32 - 1);
        assert_eq!((without.phase_at(end), without.iteration_at(end)), (Phase::Backward, last));
    }
}

const STEPS: usize = 3;

/// A model that is trained for some steps by an optimizer that allocates nothing; then `then` happens.
fn plain(program: &mut Program, then: impl Fn(&mut Program)) {
    load(program);
    for _ in 0..STEPS {
        let data = program.alloc(4096, DATA);
        let kept = forward(program, 1);
        let gradients = backward(program, kept);
        program.announce(STEP_NAME, true);
        program.announce(STEP_NAME, false);
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
        program.free(data, DATA);
    }
    then(program);
}

fn load(program: &mut Program) {
    for size in SIZES {
        program.alloc(size, LOAD);
    }
}

/// A forward on a batch that is some times as large.
fn forward(program: &mut Program, times: i64) -> Vec<u64> {
    let kept = (0..14).map(|at| program.alloc(times * ((20 << 20) + at * 4096), FORWARD)).collect();
    program.alloc(4, LOSS);
    kept
}

fn backward(program: &mut Program, kept: Vec<u64>) -> Vec<u64> {
    let of_loss = program.alloc(4, LOSS);
    let mut gradients = Vec::new();
    for (at, activation) in kept.into_iter().rev().enumerate() {
        gradients.extend(SIZES.get(at).map(|&size| program.alloc(size, BACKWARD)));
        program.free(activation, BACKWARD);
    }
    program.free(of_loss, BACKWARD);
    gradients
}

/// Phase and iteration at the end, without stacks.
fn after(then: impl Fn(&mut Program)) -> (Phase, Option<u32>) {
    let mut program = Program::timed().without_stacks();
    plain(&mut program, then);
    let recording = program.finish();
    let phases = phases(&recording);
    (phases.phase_at(end(&recording)), phases.iteration_at(end(&recording)))
}

#[test]
fn work_under_way_at_the_end_is_read_beside_earlier_iterations() {
    let last = STEPS as u32;
    assert_eq!(after(|_| ()), (Phase::Optimizer, Some(last - 1)));
    let batch = |times: i64| {
        move |program: &mut Program| {
            program.alloc(times * 4096, DATA);
            forward(program, times);
        }
    };
    assert_eq!(after(batch(1)), (Phase::Forward, Some(last)));
    assert_eq!(after(batch(7)), (Phase::Forward, Some(last)), "a larger batch goes the same way");
    let half_way = |program: &mut Program| {
        program.alloc(4096, DATA);
        let kept = forward(program, 1);
        program.alloc(4, LOSS);
        for &activation in kept.iter().rev().take(5) {
            program.alloc(SIZES[0], BACKWARD);
            program.free(activation, BACKWARD);
        }
    };
    assert_eq!(after(half_way), (Phase::Backward, Some(last)));
    let before_step = |program: &mut Program| {
        program.alloc(4096, DATA);
        let kept = forward(program, 1);
        backward(program, kept);
    };
    assert_eq!(after(before_step).1, Some(last));
}

#[test]
fn calls_that_keep_nothing_are_an_evaluation_of_the_last_iteration() {
    let evaluate = |program: &mut Program| {
        program.alloc(4096, DATA);
        let mut held: Vec<u64> = Vec::new();
        for at in 0..14 {
            held.push(program.alloc((20 << 20) + at * 4096, EVALUATE));
            if 2 < held.len() {
                program.free(held.remove(0), EVALUATE);
            }
        }
    };
    assert_eq!(after(evaluate), (Phase::Eval, Some(STEPS as u32 - 1)));
}

#[test]
fn two_optimizers_that_step_one_after_the_other_end_one_iteration() {
    let mut program = Program::timed().without_stacks();
    load(&mut program);
    for _ in 0..STEPS {
        let kept = forward(&mut program, 1);
        let gradients = backward(&mut program, kept);
        for name in [STEP_NAME, "Optimizer.step#SGD.step"] {
            program.announce(name, true);
            program.announce(name, false);
        }
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
    }
    let recording = program.finish();
    let phases = phases(&recording);
    assert_eq!(starts(&phases).len(), STEPS);
    assert_eq!(phases.iteration_at(end(&recording)), Some(STEPS as u32 - 1));
}

#[test]
fn a_step_that_calls_the_model_is_no_work_of_the_optimizer() {
    let mut program = Program::timed().without_stacks();
    load(&mut program);
    for _ in 0..STEPS {
        let data = program.alloc(4096, DATA);
        program.announce(STEP_NAME, true);
        let kept = (0..20).map(|at| program.alloc((20 << 20) + at * 4096, FORWARD)).collect();
        let gradients = backward(&mut program, kept);
        program.announce(STEP_NAME, false);
        for addr in gradients.into_iter().chain([data]) {
            program.free(addr, ZERO_GRAD);
        }
    }
    program.alloc(4096, DATA);
    program.announce(STEP_NAME, true);
    for at in 0..20 {
        program.alloc((20 << 20) + at * 4096, FORWARD);
    }
    let recording = program.finish();
    let found = phases(&recording);
    assert_ne!(found.phase_at(end(&recording)), Phase::Optimizer);
    assert_eq!(starts(&found).len(), STEPS + usize::from(found.iteration_at(end(&recording)).is_some()));
}

proptest! {
    #[test]
    fn whatever_is_announced_starts_are_in_order_and_within(
        events in any_events(),
        times in proptest::collection::vec((0i64..400, any::<bool>()), 1..12),
    ) {
        let mut snapshot = snapshot(&events);
        let name = snapshot.strings.intern(STEP_NAME.as_bytes()).0;
        snapshot.annotations = times
            .iter()
            .map(|&(time_us, is_start)| Annotation {
                device: Some(DeviceId(0)),
                name,
                is_start,
                time_us: Some(time_us),
            })
            .collect();
        let recording = first(snapshot);
        let announced = Announced::of(&recording);
        let end = recording.events.len() as u32;
        for step in &announced.steps {
            prop_assert!(step.events[0] <= step.events[1] && step.events[1] <= end);
        }
        if let Some(found) = phases_between_steps(&recording, &announced) {
            let iterations = &found.iterations.list;
            prop_assert!(iterations.is_sorted_by_key(|iteration| iteration.start));
            prop_assert!(found.phases.is_sorted_by(|a, b| a.event < b.event));
            prop_assert!(iterations.iter().all(|iteration| iteration.start.0 < end.max(1)));
        }
    }
}
