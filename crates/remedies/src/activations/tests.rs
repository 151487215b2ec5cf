//! Remedies for activations, on a small program whose peaks can be added up by hand.

use crate::outcome::Prediction;
use crate::predict::predict;
use crate::scene::Scene;
use crate::wanted::Wanted;
use oomscope_analysis::{Attribution, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, LOSS, Program, STATE, ZERO_GRAD};
use oomscope_model::Recording;
use oomscope_program::{Run, Workload};
use oomscope_simulator::{Device, Subject};

const MIB: i64 = 1 << 20;
const MAIN: &str = "/home/me/train.py:90 <module>";
const CALL: &str = "torch/nn/modules/module.py _call_impl";
const MODEL: &str = "/home/me/model.py:50 forward";
const LINEAR: &str = "torch/nn/modules/linear.py forward";
const GELU: &str = "torch/nn/modules/activation.py forward";

/// Stacks of a block with two lines, called in a loop.
const UP: &[&str] = &[LINEAR, CALL, "/home/me/model.py:20 forward", CALL, MODEL, CALL, MAIN];
const ACT: &[&str] = &[GELU, CALL, "/home/me/model.py:20 forward", CALL, MODEL, CALL, MAIN];
const ADD: &[&str] = &["/home/me/model.py:21 forward", CALL, MODEL, CALL, MAIN];
const EVAL_UP: &[&str] = &[LINEAR, CALL, "/home/me/model.py:20 forward", CALL, MODEL, CALL, VALIDATE, MAIN];
const EVAL_ADD: &[&str] = &["/home/me/model.py:21 forward", CALL, MODEL, CALL, VALIDATE, MAIN];
const VALIDATE: &str = "/home/me/train.py:70 validate";

/// Parameters of three blocks.
const PARAMETERS: [i64; 3] = [3 * MIB, 5 * MIB, 7 * MIB];

/// Train for some steps. Each of three blocks makes 40, 30 and 20 MiB, all of which the backward needs.
fn train(program: &mut Program, steps: usize) {
    train_as(program, steps, &Style::default());
}

/// What a program does in its own way.
#[derive(Default)]
struct Style {
    /// It keeps something of each forward.
    kept_bytes: Option<i64>,
    /// It keeps gradients until the next forward is over.
    keeps_gradients: bool,
    /// It loads one batch for all steps.
    loads_once: bool,
}

/// [`train`], in a style.
fn train_as(program: &mut Program, steps: usize, style: &Style) {
    let &Style { kept_bytes, keeps_gradients, loads_once } = style;
    for size in PARAMETERS {
        program.alloc(size, LOAD);
    }
    let mut input = program.alloc(MIB, DATA);
    let mut before = Vec::new();
    for step in 0..steps {
        let blocks: Vec<[u64; 3]> = (0..3)
            .map(|_| [(40, UP), (30, ACT), (20, ADD)].map(|(size, stack)| program.alloc(size * MIB, stack)))
            .collect();
        if let Some(bytes) = kept_bytes {
            program.alloc(bytes, ADD);
        }
        let loss = program.alloc(4, LOSS);
        for gradient in std::mem::take(&mut before) {
            program.free(gradient, ZERO_GRAD);
        }
        let mut gradients = Vec::new();
        for (block, size) in blocks.into_iter().zip(PARAMETERS).rev() {
            let passing = program.alloc(10 * MIB, BACKWARD);
            for kept in block.into_iter().rev() {
                program.free(kept, BACKWARD);
            }
            gradients.push(program.alloc(size, BACKWARD));
            program.free(passing, BACKWARD);
        }
        if step == 0 {
            for size in PARAMETERS {
                program.alloc(size, STATE);
            }
        }
        if keeps_gradients {
            before = gradients;
        } else {
            for gradient in gradients {
                program.free(gradient, ZERO_GRAD);
            }
        }
        program.free(loss, DATA);
        if loads_once {
            continue;
        }
        let next = program.alloc(MIB, DATA);
        program.free(std::mem::replace(&mut input, next), DATA);
    }
}

/// Evaluate with a graph: what the blocks keep stays until the call is over.
fn evaluate(program: &mut Program) {
    for _ in 0..2 {
        let input = program.alloc(MIB, DATA);
        let blocks: Vec<[u64; 2]> = (0..6)
            .map(|_| [(60, EVAL_UP), (20, EVAL_ADD)].map(|(size, stack)| program.alloc(size * MIB, stack)))
            .collect();
        for kept in blocks.into_iter().flatten() {
            program.free(kept, LOSS);
        }
        program.free(input, DATA);
    }
}

/// The prediction of one remedy; `None` if it does not apply.
fn prediction(recording: &Recording, id: &str) -> Option<Prediction> {
    let attribution = Attribution::of(recording, &UserRules::default());
    let subject = Subject::new(recording);
    let device = Device::default();
    let workload = Workload::of(Run { recording, attribution: &attribution });
    let scene = Scene::new(&workload, &subject, device);
    let wanted = vec![Wanted::parse(id).expect("the id is known")];
    predict(&scene, &wanted.into(), &|_, _| true).remedies.into_iter().next()
}

