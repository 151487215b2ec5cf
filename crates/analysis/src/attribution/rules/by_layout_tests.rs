//! Categories where only the state was recorded, or no stack.

use crate::{Attribution, Category, UserRules};
use Category::{Gradient, OptimizerState, Parameter, Unknown};
use oomscope_fixtures::programs::{Program, state};
use oomscope_model::Recording;

const MIB: i64 = 1 << 20;
const KIB: i64 = 1 << 10;
/// The parameters of a model, and the rest of their segment of 20 MiB.
const MODEL: &[i64] = &[2 * MIB, 3 * MIB, 5 * MIB, 6 * MIB, -4 * MIB];
const EMPTY: &[i64] = &[-40 * MIB];

/// A state whose addresses show that they rise: the last segment is empty.
fn rising(segments: &[&[i64]]) -> Recording {
    state(&[segments, &[EMPTY]].concat())
}

/// Bytes by category at the end.
fn at_end(recording: &Recording) -> Vec<(Category, i64)> {
    let found = Attribution::of(recording, &UserRules::default());
    let bytes = found.categories.bytes_at(recording, recording.end());
    bytes.iter().map(|row| (row.category, row.bytes.0)).collect()
}

/// Each size `times` times in turn.
fn each(sizes: &[i64], times: usize) -> Vec<i64> {
    sizes.iter().flat_map(|&size| std::iter::repeat_n(size, times)).collect()
}

#[test]
fn adam_keeps_two_more_of_each_size_and_the_rest_is_unknown() {
    let states = each(&MODEL[..4], 2);
    let after = rising(&[MODEL, EMPTY, &states]);
    assert_eq!(at_end(&after), [(Parameter, 16 * MIB), (OptimizerState, 32 * MIB)]);
    let forward = rising(&[MODEL, EMPTY, &states, &[7 * MIB, 7 * MIB, 9 * MIB, 24 * MIB]]);
    let expected = [(Parameter, 16 * MIB), (OptimizerState, 32 * MIB), (Unknown, 47 * MIB)];
    assert_eq!(at_end(&forward), expected);
}

#[test]
fn a_fourth_of_each_size_is_the_gradient() {
    let states = each(&MODEL[..4], 2);
    let gradients: &[i64] = &[6 * MIB, -30 * MIB, 5 * MIB, -30 * MIB, 3 * MIB, -30 * MIB, 2 * MIB];
    let found = at_end(&rising(&[MODEL, EMPTY, &states, gradients]));
    assert_eq!(found, [(Parameter, 16 * MIB), (Gradient, 16 * MIB), (OptimizerState, 32 * MIB)]);
}

#[test]
fn momentum_comes_in_the_order_of_the_parameters_and_gradients_in_another() {
    let sizes = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|size| size * KIB);
    let total: i64 = sizes.iter().sum();
    let hole = -64 * KIB;
    let with = |later: &[i64]| {
        let mut all = sizes.to_vec();
        all.push(hole);
        all.extend_from_slice(later);
        at_end(&state(&[&all]))
    };
    assert_eq!(with(&sizes), [(Parameter, total), (OptimizerState, total)]);
    let mut reverse = sizes;
    reverse.reverse();
    assert_eq!(with(&reverse), [(Parameter, total), (Gradient, total)]);
}

#[test]
fn scratch_memory_of_a_model_made_on_the_device_does_not_end_its_parameters() {
    let own: Vec<[i64; 2]> = vec![[16 * MIB - 100, -100]; 6];
    let states = [16 * MIB - 100; 12];
    let mut segments: Vec<&[i64]> = vec![MODEL, EMPTY];
    segments.extend(own.iter().map(<[i64; 2]>::as_slice));
    let more = each(&MODEL[..4], 2);
    segments.extend([EMPTY, &more, EMPTY, &states, EMPTY]);
    let parameters = 16 * MIB + 6 * (16 * MIB - 100);
    assert_eq!(at_end(&state(&segments)), [(Parameter, parameters), (OptimizerState, 2 * parameters)]);
}

#[test]
fn gradients_that_were_never_given_back_come_before_state() {
    let mut program = Program::bare();
    let sizes: Vec<i64> = (1..=12).map(|size| size * MIB).collect();
    let total: i64 = sizes.iter().sum();
    for &size in &sizes {
        program.alloc(size, &[]);
    }
    let activations: Vec<u64> = (0..12).map(|at| program.alloc(100 * MIB + at, &[])).collect();
    for (&size, &activation) in sizes.iter().rev().zip(activations.iter().rev()) {
        program.alloc(size, &[]);
        program.free(activation, &[]);
    }
    for &size in &sizes {
        program.alloc(size, &[]);
        program.alloc(size, &[]);
    }
    let found = at_end(&program.finish());
    assert_eq!(found, [(Parameter, total), (Gradient, total), (OptimizerState, 2 * total)]);
}

#[test]
fn a_first_forward_pass_ends_the_parameters_though_it_gives_nothing_back_for_good() {
    let mut program = Program::bare();
    for size in 1..=12 {
        program.alloc(size * MIB, &[]);
    }
    for size in 0..12 {
        let temporary = program.alloc(50 * MIB, &[]);
        program.free(temporary, &[]);
        program.alloc(100 * MIB + size, &[]);
    }
    let activations = 12 * 100 * MIB + 66;
    // No pass shows what they are.
    assert_eq!(at_end(&program.finish()), [(Parameter, 78 * MIB), (Unknown, activations)]);
}

#[test]
fn falling_addresses_show_the_same_as_rising_ones() {
    let states = each(&MODEL[..4], 2);
    let found = at_end(&state(&[EMPTY, &states, EMPTY, MODEL]));
    assert_eq!(found, [(Parameter, 16 * MIB), (OptimizerState, 32 * MIB)]);
}

#[test]
fn where_nothing_shows_which_end_is_older_state_is_not_told_from_parameters() {
    // Twice as many may be momentum, gradients, or a second model.
    let states = &MODEL[..4];
    assert_eq!(at_end(&state(&[MODEL, EMPTY, states])), [(Unknown, 32 * MIB)]);
    assert_eq!(at_end(&state(&[EMPTY, MODEL, states, EMPTY])), [(Unknown, 32 * MIB)]);
    let states = each(&MODEL[..4], 2);
    assert_eq!(at_end(&state(&[MODEL, EMPTY, &states])), [(Unknown, 48 * MIB)]);
    // Four times is Adam with gradients, whichever of them is which.
    let (gradients, adam) = ([6 * MIB, 5 * MIB, 3 * MIB, 2 * MIB], 16 * MIB);
    let found = at_end(&state(&[EMPTY, MODEL, &gradients, &states, EMPTY]));
    assert_eq!(found, [(Parameter, adam), (Gradient, adam), (OptimizerState, 2 * adam)]);
}
