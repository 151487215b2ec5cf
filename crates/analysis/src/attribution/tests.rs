//! Categories of made-up programs, and of arbitrary events.

use super::{Attribution, Category, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::programs::{
    BACKWARD, DATA, EVALUATE, FOREACH, FORWARD, Held, LOAD, Program, SIZES, STATE, ZERO_GRAD, train,
};
use oomscope_fixtures::tables::{any_events, snapshot};
use oomscope_model::{Bytes, Moment, Recording};
use proptest::prelude::*;

/// The categories of the blocks that are live at the end, by address.
fn at_end(recording: &Recording) -> impl Fn(u64) -> Category + use<> {
    at(recording, recording.end())
}

/// The categories of the blocks that are older than the recording, by address.
fn at_start(recording: &Recording) -> impl Fn(u64) -> Category + use<> {
    at(recording, Moment(0))
}

fn at(recording: &Recording, moment: Moment) -> impl Fn(u64) -> Category + use<> {
    let categories = Attribution::of(recording, &UserRules::default()).categories;
    let live: Vec<(u64, Category)> =
        recording.lifetimes.live_at(moment).map(|id| (recording.addr(id), categories.get(id))).collect();
    move |addr| live.iter().find(|(at, _)| *at == addr).map_or(Category::Unknown, |&(_, category)| category)
}

fn assert_held(recording: &Recording, held: &Held) {
    let category = at_end(recording);
    let expected = [
        (&held.parameters, Category::Parameter),
        (&held.state, Category::OptimizerState),
        (&held.gradients, Category::Gradient),
    ];
    for (addresses, expected) in expected {
        for &addr in addresses {
            assert_eq!(category(addr), expected, "{addr:#x}");
        }
    }
}

#[test]
fn stacks_tell_what_a_training_holds() {
    let mut program = Program::default();
    let held = train(&mut program, 3, None);
    let recording = program.finish();
    assert_held(&recording, &held);
    assert_eq!(at_end(&recording)(held.input[0]), Category::Input);
}

#[test]
fn sizes_tell_what_is_older_than_the_recording() {
    let mut program = Program::default();
    let held = train(&mut program, 4, Some(2));
    assert_held(&program.finish(), &held);
}

#[test]
fn order_and_sizes_tell_what_a_training_without_stacks_holds() {
    let mut program = Program::bare();
    let held = train(&mut program, 4, None);
    assert_held(&program.finish(), &held);
}

#[test]
fn activations_are_what_calls_keep() {
    let mut program = Program::default();
    program.alloc(1 << 20, LOAD);
    program.alloc(1 << 10, DATA);
    let kept: Vec<u64> = (0..20).map(|_| program.alloc(1 << 16, FORWARD)).collect();
    let passing = program.alloc(1 << 16, BACKWARD);
    let category = at_end(&program.finish());
    assert!(kept.iter().all(|&addr| category(addr) == Category::Activation));
    assert_eq!(category(passing), Category::Gradient);
}

const MAIN: &str = "/home/me/train.py <module>";
const RMSPROP: &[&str] =
    &["torch/optim/rmsprop.py _multi_tensor_rmsprop", "torch/optim/optimizer.py wrapper", MAIN];
const BUCKETS: &[&str] = &["torch/nn/parallel/distributed.py _ddp_init_helper", MAIN];
const UPDATE: &[&str] = &["/home/me/byol.py update", MAIN];

/// Two iterations of a training whose blocks so far are older than the recording.
fn train_late(program: &mut Program, step: &[&str]) {
    program.start_late();
    for _ in 0..2 {
        program.alloc(4096, DATA);
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        for activation in kept.into_iter().rev() {
            program.free(activation, BACKWARD);
        }
        let gradients = SIZES.map(|size| program.alloc(size, BACKWARD));
        let temporary = program.alloc(7 << 20, step);
        program.free(temporary, step);
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
    }
}

#[test]
fn the_optimizer_tells_how_many_old_blocks_are_state() {
    let mut program = Program::default();
    let models: Vec<u64> = (0..2).flat_map(|_| SIZES).map(|size| program.alloc(size, LOAD)).collect();
    let state: Vec<u64> = SIZES.into_iter().map(|size| program.alloc(size, RMSPROP)).collect();
    train_late(&mut program, RMSPROP);
    let category = at_end(&program.finish());
    assert!(models.iter().all(|&addr| category(addr) == Category::Parameter));
    assert!(state.iter().all(|&addr| category(addr) == Category::OptimizerState));
}

#[test]
fn a_second_model_and_a_third_state_are_told_apart_by_their_order() {
    for has_copy in [true, false] {
        let mut program = Program::default();
        let (models, states) = if has_copy { (2, 2) } else { (1, 3) };
        let model: Vec<u64> = (0..models).flat_map(|_| SIZES).map(|size| program.alloc(size, LOAD)).collect();
        let state: Vec<u64> = SIZES
            .into_iter()
            .flat_map(|size| vec![size; states])
            .map(|size| program.alloc(size, STATE))
            .collect();
        train_late(&mut program, FOREACH);
        let category = at_end(&program.finish());
        assert!(model.iter().all(|&addr| category(addr) == Category::Parameter), "copy: {has_copy}");
        assert!(state.iter().all(|&addr| category(addr) == Category::OptimizerState), "copy: {has_copy}");
    }
}

/// Blocks that lie behind a segment that is empty by now.
fn behind_an_empty_segment(program: &mut Program, sizes: &[i64]) -> Vec<u64> {
    let gone = program.alloc(2 << 20, DATA);
    program.free(gone, DATA);
    program.start_segment();
    sizes.iter().map(|&size| program.alloc(size, LOAD)).collect()
}

#[test]
fn old_blocks_are_no_activations_where_nothing_trains() {
    let mut program = Program::default();
    program.alloc(50 << 20, LOAD);
    program.start_segment();
    let old = behind_an_empty_segment(&mut program, &[4 << 20, 4 << 20, 8 << 20, 8 << 20, 3 << 20]);
    program.start_late();
    for _ in 0..3 {
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, EVALUATE)).collect();
        for result in kept {
            program.free(result, EVALUATE);
        }
    }
    let category = at_end(&program.finish());
    assert!(old[..4].iter().all(|&addr| category(addr) == Category::Parameter), "sizes that repeat");
    assert_eq!(category(old[4]), Category::Unknown);
}

