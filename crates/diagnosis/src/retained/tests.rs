//! Made-up programs that retain memory, or only seem to.

use super::Retained;
use super::kind::Kind;
use crate::case::{Case, DiagnosisRequest};
use oomscope_analysis::{At, Attribution, UserRules};
use oomscope_fixtures::programs::{
    BACKWARD, DATA, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME, ZERO_GRAD, ZERO_GRAD_NAME,
};
use oomscope_program::{Run, Workload};

const MIB: i64 = 1 << 20;

/// A loop of its own that calls the model, at four lines of it.
const VALIDATE: [&[&str]; 4] = [
    &[
        "torch/nn/a.py forward",
        "torch/nn/modules/module.py _call_impl",
        "/home/me/train.py check",
        "/home/me/train.py <module>",
    ],
    &[
        "/home/me/model.py b",
        "torch/nn/modules/module.py _call_impl",
        "/home/me/train.py check",
        "/home/me/train.py <module>",
    ],
    &[
        "/home/me/model.py c",
        "torch/nn/modules/module.py _call_impl",
        "/home/me/train.py check",
        "/home/me/train.py <module>",
    ],
    &[
        "/home/me/model.py d",
        "torch/nn/modules/module.py _call_impl",
        "/home/me/train.py check",
        "/home/me/train.py <module>",
    ],
];

fn retained(program: Program) -> Option<Retained> {
    let recording = program.finish();
    let attribution = Attribution::of(&recording, &UserRules::default());
    let end = At::End;
    let request = DiagnosisRequest { at: Some(end), ..DiagnosisRequest::default() };
    let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
    let case = Case::new(&workload, request).expect("the moment exists");
    Retained::of(&case)
}

fn model(program: &mut Program) {
    for size in SIZES {
        program.alloc(size, LOAD);
    }
}

/// Call the model `calls` times, each time with a loss of its own.
fn forward(program: &mut Program, calls: usize) -> Vec<u64> {
    let mut graph = Vec::new();
    for _ in 0..calls {
        let input = program.alloc(4096, DATA);
        graph.extend((0..12).map(|_| program.alloc(3 * MIB, FORWARD)));
        graph.push(program.alloc(4, LOSS));
        program.free(input, DATA);
    }
    graph
}

/// One training step, whose model is called `calls` times before the backward pass.
fn step(program: &mut Program, calls: usize, is_first: bool) {
    for activation in forward(program, calls).into_iter().rev() {
        program.free(activation, BACKWARD);
    }
    let gradients = SIZES.map(|size| program.alloc(size, BACKWARD));
    program.announce(STEP_NAME, true);
    if is_first {
        for size in SIZES {
            program.alloc(size, STATE);
            program.alloc(size, STATE);
        }
    }
    program.announce(STEP_NAME, false);
    program.announce(ZERO_GRAD_NAME, true);
    for gradient in gradients {
        program.free(gradient, ZERO_GRAD);
    }
    program.announce(ZERO_GRAD_NAME, false);
}

#[test]
fn the_calls_of_one_step_wait_for_its_backward() {
    let mut program = Program::default();
    model(&mut program);
    for at in 0..3 {
        step(&mut program, 4, at == 0);
    }
    forward(&mut program, 40);
    assert_eq!(retained(program).map(|retained| retained.repetitions), None);
}

#[test]
fn calls_that_no_backward_ever_followed_leave_their_graph_behind() {
    let mut program = Program::default();
    model(&mut program);
    for at in 0..3 {
        step(&mut program, 1, at == 0);
    }
    for _ in 0..10 {
        let input = program.alloc(4096, DATA);
        for line in VALIDATE {
            for _ in 0..6 {
                program.alloc(3 * MIB, line);
            }
        }
        program.free(input, DATA);
    }
    let retained = retained(program).expect("nine graphs stay");
    assert!(retained.is_graph() && 8 <= retained.repetitions && !retained.outlives_backward, "{retained:?}");
}

/// A training in which every step keeps a result in a cache of at most `limit` results.
fn cache(mut program: Program, steps: usize, limit: usize) -> Option<Retained> {
    const KEEP: &[&str] = &["/home/me/train.py remember", "/home/me/train.py <module>"];
    model(&mut program);
    let mut cache = Vec::new();
    for at in 0..steps {
        step(&mut program, 1, at == 0);
        cache.push(program.alloc(2 * MIB, KEEP));
        if limit < cache.len() {
            program.free(cache.remove(0), KEEP);
        }
    }
    retained(program)
}

#[test]
fn a_cache_that_is_full_does_not_grow() {
    let program = Program::default;
    assert_eq!(cache(program(), 30, 10), None);
    let retained = cache(program(), 30, 1000).expect("it grows");
    assert!((27..=30).contains(&retained.repetitions), "{retained:?}");
    assert_eq!((retained.per_repetition_bytes.0, retained.sizes), (2 * MIB, 0));
}

