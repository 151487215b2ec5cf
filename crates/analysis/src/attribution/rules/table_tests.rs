//! A made-up program for each rule that decides nothing in the recordings of `tests/corpus`.

use crate::{Attribution, RuleId, UserRules};
use oomscope_fixtures::programs::{
    BACKWARD, DATA, EVALUATE, FOREACH, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME, ZERO_GRAD,
    state,
};
use oomscope_model::{AllocId, Recording};

const MIB: i64 = 1 << 20;
const MAIN: &str = "/home/me/train.py <module>";

fn load(program: &mut Program) {
    for size in SIZES {
        program.alloc(size, LOAD);
    }
}

/// One pass with its gradients.
fn pass(program: &mut Program) -> [u64; 4] {
    let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 * MIB, FORWARD)).collect();
    let loss = program.alloc(4, LOSS);
    for activation in kept.into_iter().rev() {
        program.free(activation, BACKWARD);
    }
    program.free(loss, BACKWARD);
    SIZES.map(|size| program.alloc(size, BACKWARD))
}

/// Steps that torch announced, without stacks; the last one makes what the one before did, and does not end.
fn unfinished_step() -> Recording {
    let mut program = Program::timed().without_stacks();
    load(&mut program);
    for step in 0..3 {
        let gradients = pass(&mut program);
        program.announce(STEP_NAME, true);
        let kept = program.alloc(SIZES[3], STATE);
        let temporary = program.alloc(SIZES[2], STATE);
        if step < 2 {
            program.free(temporary, STATE);
            program.announce(STEP_NAME, false);
            for gradient in gradients {
                program.free(gradient, ZERO_GRAD);
            }
            if step == 0 {
                program.free(kept, DATA);
            }
        }
    }
    program.finish()
}

/// A second backward at parameters that were moved away, as in sharpness-aware minimisation.
fn perturbed() -> Recording {
    const PERTURB: &[&str] = &["/home/me/sam.py first_step", "torch/optim/optimizer.py zero_grad", MAIN];
    let mut program = Program::default();
    load(&mut program);
    pass(&mut program);
    program.alloc(7 * MIB, PERTURB);
    program.finish()
}

fn stack_only() -> Recording {
    let mut program = Program::default();
    program.alloc(9 * MIB, &["/home/me/tool.py make", MAIN]);
    program.forget_events();
    program.finish()
}

/// A server that keeps equal blocks, and infers.
fn equal_blocks() -> Recording {
    let mut program = Program::default();
    load(&mut program);
    for _ in 0..4 {
        program.alloc(32 * MIB, &["/home/me/store.py __init__", MAIN]);
    }
    let output = program.alloc(2 * MIB, EVALUATE);
    program.free(output, EVALUATE);
    program.finish()
}

fn workspace_size() -> Recording {
    state(&[&[6 * MIB, (8 << 20) + (128 << 10)]])
}

/// Buckets that are older than the recording, behind the parameters.
fn old_bucket() -> Recording {
    const REDUCER: &[&str] = &["torch/nn/parallel/distributed.py _ddp_init_helper", MAIN];
    let mut program = Program::default();
    load(&mut program);
    program.alloc(45 * MIB, LOAD);
    program.start_late();
    for gradient in pass(&mut program) {
        program.free(gradient, ZERO_GRAD);
    }
    for frames in [REDUCER, FOREACH] {
        let passing = program.alloc(MIB / 2, frames);
        program.free(passing, frames);
    }
    program.finish()
}

/// State that each step makes anew.
fn gone_in_step() -> Recording {
    const OWN: &[&str] = &["/home/me/adam.py step", "torch/optim/optimizer.py wrapper", MAIN];
    let mut program = Program::default();
    load(&mut program);
    let old = SIZES.map(|size| program.alloc(size, OWN));
    program.start_late();
    let gradients = pass(&mut program);
    for (size, old) in SIZES.into_iter().zip(old) {
        program.alloc(size, OWN);
        program.free(old, OWN);
    }
    for gradient in gradients {
        program.free(gradient, ZERO_GRAD);
    }
    program.finish()
}

/// Four blocks of each size, and nothing that shows which are older.
fn one_number() -> Recording {
    let (model, gradients) = ([2, 3, 5, 6].map(|size| size * MIB), [6, 5, 3, 2].map(|size| size * MIB));
    let states: Vec<i64> = model.iter().flat_map(|&size| [size; 2]).collect();
    state(&[&[-40 * MIB], &model, &gradients, &states, &[-40 * MIB]])
}

/// One small parameter, and far more that has its size in a step which does not end.
fn implausible() -> Recording {
    let mut program = Program::timed().without_stacks();
    program.alloc(MIB, LOAD);
    let kept: Vec<u64> = (0..12).map(|at| program.alloc(30 * MIB + at * 512, FORWARD)).collect();
    for activation in kept {
        program.free(activation, BACKWARD);
    }
    program.alloc(MIB, BACKWARD);
    program.announce(STEP_NAME, true);
    for _ in 0..9 {
        program.alloc(MIB, FOREACH);
    }
    program.finish()
}

#[test]
fn every_rule_that_no_recording_shows_decides_in_a_program() {
    let table: [(RuleId, fn() -> Recording); 10] = [
        (RuleId::UnfinishedStepKeeps, unfinished_step),
        (RuleId::UnfinishedStepDrops, unfinished_step),
        (RuleId::Perturbed, perturbed),
        (RuleId::StackOnly, stack_only),
        (RuleId::EqualBlocks, equal_blocks),
        (RuleId::WorkspaceSize, workspace_size),
        (RuleId::OldBucket, old_bucket),
        (RuleId::GoneInStep, gone_in_step),
        (RuleId::OneNumber, one_number),
        (RuleId::Implausible, implausible),
    ];
    for (rule, program) in table {
        let recording = program();
        let found = Attribution::of(&recording, &UserRules::default()).categories;
        let rules: Vec<RuleId> =
            (0..recording.lifetimes.len() as u32).map(|id| found.rule(AllocId(id))).collect();
        assert!(rules.contains(&rule), "{rule:?}: {rules:?}");
    }
}
