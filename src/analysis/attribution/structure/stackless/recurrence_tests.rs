//! Recordings without stacks beside the same recordings with them.

use super::twins::{self, phases, starts};
use super::{Phase, recurrence};
use crate::analysis::PhaseBasis;
use crate::analysis::attribution::facts::fixture::{
    BACKWARD, DATA, FORWARD, LOAD, LOSS, Program, SIZES, ZERO_GRAD, train,
};
use crate::analysis::table_fixture::{any_events, snapshot};
use crate::model::{Moment, Snapshot};
use proptest::prelude::*;

/// The same program, recorded with stacks and without.
fn twice(run: impl Fn(&mut Program)) -> [Snapshot; 2] {
    twins::twice([Program::default(), Program::bare()], run)
}

fn agreeing(recordings: &[Snapshot; 2]) -> f64 {
    twins::agreeing(recordings, PhaseBasis::Recurrence)
}

#[test]
fn phases_and_iterations_are_those_that_stacks_tell() {
    for iterations in 3..6 {
        let recordings = twice(|program| {
            train(program, iterations, None);
        });
        assert!(0.6 < agreeing(&recordings));
        let [with, without] = recordings.each_ref().map(phases);
        // The last iteration is cut off, so nothing shows that its activations were for a backward.
        assert_eq!(starts(&without), starts(&with)[..iterations - 1]);
        assert_eq!(without.iterations.first_number, Some(0));
        let end = Moment(recordings[1].timelines[0].events.len() as u32);
        assert_eq!((without.phase_at(end), without.iteration_at(end)), (Phase::Unknown, None));
    }
}

fn free(program: &mut Program, addresses: &[u64], frames: &[&str]) {
    for &addr in addresses {
        program.free(addr, frames);
    }
}

fn load(program: &mut Program) {
    for size in SIZES {
        program.alloc(size, LOAD);
    }
}

/// A training step with temporaries; returns its gradients.
fn step(program: &mut Program, gradients: bool) -> Vec<u64> {
    let input = program.alloc(96 << 10, DATA);
    let mut kept = Vec::new();
    for layer in 0..10i64 {
        let passing = program.alloc((8 << 20) + layer, FORWARD);
        kept.push(program.alloc((9 << 20) + layer, FORWARD));
        program.free(passing, FORWARD);
    }
    let loss = program.alloc(4, LOSS);
    let one = program.alloc(4, LOSS);
    for activation in kept.into_iter().rev() {
        let passing = program.alloc(29 << 20, BACKWARD);
        program.free(activation, BACKWARD);
        program.free(passing, BACKWARD);
    }
    let made: Vec<u64> = SIZES.into_iter().rev().map(|size| program.alloc(size, BACKWARD)).collect();
    if !gradients {
        free(program, &made, BACKWARD);
    }
    for addr in [one, loss, input] {
        program.free(addr, LOSS);
    }
    if gradients { made } else { Vec::new() }
}

#[test]
fn micro_batches_belong_to_one_iteration() {
    let [_, without] = twice(|program| {
        load(program);
        for _ in 0..4 {
            let gradients = step(program, true);
            step(program, false);
            free(program, &gradients, ZERO_GRAD);
        }
    });
    let found = phases(&without);
    assert_eq!((found.iterations.list.len(), found.iterations.first_number), (4, Some(0)));
    let end = Moment(without.timelines[0].events.len() as u32);
    assert_eq!((found.phase_at(end), found.iteration_at(end)), (Phase::Optimizer, Some(3)));
}

#[test]
fn what_the_first_pass_makes_for_good_hides_nothing() {
    let [_, without] = twice(|program| {
        load(program);
        for round in 0..4 {
            if round == 0 {
                for _ in 0..8 {
                    program.alloc(5 << 10, FORWARD);
                }
            }
            let gradients = step(program, true);
            free(program, &gradients, ZERO_GRAD);
        }
    });
    let found = phases(&without);
    assert_eq!((found.iterations.list.len(), found.iterations.first_number), (4, Some(0)));
}

/// Phase and iteration at the end of a training and one more call of its model, which keeps its results or not.
fn after_a_call(keeps: bool) -> (Phase, Option<u32>) {
    let [_, without] = twice(|program| {
        load(program);
        for _ in 0..3 {
            let gradients = step(program, true);
            free(program, &gradients, ZERO_GRAD);
        }
        program.alloc(96 << 10, DATA);
        for layer in 0..9i64 {
            let passing = program.alloc((8 << 20) + layer, FORWARD);
            let result = program.alloc((9 << 20) + layer, FORWARD);
            program.free(passing, FORWARD);
            if !keeps {
                program.free(result, FORWARD);
            }
        }
    });
    let found = phases(&without);
    let end = Moment(without.timelines[0].events.len() as u32);
    (found.phase_at(end), found.iteration_at(end))
}

#[test]
fn a_forward_that_is_cut_off_is_told_by_those_before_and_from_an_evaluation() {
    assert_eq!(after_a_call(true), (Phase::Forward, Some(3)));
    assert_eq!(after_a_call(false), (Phase::Eval, Some(2)));
}

#[test]
fn calls_without_gradients_say_nothing() {
    let [_, without] = twice(|program| {
        load(program);
        for _ in 0..4 {
            let kept: Vec<u64> = (0..20).map(|_| program.alloc(30 << 20, FORWARD)).collect();
            free(program, &kept.into_iter().rev().collect::<Vec<_>>(), FORWARD);
        }
    });
    let found = phases(&without);
    assert!(found.phases.iter().all(|start| start.phase == Phase::Unknown));
    assert!(found.iterations.list.is_empty());
}

proptest! {
    #[test]
    fn whatever_the_events_starts_are_in_order_and_within(events in any_events()) {
        let snapshot = snapshot(&events);
        let timeline = &snapshot.timelines[0];
        if let Some(found) = recurrence::find(timeline) {
            prop_assert!(found.starts.is_sorted());
            prop_assert!(found.starts.iter().all(|start| start.index() < timeline.events.len()));
            prop_assert!(found.phases.is_sorted_by(|a, b| a.event < b.event));
            prop_assert!(found.phases.first().is_some_and(|first| first.event.0 == 0));
        }
    }
}