#[test]
fn without_stacks_sizes_tell_what_stays_where_steps_are_announced() {
    let program = || Program::timed().without_stacks();
    assert_eq!(cache(program(), 30, 10), None);
    let retained = cache(program(), 30, 1000).expect("it grows");
    assert!((27..=30).contains(&retained.repetitions), "{retained:?}");
    assert_eq!((retained.per_repetition_bytes.0, retained.sizes, retained.lines), (2 * MIB, 1, 0));
    assert_eq!(cache(Program::bare(), 30, 1000), None, "nothing says what an iteration is");
}

/// A training that makes a new optimizer every few steps, and keeps or drops the old one.
fn restarts(keeps: bool) -> Option<Retained> {
    let mut program = Program::default();
    model(&mut program);
    let mut old = Vec::new();
    for at in 0..24 {
        step(&mut program, 1, false);
        if at % 6 == 0 {
            if !keeps {
                for state in std::mem::take(&mut old) {
                    program.free(state, STATE);
                }
            }
            old.extend(SIZES.iter().flat_map(|&size| [size; 2]).map(|size| program.alloc(size, STATE)));
        }
    }
    retained(program)
}

#[test]
fn state_of_earlier_optimizers_is_left_behind() {
    assert_eq!(restarts(false), None);
    let retained = restarts(true).expect("three sets stay");
    assert!(retained.kind == Kind::Optimizers, "{retained:?}");
    assert!(2 <= retained.repetitions, "{retained:?}");
}

#[test]
fn memory_from_before_the_recording_counts_by_its_stack() {
    const KEEP: &[&str] = &["/home/me/train.py remember", "/home/me/train.py <module>"];
    let mut program = Program::default();
    model(&mut program);
    for at in 0..40 {
        if at == 25 {
            program.forget_events();
        }
        step(&mut program, 1, at == 0);
        program.alloc(2 * MIB, KEEP);
    }
    let retained = retained(program).expect("it grows");
    assert_eq!(retained.older_bytes, 25 * 2 * MIB);
    assert!(retained.older_bytes < retained.bytes && 12 <= retained.repetitions, "{retained:?}");
}

#[test]
fn copies_of_a_model_that_is_trained_in_turn_are_no_leak_for_their_sizes_alone() {
    let mut program = Program::timed().without_stacks();
    model(&mut program);
    for at in 0..8 {
        step(&mut program, 1, at == 0);
        for size in SIZES {
            program.alloc(size, LOAD);
        }
    }
    assert_eq!(retained(program), None);
}

#[test]
fn what_is_made_before_the_call_that_uses_it_is_a_batch_and_what_comes_after_it_a_result() {
    const BATCH: &[&str] = &["/home/me/data.py fetch", "/home/me/train.py <module>"];
    let loading = |ahead: usize, used: usize| {
        let mut program = Program::default();
        model(&mut program);
        let mut batches = std::collections::VecDeque::new();
        for at in 0..30 {
            for _ in 0..ahead {
                batches.push_back(program.alloc(2 * MIB, BATCH));
            }
            step(&mut program, 1, at == 0);
            for batch in batches.drain(..used) {
                program.free(batch, BATCH);
            }
        }
        retained(program).map(|retained| retained.kind)
    };
    assert_eq!(loading(1, 0), Some(Kind::Inputs));
    assert_eq!(loading(2, 1), Some(Kind::InputsAhead));
    assert_eq!(loading(1, 1), None);
    assert_eq!(cache(Program::default(), 30, 1000).map(|retained| retained.kind), Some(Kind::Computed));
}

#[test]
fn a_line_that_also_makes_what_soon_goes_leaves_growth_behind() {
    const KEEP: &[&str] = &["/home/me/train.py remember", "/home/me/train.py <module>"];
    let growth = |keeps: bool| {
        let mut program = Program::default();
        model(&mut program);
        for at in 0..12 {
            let brief: Vec<u64> = (0..6).map(|_| program.alloc(2 * MIB, KEEP)).collect();
            if keeps {
                program.alloc(2 * MIB, KEEP);
            }
            step(&mut program, 1, at == 0);
            for brief in brief {
                program.free(brief, BACKWARD);
            }
        }
        retained(program).map(|retained| retained.bytes / MIB / 2)
    };
    assert_eq!(growth(false), None);
    assert!(growth(true).is_some_and(|kept| 10 <= kept), "{:?}", growth(true));
}

#[test]
fn copies_of_weights_pile_up_without_stacks_as_well() {
    let copies = |sets: usize| {
        let mut program = Program::timed().without_stacks();
        model(&mut program);
        for at in 0..160 {
            step(&mut program, 1, at == 0);
            if at % 4 == 3 && at / 4 < sets {
                step(&mut program, 1, false);
                for size in SIZES {
                    program.alloc(size, LOAD);
                }
            }
        }
        retained(program).map(|retained| retained.kind)
    };
    assert_eq!(copies(1), None, "an average");
    assert_eq!(copies(40), Some(Kind::Weights));
}