/// Its predicted peak in MiB, rounded.
fn peak(recording: &Recording, id: &str) -> Option<u64> {
    Some((prediction(recording, id)?.figures.peak_requested + (1 << 19)) >> 20)
}

fn trained() -> Recording {
    let mut program = Program::default();
    train(&mut program, 3);
    program.finish()
}

#[test]
fn micro_batches_share_what_scales_and_keep_gradients() {
    let recording = trained();
    // Parameters and state of 15 MiB each, three blocks of 90, a MiB of input, 10 on their way.
    assert_eq!(peak(&recording, "set:max_split_size_mb=64"), Some(15 + 15 + 270 + 1 + 10));
    // All gradients are there from the start, and what passes is halved, too.
    assert_eq!(peak(&recording, "half-batch"), Some(15 + 15 + 15 + (270 + 1 + 10) / 2 + 1));
}

#[test]
fn what_passes_leave_behind_is_as_much_in_smaller_batches() {
    let mut program = Program::default();
    train_as(&mut program, 3, &Style { kept_bytes: Some(8 * MIB), ..Style::default() });
    let recording = program.finish();
    let kept = 3 * 8;
    assert_eq!(peak(&recording, "set:max_split_size_mb=64"), Some(15 + 15 + 270 + 1 + 10 + kept));
    assert_eq!(peak(&recording, "half-batch"), Some(15 + 15 + 15 + (270 + 1 + 10) / 2 + 1 + kept));
}

#[test]
fn the_last_micro_batch_has_no_gradients_of_the_step_before() {
    let mut program = Program::default();
    train_as(&mut program, 3, &Style { keeps_gradients: true, ..Style::default() });
    let recording = program.finish();
    // Parameters and state of 15 each, the gradients of the step before, all three blocks, an input.
    assert_eq!(peak(&recording, "set:max_split_size_mb=64"), Some(15 + 15 + 15 + 270 + 1));
    assert_eq!(peak(&recording, "half-batch"), Some(15 + 15 + 15 + (270 + 1 + 10) / 2 + 1));
}

#[test]
fn smaller_batches_name_their_condition() {
    let title = |style: &Style| {
        let mut program = Program::default();
        train_as(&mut program, 3, style);
        prediction(&program.finish(), "quarter-batch").expect("it is offered").title
    };
    assert!(title(&Style::default()).ends_with(", if it has at least 4 samples"));
    // Nodes of a graph that is loaded once are no samples.
    let whole = title(&Style { loads_once: true, ..Style::default() });
    assert!(whole.ends_with(", if its samples do not depend on each other"), "{whole}");
}

#[test]
fn autocast_is_not_offered_where_no_products_show() {
    assert!(peak(&trained(), "bf16-autocast").is_some());
    let mut program = Program::default();
    for size in PARAMETERS {
        program.alloc(size, LOAD);
    }
    for _ in 0..3 {
        // Functions have no frame of their own.
        let made: Vec<u64> = (0..3).map(|_| program.alloc(40 * MIB, ADD)).collect();
        for kept in made.into_iter().rev() {
            program.free(kept, BACKWARD);
        }
        let gradients = PARAMETERS.map(|size| program.alloc(size, BACKWARD));
        for gradient in gradients {
            program.free(gradient, ZERO_GRAD);
        }
    }
    assert_eq!(peak(&program.finish(), "bf16-autocast"), None);
}

#[test]
fn checkpoints_keep_what_blocks_return() {
    let recording = trained();
    // The outputs of two blocks; of the last one, 70 MiB that are computed again, and 10 on their way. What the last one returned
    // was needed by what came after it, whose backward is over.
    assert_eq!(peak(&recording, "checkpoint-all"), Some(15 + 15 + 1 + 40 + 70 + 10));
    // Every second keeps 70 MiB of the one between.
    assert_eq!(peak(&recording, "checkpoint-half"), Some(15 + 15 + 1 + 40 + 70 + 70 + 10));
    // Of equal ones, the first is the best: when its backward comes, the others are over.
    assert_eq!(peak(&recording, "checkpoint-largest"), Some(15 + 15 + 1 + 20 + 90 + 90 + 10));
}

#[test]
fn numbers_of_half_the_width_take_half() {
    let recording = trained();
    assert_eq!(peak(&recording, "bf16-model"), Some((15 + 15 + 270 + 10) / 2 + 1));
}

#[test]
fn evaluation_without_a_graph_holds_few_values() {
    let mut program = Program::default();
    train(&mut program, 2);
    evaluate(&mut program);
    train(&mut program, 1);
    let recording = program.finish();
    let recorded = peak(&recording, "set:max_split_size_mb=64").expect("settings always apply");
    let without = peak(&recording, "eval-no-grad").expect("evaluation keeps a graph");
    assert!(without < recorded, "{without} of {recorded}");
    assert_eq!(peak(&trained(), "eval-no-grad"), None);
}

