//! Phases and iterations of programs that put models together in functions, or compute gradients without an optimizer.

use crate::{Attribution, Phase, Phases, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, Program};

const CALL: &str = "torch/nn/modules/module.py _call_impl";
const EMBED: &[&str] = &["torch/nn/modules/sparse.py forward", CALL, "/home/me/model.py:3 run", MAIN];
const LAYER: &[&str] = &["/home/me/layer.py:9 forward", CALL, "/home/me/model.py:5 run", MAIN];
const BETWEEN: &[&str] = &["/home/me/model.py:5 run", MAIN];
const HEAD: &[&str] = &["torch/nn/modules/linear.py forward", CALL, "/home/me/model.py:6 run", MAIN];
const MAPS: &[&str] = &["/home/me/maps.py:4 look", MAIN];
const MAIN: &str = "/home/me/train.py:20 <module>";

fn phases(program: Program) -> Phases {
    Attribution::of(&program.finish(), &UserRules::default()).phases
}

/// How many iterations there are where a function runs three times: each time it embeds, calls a layer eight times, and a
/// head. After each call of the layer it makes a block of some size.
fn iterations_of_runs(between_bytes: i64) -> usize {
    let mut program = Program::default();
    for _ in 0..3 {
        let mut hidden = program.alloc(8 << 20, EMBED);
        for _ in 0..8 {
            let result = program.alloc(8 << 20, LAYER);
            let sum = program.alloc(between_bytes, BETWEEN);
            program.free(hidden, BETWEEN);
            program.free(result, BETWEEN);
            hidden = sum;
        }
        let logits = program.alloc(9 << 20, HEAD);
        program.free(hidden, MAPS);
        program.free(logits, MAPS);
    }
    phases(program).iterations.list.len()
}

#[test]
fn layers_that_a_function_calls_are_one_call_and_steps_that_decode_are_many() {
    assert_eq!(iterations_of_runs(8 << 20), 3);
    assert_eq!(iterations_of_runs(8), 3 * (1 + 8));
}

#[test]
fn without_an_optimizer_nothing_is_its_step() {
    let after_backward = |written: &[i64]| {
        let mut program = Program::default();
        for _ in 0..3 {
            let input = program.alloc(4096, DATA);
            let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
            for activation in kept.into_iter().rev() {
                program.free(activation, BACKWARD);
            }
            let gradients = [1, 2, 3].map(|size| program.alloc(size << 20, BACKWARD));
            for &size in written {
                program.alloc(size << 20, MAPS);
            }
            for gradient in gradients {
                program.free(gradient, MAPS);
            }
            program.free(input, DATA);
        }
        let found = phases(program);
        found.phases.iter().any(|start| start.phase == Phase::Optimizer)
    };
    // A map of one gradient, and then all parameters written.
    assert!(!after_backward(&[2]));
    assert!(after_backward(&[1, 2, 3]));
}
