//! Operators of recordings with frames of compiled code, without them, and of one beside the other.

use super::*;
use crate::{Attribution, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks;
use oomscope_model::{Recording, StackId};

const TORCH: &str = "/env/lib/python3.11/site-packages/torch";

/// Which frames a recording has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frames {
    All,
    Python,
}

/// A frame of compiled code.
fn native(name: &str) -> String {
    format!("{TORCH}/lib/libtorch_cpu.so:0 {name}")
}

/// The step of a program: a norm, attention and a sum of the program's own, and two parts of the backward pass.
fn program(frames: Frames, sizes: [i64; 5]) -> Recording {
    let mut recording = stacks::Recording::default();
    let own = |line: u32| format!("/home/me/model.py:{line} forward");
    let norm = format!("{TORCH}/nn/functional.py:2900 layer_norm");
    let attention = native("at::_ops::scaled_dot_product_attention::call(at::Tensor const&)");
    let flash = native("at::_ops::_flash_attention_forward::call(at::Tensor const&)");
    let engine = native("torch::autograd::Engine::thread_main(int)");
    let all: [Vec<String>; 5] = [
        vec![native("at::_ops::layer_norm::call(int)"), norm, own(10)],
        // The operator that the line called, and not one further in.
        vec![flash, attention, own(20)],
        vec![native("at::_ops::add_Tensor::call(int)"), own(30)],
        vec![
            native("at::_ops::mm::call(int)"),
            native("torch::autograd::generated::AddmmBackward0::apply(int)"),
            engine.clone(),
        ],
        vec![native("at::_ops::sum_dim_IntList::call(int)"), engine],
    ];
    for ((slot, stack), size) in (0..).zip(all).zip(sizes) {
        let is_shown = |frame: &&String| frames == Frames::All || !frame.contains(".so:");
        let shown: Vec<&str> = stack.iter().filter(is_shown).map(String::as_str).collect();
        let stack = if shown.is_empty() { StackId::EMPTY } else { recording.stack(&shown) };
        recording.alloc(slot, size, stack, None);
    }
    first(recording.finish())
}

/// The operators of a comparison with their changes, in the order of their names.
fn changes(a: &Recording, b: &Recording) -> Vec<(Operator, i128)> {
    let rules = UserRules::default();
    let [of_a, of_b] = [a, b].map(|recording| Attribution::of(recording, &rules));
    let side = |recording, attribution| Side { recording, attribution, moment: recording.active.peak().0 };
    let found = compare(&side(a, &of_a), &side(b, &of_b));
    let name = |row: &BothSides<u32>| (found.operators[row.key as usize].clone(), row.difference_bytes());
    let mut rows: Vec<_> = found.by_operator().iter().map(name).collect();
    rows.sort();
    rows
}

fn named(names: &[&str]) -> Operator {
    Operator::Named(names.iter().map(|&name| name.to_owned()).collect())
}

const SIZES: [[i64; 5]; 2] = [[100, 200, 300, 400, 500], [101, 220, 300, 400, 900]];

#[test]
fn compiled_code_names_operators_where_both_sides_have_it() {
    let [a, b] = SIZES.map(|sizes| program(Frames::All, sizes));
    let expected = [
        (named(&["add_Tensor"]), 0),
        (named(&["layer_norm"]), 1),
        (named(&["scaled_dot_product_attention"]), 20),
        (Operator::Node("AddmmBackward0".to_owned()), 0),
        (Operator::Backward, 400),
    ];
    assert_eq!(changes(&a, &b), expected);
}

#[test]
fn a_side_without_compiled_code_has_the_same_operators() {
    let function = Operator::Function("torch/nn/functional.py layer_norm".to_owned());
    let expected = [
        (named(&["add_Tensor"]), 0),
        (named(&["scaled_dot_product_attention"]), 20),
        (function, 1),
        (Operator::Backward, 400),
    ];
    for frames in [[Frames::All, Frames::Python], [Frames::Python, Frames::All]] {
        let [a, b] = [0, 1].map(|side: usize| program(frames[side], SIZES[side]));
        assert_eq!(changes(&a, &b), expected);
    }
}

#[test]
fn python_alone_does_not_name_what_the_program_calls_itself() {
    let [a, b] = SIZES.map(|sizes| program(Frames::Python, sizes));
    let function = Operator::Function("torch/nn/functional.py layer_norm".to_owned());
    assert_eq!(changes(&a, &b), [(function, 1), (Operator::Backward, 400), (Operator::Own, 20)]);
}

#[test]
fn a_line_that_calls_several_operators_has_all_of_them() {
    let mut of_b = stacks::Recording::default();
    let own = "/home/me/model.py:20 forward";
    for (slot, operator) in (0..).zip(["mul", "bmm", "mul"]) {
        let stack = of_b.stack(&[&native(&format!("at::_ops::{operator}::call(int)")), own]);
        of_b.alloc(slot, 10, stack, None);
    }
    let mut of_a = stacks::Recording::default();
    let stack = of_a.stack(&[own]);
    of_a.alloc(0, 10, stack, None);
    let found = changes(&first(of_a.finish()), &first(of_b.finish()));
    assert_eq!(found, [(named(&["bmm", "mul"]), 20)]);
}
