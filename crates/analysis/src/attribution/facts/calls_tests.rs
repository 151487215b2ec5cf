//! Calls that train, as far as names and memory tell before any backward.

use crate::attribution::facts::{DeviceFacts, FactsByStack};
use oomscope_fixtures::programs::{DATA, LOAD, Program, SIZES, train};

const CALL: &str = "torch/nn/modules/module.py _call_impl";
const NO_GRAD: &str = "torch/utils/_contextlib.py decorate_context";
const MAIN: &str = "/home/me/train.py <module>";
const LAYER: &str = "torch/nn/modules/linear.py forward";

/// Whether a first call trains; it keeps all of its blocks, as for a graph, or none.
fn trains(frames: &[&str], keeps: bool) -> bool {
    let mut program = Program::default();
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for _ in 0..20 {
        let addr = program.alloc(8 << 20, frames);
        if !keeps {
            program.free(addr, frames);
        }
    }
    let recording = program.finish();
    let flow = DeviceFacts::of(&recording, &FactsByStack::of(recording.snapshot()));
    assert_eq!(flow.calls.len(), 1);
    flow.calls[0].trains
}

#[test]
fn what_a_graph_keeps_tells_more_than_names_that_training_uses_too() {
    for name in ["encode", "decode", "sample", "predict", "evaluate_actions"] {
        let name = format!("/home/me/model.py Net.{name}");
        let frames = [LAYER, CALL, &name, "/home/me/train.py epoch", MAIN];
        assert_eq!((trains(&frames, true), trains(&frames, false)), (true, false), "{name}");
    }
}

#[test]
fn methods_of_a_model_say_nothing_of_the_loop_around_it() {
    let frames = [LAYER, CALL, "/home/me/model.py Net.generate", "/home/me/model.py Net.forward", CALL, MAIN];
    assert!(trains(&frames, true));
}

#[test]
fn a_loop_that_evaluates_does_not_train_whatever_stays() {
    for name in ["evaluate", "validate", "generate"] {
        let name = format!("/home/me/train.py {name}");
        let frames = [LAYER, CALL, &name, "/home/me/train.py train", MAIN];
        assert_eq!((trains(&frames, true), trains(&frames, false)), (false, false), "{name}");
    }
}

#[test]
fn calls_that_may_evaluate_do_where_new_data_come_before_any_backward() {
    let mut program = Program::default();
    let frames = [LAYER, CALL, "/home/me/model.py Net.encode", MAIN];
    let mut old = None;
    for _ in 0..3 {
        let data = program.alloc(4096, DATA);
        if let Some(old) = old.replace(data) {
            program.free(old, DATA);
        }
        for _ in 0..20 {
            program.alloc(8 << 20, &frames);
        }
    }
    let recording = program.finish();
    let flow = DeviceFacts::of(&recording, &FactsByStack::of(recording.snapshot()));
    assert!(flow.calls.iter().all(|call| !call.trains));
}

#[test]
fn a_decorator_that_switches_gradients_off_tells_most() {
    let frames = [LAYER, CALL, "/home/me/train.py encode", NO_GRAD, MAIN];
    assert!(!trains(&frames, true));
}

/// Whether a first call trains that keeps eight blocks and makes a workspace 200 times, as for each sample of a batch.
fn trains_with_workspaces(keeps: bool) -> bool {
    let mut program = Program::default();
    let frames = [LAYER, CALL, MAIN];
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for _ in 0..8 {
        let output = program.alloc(8 << 20, &frames);
        for _ in 0..25 {
            let workspace = program.alloc(4 << 20, &frames);
            program.free(workspace, &frames);
        }
        if !keeps {
            program.free(output, &frames);
        }
    }
    let recording = program.finish();
    let flow = DeviceFacts::of(&recording, &FactsByStack::of(recording.snapshot()));
    flow.calls.iter().all(|call| call.trains)
}

#[test]
fn workspaces_do_not_hide_a_graph() {
    assert!(trains_with_workspaces(true));
    assert!(!trains_with_workspaces(false));
}

/// Which calls train, of two iterations of training and calls from another line that keep their blocks, as many each time.
fn trains_beside_training(other_calls: usize) -> Vec<bool> {
    let mut program = Program::default();
    train(&mut program, 2, None);
    for _ in 0..other_calls {
        for _ in 0..20 {
            program.alloc(8 << 20, &[LAYER, CALL, "/home/me/train.py measure", MAIN]);
        }
        program.alloc(4, DATA);
    }
    let recording = program.finish();
    let flow = DeviceFacts::of(&recording, &FactsByStack::of(recording.snapshot()));
    flow.calls.iter().map(|call| call.trains).collect()
}

#[test]
fn calls_that_repeat_beside_the_training_evaluate_even_with_a_graph() {
    let training = [true, false, true];
    assert_eq!(trains_beside_training(1), [&training[..], &[true]].concat());
    assert_eq!(trains_beside_training(3), [&training[..], &[false; 3]].concat());
}
