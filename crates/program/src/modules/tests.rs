//! Blocks of small programs, each written out as the stacks of its forward.

use crate::{Computation, Run};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, LOAD, LOSS, Program, ZERO_GRAD};

const MIB: i64 = 1 << 20;
const MAIN: &str = "/home/me/train.py:90 <module>";
const CALL: &str = "torch/nn/modules/module.py _call_impl";
const LINEAR: &str = "torch/nn/modules/linear.py forward";
const GELU: &str = "torch/nn/modules/activation.py forward";
const SEQUENTIAL: &str = "torch/nn/modules/container.py:259 forward";
const MODEL: &str = "/home/me/model.py:50 forward";

/// A stack of the model's forward, given its inner frames.
fn within(inner: &[&'static str], outer: &[&'static str]) -> Vec<&'static str> {
    [inner, outer, &[MAIN]].concat()
}

/// A block with two lines, called from some frames: two modules on the first, a sum on the second.
fn block(outer: &[&'static str]) -> Vec<Vec<&'static str>> {
    vec![
        within(&[LINEAR, CALL, "/home/me/model.py:20 forward"], outer),
        within(&[GELU, CALL, "/home/me/model.py:20 forward"], outer),
        within(&["/home/me/model.py:21 forward"], outer),
    ]
}

/// How many allocations each block has, in a program that trains with a forward like this. Each keeps as much.
fn blocks(forward: &[Vec<&'static str>]) -> Vec<u32> {
    let mut program = Program::default();
    for size in [3 * MIB, 5 * MIB] {
        program.alloc(size, LOAD);
    }
    for _ in 0..2 {
        let input = program.alloc(MIB, DATA);
        let kept: Vec<u64> = forward.iter().map(|stack| program.alloc(8 * MIB, stack)).collect();
        let loss = program.alloc(4, LOSS);
        for address in kept.into_iter().rev() {
            program.free(address, BACKWARD);
        }
        let gradients = [3 * MIB, 5 * MIB].map(|size| program.alloc(size, BACKWARD));
        for address in gradients {
            program.free(address, ZERO_GRAD);
        }
        program.free(loss, DATA);
        program.free(input, DATA);
    }
    let recording = program.finish();
    let attribution = Attribution::of(&recording, &UserRules::default());
    let computation = Computation::of(Run { recording: &recording, attribution: &attribution });
    let pass = computation.spans.passes().last().expect("a pass was recorded");
    let blocks = computation.blocks(&(pass.events.start..pass.backward));
    blocks.into_iter().map(|ids| ids.end - ids.start).collect()
}

fn times(count: usize, stacks: &[Vec<&'static str>]) -> Vec<Vec<&'static str>> {
    (0..count).flat_map(|_| stacks.iter().cloned()).collect()
}

#[test]
fn a_loop_over_modules_has_a_block_for_each_turn() {
    assert_eq!(blocks(&times(4, &block(&[CALL, MODEL, CALL]))), [3; 4]);
}

#[test]
fn a_sequential_has_a_block_for_each_module() {
    assert_eq!(blocks(&times(4, &block(&[CALL, SEQUENTIAL, CALL, MODEL, CALL]))), [3; 4]);
}

#[test]
fn stages_of_blocks_are_no_blocks() {
    let stage = |line: &'static str| times(3, &block(&[CALL, SEQUENTIAL, CALL, line, CALL]));
    let stages = [stage("/home/me/model.py:50 forward"), stage("/home/me/model.py:51 forward")].concat();
    assert_eq!(blocks(&stages), [3; 6]);
}

#[test]
fn classes_of_one_file_in_one_sequential_are_told_apart() {
    let outer = [CALL, SEQUENTIAL, CALL, MODEL, CALL];
    let other = [
        within(&[LINEAR, CALL, "/home/me/model.py:30 forward"], &outer),
        within(&[GELU, CALL, "/home/me/model.py:31 forward"], &outer),
    ];
    let both = [times(2, &block(&outer)), times(3, &other)].concat();
    assert_eq!(blocks(&both), [3, 3, 2, 2, 2]);
}

#[test]
fn a_statement_of_several_lines_ends_no_block() {
    let outer = [CALL, MODEL, CALL];
    // x = x + self.drop(
    //     self.attention(self.norm(x)))
    let attention = [
        within(&[LINEAR, CALL, "/home/me/model.py:22 forward"], &outer),
        within(&[GELU, CALL, "/home/me/model.py:21 forward"], &outer),
        within(&["/home/me/model.py:21 forward"], &outer),
        within(&[LINEAR, CALL, "/home/me/model.py:24 forward"], &outer),
    ];
    assert_eq!(blocks(&times(3, &attention)), [4; 3]);
}

#[test]
fn a_loop_without_modules_has_blocks() {
    let layer = [
        within(&["/home/me/model.py:20 layer", "/home/me/model.py:40 model"], &[]),
        within(&["/home/me/model.py:21 layer", "/home/me/model.py:40 model"], &[]),
    ];
    let head = [within(&["/home/me/model.py:42 model"], &[])];
    assert_eq!(blocks(&[times(5, &layer), head.to_vec()].concat()), [2; 5]);
}

#[test]
fn decorators_are_looked_through() {
    let wrapped = [CALL, "/x/transformers/utils/generic.py:9 wrapper", MODEL, CALL];
    let head = [within(&[LINEAR, CALL, "/x/transformers/utils/generic.py:9 wrapper", MODEL, CALL], &[])];
    assert_eq!(blocks(&[times(3, &block(&wrapped)), head.to_vec()].concat()), [3; 3]);
}

#[test]
fn a_loop_within_a_block_makes_no_blocks_of_its_own() {
    let line = |line: &'static str, module: &'static str| {
        within(&[module, CALL, line], &[CALL, SEQUENTIAL, CALL, MODEL, CALL])
    };
    let turn = [line("/home/me/model.py:22 forward", LINEAR), line("/home/me/model.py:23 forward", GELU)];
    let one = [
        vec![line("/home/me/model.py:20 forward", LINEAR)],
        times(3, &turn),
        vec![line("/home/me/model.py:25 forward", LINEAR)],
    ];
    assert_eq!(blocks(&times(4, &one.concat())), [8; 4]);
}

#[test]
fn blocks_of_stages_that_keep_much_themselves_are_found() {
    let outer = [CALL, "/home/me/model.py:40 forward", CALL, MODEL, CALL];
    let own = |line: &'static str| within(&[LINEAR, CALL, line], &[CALL, MODEL, CALL]);
    let large = [block(&outer), vec![within(&[LINEAR, CALL, "/home/me/model.py:22 forward"], &outer); 3]];
    let stage = [
        vec![own("/home/me/model.py:39 forward")],
        times(4, &large.concat()),
        vec![own("/home/me/model.py:41 forward")],
    ];
    assert_eq!(blocks(&times(3, &stage.concat())), [6; 12]);
}

#[test]
fn functions_that_call_no_module_are_no_blocks_beside_those_that_do() {
    let norm = [
        within(&["/home/me/model.py:10 norm"], &[MODEL, CALL]),
        within(&["/home/me/model.py:11 norm"], &[MODEL, CALL]),
    ];
    assert_eq!(blocks(&[times(4, &block(&[CALL, MODEL, CALL])), times(2, &norm)].concat()), [3; 4]);
}

#[test]
fn a_single_call_is_no_block() {
    assert_eq!(blocks(&block(&[CALL, MODEL, CALL])), [0; 0]);
}
