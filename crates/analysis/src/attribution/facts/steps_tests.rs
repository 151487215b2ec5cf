//! Steps that allocate nothing, and steps with closures.

use super::find_steps;
use crate::attribution::facts::FactsByStack;
use crate::attribution::facts::activities::Activities;
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program, SIZES, STATE, ZERO_GRAD};

/// How many steps are seen in a training that allocates only in its first step.
fn count(accumulate: usize, drops: bool) -> usize {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    let mut gradients: Vec<u64> = Vec::new();
    for iteration in 0..6 {
        for _ in 0..accumulate {
            let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
            for activation in kept {
                program.free(activation, BACKWARD);
            }
            let new = SIZES.map(|size| program.alloc(size, BACKWARD));
            if gradients.is_empty() {
                gradients.extend(new);
            } else {
                for gradient in new {
                    program.free(gradient, BACKWARD);
                }
            }
        }
        if iteration == 0 {
            for size in SIZES {
                program.alloc(size, STATE);
            }
        }
        if drops {
            for gradient in gradients.drain(..) {
                program.free(gradient, ZERO_GRAD);
            }
        }
    }
    seen(program)
}

#[test]
fn steps_that_allocate_nothing_are_seen_by_what_becomes_of_the_gradients() {
    for accumulate in [1, 2, 3] {
        assert_eq!(count(accumulate, true), 6, "{accumulate} backwards, gradients dropped");
        assert_eq!(count(accumulate, false), 6, "{accumulate} backwards, gradients set to zero");
    }
}

/// How many steps are seen.
fn seen(program: Program) -> usize {
    let recording = program.finish();
    let (timeline, stacks) = (&recording, FactsByStack::of(recording.snapshot()));
    find_steps(timeline, &stacks, &Activities::of(timeline, |stack| stacks.get(stack))).all.len()
}

const CALL: &str = "torch/nn/modules/module.py _call_impl";
const MAIN: &str = "/home/me/train.py <module>";
const WRAPPER: &str = "torch/optim/optimizer.py wrapper";
const ENABLE_GRAD: &str = "torch/utils/_contextlib.py decorate_context";

/// A forward and a backward, called from these frames; gradients of an earlier one are dropped before.
fn pass(program: &mut Program, outside: &[&str], gradients: &mut Vec<u64>) {
    let zero_grad: Vec<&str> =
        ["torch/optim/optimizer.py zero_grad"].iter().chain(outside).copied().collect();
    for gradient in gradients.drain(..) {
        program.free(gradient, &zero_grad);
    }
    let forward: Vec<&str> =
        ["torch/nn/modules/linear.py forward", CALL].iter().chain(outside).copied().collect();
    let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, &forward)).collect();
    let loss = program.alloc(4, outside);
    for activation in kept {
        program.free(activation, BACKWARD);
    }
    gradients.extend(SIZES.map(|size| program.alloc(size, BACKWARD)));
    program.free(loss, outside);
}

/// LBFGS: a closure is called at the start of a step, and from another line in its loop.
fn lbfgs(is_fed: bool) -> usize {
    let (first, again) = ("torch/optim/lbfgs.py step", "torch/optim/lbfgs.py _strong_wolfe");
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    let mut gradients = Vec::new();
    for _ in 0..3 {
        let data = if is_fed { Some(program.alloc(4096, DATA)) } else { None };
        for round in 0..4 {
            let step = if round == 0 { first } else { again };
            pass(
                &mut program,
                &["/home/me/train.py closure", ENABLE_GRAD, step, WRAPPER, MAIN],
                &mut gradients,
            );
            let flat = ["torch/optim/lbfgs.py _gather_flat_grad", again, WRAPPER, MAIN];
            program.alloc(7 << 20, &flat);
        }
        if let Some(data) = data {
            program.free(data, DATA);
        }
    }
    seen(program)
}

#[test]
fn all_that_happens_in_the_closures_of_one_step_is_one_step() {
    // Without data that are loaded, nothing tells two steps apart but the line that calls the closure.
    assert_eq!((lbfgs(true), lbfgs(false)), (3, 3));
}

/// SAM: parameters are moved for a second backward, whose gradients the step uses.
fn sam(move_away: &[&str], second: &[&str], step: &[&str]) -> usize {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    let mut gradients = Vec::new();
    for iteration in 0..4 {
        let data = program.alloc(4096, DATA);
        pass(&mut program, &["/home/me/train.py epoch", MAIN], &mut gradients);
        let norm = program.alloc(512, move_away);
        program.free(norm, move_away);
        pass(&mut program, second, &mut gradients);
        if iteration == 0 {
            for size in SIZES {
                program.alloc(size, step);
            }
        }
        for gradient in gradients.drain(..) {
            program.free(gradient, step);
        }
        program.free(data, DATA);
    }
    seen(program)
}

#[test]
fn parameters_that_are_moved_for_a_second_backward_end_no_step() {
    let away = ["/home/me/sam.py first_step", "/home/me/train.py epoch", MAIN];
    let base = ["torch/optim/sgd.py step", WRAPPER, "/home/me/sam.py second_step", MAIN];
    assert_eq!(sam(&away, &["/home/me/train.py epoch", MAIN], &base), 4);
}

#[test]
fn nor_do_they_within_a_step_that_takes_a_closure() {
    let outer = ["/home/me/sam.py step", WRAPPER, MAIN];
    let away: Vec<&str> = ["/home/me/sam.py move_up"].iter().chain(&outer).copied().collect();
    let closure: Vec<&str> =
        ["/home/me/train.py closure", ENABLE_GRAD].iter().chain(&outer).copied().collect();
    let base: Vec<&str> = ["torch/optim/sgd.py step", WRAPPER].iter().chain(&outer).copied().collect();
    assert_eq!(sam(&away, &closure, &base), 4);
}

#[test]
fn a_program_that_keeps_its_first_gradients_has_stepped_all_the_same() {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for iteration in 0..5 {
        let mut gradients = Vec::new();
        pass(&mut program, &["/home/me/train.py objective", MAIN], &mut gradients);
        for gradient in gradients.into_iter().filter(|_| 0 < iteration) {
            program.free(gradient, &["/home/me/train.py update", MAIN]);
        }
    }
    assert_eq!(seen(program), 5);
}