#[test]
fn old_blocks_behind_holes_are_a_model_only_where_these_are_the_greater_part() {
    for frozen_bytes in [200 << 20, 1 << 20] {
        let mut program = Program::default();
        program.alloc(frozen_bytes, LOAD);
        program.start_segment();
        let old = behind_an_empty_segment(&mut program, &[9 << 20; 11]);
        train_late(&mut program, FOREACH);
        let expected = if frozen_bytes < 100 << 20 { Category::Parameter } else { Category::Unknown };
        let category = at_end(&program.finish());
        assert!(old.iter().all(|&addr| category(addr) == expected), "{frozen_bytes}");
    }
}

const OWN_STEP: &[&str] = &["/home/me/adam.py step", "torch/optim/optimizer.py wrapper", MAIN];

#[test]
fn old_state_that_a_step_makes_anew_is_state_and_no_gradient() {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    let mut state: Vec<(i64, u64)> = SIZES
        .into_iter()
        .flat_map(|size| [size; 2])
        .map(|size| (size, program.alloc(size, OWN_STEP)))
        .collect();
    let old: Vec<u64> = state.iter().map(|held| held.1).collect();
    // Gradients of the backward before the recording: dropped in the same step, and made anew by none.
    let stale = SIZES.map(|size| program.alloc(size, BACKWARD));
    program.start_late();
    for gradient in stale {
        program.free(gradient, ZERO_GRAD);
    }
    for _ in 0..2 {
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        for activation in kept.into_iter().rev() {
            program.free(activation, BACKWARD);
        }
        let gradients = SIZES.map(|size| program.alloc(size, BACKWARD));
        for (size, held) in &mut state {
            let new = program.alloc(*size, OWN_STEP);
            program.free(std::mem::replace(held, new), OWN_STEP);
        }
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
    }
    let recording = program.finish();
    let category = at_start(&recording);
    assert!(old.iter().all(|&addr| category(addr) == Category::OptimizerState));
    assert!(stale.iter().all(|&addr| category(addr) == Category::Gradient));
}