#[test]
fn a_loss_without_a_graph_keeps_nothing_else() {
    const LOGITS: &[&str] = &[LINEAR, CALL, MODEL, CALL, "/home/me/train.py:60 loss_of", VALIDATE, MAIN];
    const BLOCK: [&[&str]; 2] = [
        &[
            LINEAR,
            CALL,
            "/home/me/model.py:20 forward",
            CALL,
            MODEL,
            CALL,
            "/home/me/train.py:60 loss_of",
            VALIDATE,
            MAIN,
        ],
        &["/home/me/model.py:21 forward", CALL, MODEL, CALL, "/home/me/train.py:60 loss_of", VALIDATE, MAIN],
    ];
    // The first keeps its result for the backward. Each has a stack of its own, from compiled code.
    const ENTROPY: [&[&str]; 3] = [
        &[
            "log_softmax::call",
            "torch/nn/functional.py cross_entropy",
            "/home/me/train.py:61 loss_of",
            VALIDATE,
            MAIN,
        ],
        &[
            "nll_loss_forward::call",
            "torch/nn/functional.py cross_entropy",
            "/home/me/train.py:61 loss_of",
            VALIDATE,
            MAIN,
        ],
        &[
            "total_weight::call",
            "torch/nn/functional.py cross_entropy",
            "/home/me/train.py:61 loss_of",
            VALIDATE,
            MAIN,
        ],
    ];
    let mut program = Program::default();
    train(&mut program, 2);
    for _ in 0..4 {
        program.alloc(MIB, &[VALIDATE, MAIN]);
        for (size, stack) in [(10, BLOCK[0]), (5, BLOCK[1])].repeat(6) {
            program.alloc(size * MIB, stack);
        }
        let logits = program.alloc(200 * MIB, LOGITS);
        for (size, stack) in [200 * MIB, 4, 4].into_iter().zip(ENTROPY) {
            program.alloc(size, stack);
        }
        program.free(logits, LOSS);
    }
    // Logits and their logarithms of one call, beside the model, its gradients and its state, and what its blocks return.
    let peak = peak(&program.finish(), "eval-no-grad").expect("evaluation keeps a graph");
    assert!(peak < 15 + 15 + 15 + 2 * 200 + 50, "{peak}");
}

#[test]
fn without_stacks_there_are_no_blocks() {
    let mut program = Program::bare();
    train(&mut program, 3);
    let recording = program.finish();
    for id in ["checkpoint-all", "bf16-autocast", "sdpa", "chunk-loss"] {
        assert_eq!(peak(&recording, id), None, "{id}");
    }
}

/// Calls of a model alone, whose parameters show numbers of some bytes: two matrices, each with its bias.
fn run_forward(width: i64) -> Recording {
    let mut program = Program::default();
    for numbers in [1024 * 4096, 4096, 4096 * 1024, 1024] {
        program.alloc(numbers * width, LOAD);
    }
    for _ in 0..3 {
        let input = program.alloc(MIB, DATA);
        let mut before = program.alloc(40 * MIB, EVAL_UP);
        for stack in [EVAL_ADD, EVAL_UP, EVAL_ADD] {
            let value = program.alloc(40 * MIB, stack);
            program.free(std::mem::replace(&mut before, value), stack);
        }
        program.free(before, &[VALIDATE, MAIN]);
        program.free(input, DATA);
    }
    program.finish()
}

#[test]
fn what_only_runs_forward_gets_code_for_that() {
    let recording = run_forward(4);
    let code = |id: &str| prediction(&recording, id).map(|found| found.code).unwrap_or_default();
    assert!(code("half-batch").contains("inference_mode") && code("bf16-model").contains("torch_dtype"));
    assert!(["half-batch", "bf16-model"].iter().all(|id| !code(id).contains("optimizer")));
    // The matrices with biases of 20 KiB, an input and two values.
    assert_eq!(peak(&recording, "half-batch"), Some(32 + (1 + 40 + 40) / 2 + 1));
    assert_eq!(peak(&recording, "bf16-model"), Some(16 + 1 + 40));
    assert_eq!(peak(&recording, "bf16-autocast"), None);
}

#[test]
fn sizes_of_parameters_show_numbers_of_two_bytes() {
    assert_eq!(peak(&run_forward(2), "bf16-model"), None);
}

#[test]
fn each_remedy_names_the_line_that_it_applies_to() {
    let recording = trained();
    // Allocations of a block have nothing in common but the loop that calls it.
    let line = |id: &str| prediction(&recording, id)?.preconditions.into_iter().next()?.line;
    assert_eq!(line("checkpoint-all").as_deref(), Some("model.py:50 forward"));
    assert_eq!(line("half-batch").as_deref(), Some("train.py:90 <module>"));
    let fact = |id: &str| prediction(&recording, id).map(|found| found.preconditions[0].fact.clone());
    assert_eq!(fact("checkpoint-all").as_deref(), Some("3 blocks keep 210 MiB for the backward"));
}
