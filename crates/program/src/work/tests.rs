//! A program of which the work is known: two blocks of two layers each, and a head.

use crate::{Run, Workload};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, LOSS, Program, ZERO_GRAD};
use oomscope_model::AllocId;

const CALL: &str = "torch/nn/modules/module.py _call_impl";
const MAIN: &str = "/home/me/train.py:9 <module>";
const LAYER: &[&str] =
    &["torch/nn/modules/linear.py forward", CALL, "/home/me/model.py:50 forward", CALL, MAIN];
const ACT: &[&str] =
    &["torch/nn/modules/activation.py forward", CALL, "/home/me/model.py:50 forward", CALL, MAIN];
const HEAD: &[&str] =
    &["torch/nn/modules/linear.py forward", CALL, "/home/me/model.py:60 forward", CALL, MAIN];

const POSITIONS: i64 = 3000;
const WIDTH: i64 = 256;
/// Weights of the head, and of the layers of a block, with their biases, in bytes.
const TABLE: i64 = 4 * WIDTH * 2560;
const UP: [i64; 2] = [4 * 4 * WIDTH * WIDTH, 4 * 4 * WIDTH];
const DOWN: [i64; 2] = [UP[0], 4 * WIDTH];

/// Three steps of it, in which the weights of blocks have gradients or not.
fn program(has_gradients: bool) -> Program {
    let mut program = Program::default();
    for size in [UP, DOWN, UP, DOWN].concat() {
        program.alloc(size, LOAD);
    }
    program.alloc(TABLE, LOAD);
    let value = 4 * POSITIONS * WIDTH;
    for _ in 0..3 {
        let input = program.alloc(value, DATA);
        let mut kept = Vec::new();
        for _ in 0..2 {
            kept.push(
                [(4 * value, LAYER), (4 * value, ACT), (value, LAYER)]
                    .map(|(size, stack)| program.alloc(size, stack)),
            );
        }
        let logits = program.alloc(4 * POSITIONS * 2560, HEAD);
        let loss = program.alloc(4, LOSS);
        program.free(logits, BACKWARD);
        let mut gradients = vec![program.alloc(TABLE, BACKWARD)];
        for [up, act, down] in kept.into_iter().rev() {
            program.free(down, BACKWARD);
            for (weight, needed) in [(DOWN, [act, up]), (UP, [down, down])] {
                let of_layer = if has_gradients { weight.to_vec() } else { Vec::new() };
                gradients.extend(of_layer.into_iter().map(|size| program.alloc(size, BACKWARD)));
                for value in needed {
                    program.free(value, BACKWARD);
                }
            }
        }
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
        program.free(loss, DATA);
        program.free(input, DATA);
    }
    program
}

/// What is asked of the program: the share of its whole forward, and that of what was made by a line.
fn shares(program: Program, stack: &[&str]) -> (f64, Option<f64>) {
    let mut program = program;
    let wanted = program.stack(stack);
    let recording = program.finish();
    let attribution = Attribution::of(&recording, &UserRules::default());
    let workload = Workload::of(Run { recording: &recording, attribution: &attribution });
    let ids: Vec<AllocId> = recording.ids().filter(|&id| recording.stack(id) == wanted).collect();
    let work = workload.work();
    (work.of_forward(1.0), work.share(ids.iter().map(|id| id.0..id.0 + 1)))
}

#[test]
fn products_have_the_work_of_their_weights() {
    // In products of a width by a width at all positions: four layers of 4, a head of 10. The first needs no gradient of its input.
    let (forward, all) = (4.0 * 4.0 + 10.0, 3.0 * (4.0 * 4.0 + 10.0) - 4.0);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let (of_forward, of_head) = shares(program(true), HEAD);
    assert!(near(of_forward, forward / all), "{of_forward}");
    assert!(of_head.is_some_and(|share| near(share, 10.0 / all)), "{of_head:?}");
    let (_, of_layers) = shares(program(true), LAYER);
    assert!(of_layers.is_some_and(|share| near(share, 16.0 / all)), "{of_layers:?}");
    assert_eq!(shares(program(true), ACT).1, None);
}

#[test]
fn weights_without_gradients_leave_half_of_the_work_to_the_forward() {
    assert_eq!(shares(program(false), LAYER), (0.5, None));
}