#[test]
fn weights_of_a_program_without_modules_are_known_by_the_code_that_makes_them() {
    let mut program = Program::default();
    let made = program.alloc(9 << 20, &["/home/me/flex.py make", "/home/me/flex.py init_weight_list", MAIN]);
    let held = program.alloc(9 << 20, &["/home/me/flex.py make", "/home/me/flex.py Net.__init__", MAIN]);
    let other = program.alloc(9 << 20, &["/home/me/flex.py make", MAIN]);
    program.forget_events();
    let category = at_end(&program.finish());
    let found = [made, held, other].map(category);
    assert_eq!(found, [Category::Parameter, Category::Parameter, Category::Unknown]);
}

#[test]
fn what_is_outside_of_modules_is_an_input_where_modules_are_seen() {
    let mut program = Program::default();
    program.alloc(9 << 20, LOAD);
    let batch = program.alloc(1 << 20, &["/home/me/train.py batch", MAIN]);
    program.forget_events();
    assert_eq!(at_end(&program.finish())(batch), Category::Input);
}

#[test]
fn buckets_are_gradients_while_these_lie_in_them() {
    for has_stepped in [true, false] {
        let mut program = Program::default();
        for size in SIZES {
            program.alloc(size, LOAD);
        }
        let bucket = program.alloc(SIZES.iter().sum(), BUCKETS);
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        let passing = SIZES.map(|size| program.alloc(size, BACKWARD));
        for addr in kept.into_iter().chain(passing) {
            program.free(addr, BACKWARD);
        }
        if has_stepped {
            program.alloc(1 << 20, STATE);
        }
        let expected = if has_stepped { Category::Comm } else { Category::Gradient };
        assert_eq!(at_end(&program.finish())(bucket), expected);
    }
}

#[test]
fn what_takes_the_place_of_a_parameter_is_one() {
    let mut program = Program::default();
    let mut target = program.alloc(9 << 20, LOAD);
    for _ in 0..3 {
        let data = program.alloc(4096, DATA);
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        for activation in kept {
            program.free(activation, BACKWARD);
        }
        let scaled = program.alloc(9 << 20, UPDATE);
        let mixed = program.alloc(9 << 20, UPDATE);
        program.free(scaled, UPDATE);
        program.free(target, UPDATE);
        program.free(data, DATA);
        target = mixed;
    }
    assert_eq!(at_end(&program.finish())(target), Category::Parameter);
}

proptest! {
    #[test]
    fn every_allocation_has_a_category_whatever_the_events(events in any_events()) {
        let recording = first(snapshot(&events));
        let found = Attribution::of(&recording, &UserRules::default());
        for moment in 0..=recording.events.len() as u32 {
            let live = recording.lifetimes.live_at(Moment(moment));
            let naive = live.map(|id| recording.size(id)).sum::<Bytes>();
            let totals = found.categories.bytes_at(&recording, Moment(moment));
            // Sums of sizes as odd as these may have stopped at the largest number.
            if naive.unsigned_abs() < 1 << 60 {
                prop_assert_eq!(totals.iter().map(|row| row.bytes).sum::<Bytes>(), naive);
            }
            found.phases.phase_at(Moment(moment));
            if let Some(number) = found.phases.iteration_at(Moment(moment)) {
                prop_assert!((number as usize) < found.phases.iterations.list.len());
            }
        }
    }
}
