//! New storage of parameters, made within a model or long before it takes their place.

use crate::{Attribution, Category, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program, SIZES};
use oomscope_model::Recording;

const CALL: &str = "torch/nn/modules/module.py _call_impl";
const MAIN: &str = "/home/me/train.py <module>";

/// The categories of the blocks that are live at some addresses at the end.
fn at_end(recording: &Recording, wanted: &[u64]) -> Vec<Category> {
    let categories = Attribution::of(recording, &UserRules::default()).categories;
    let end = recording.end();
    let live: Vec<_> = recording.lifetimes.live_at(end).collect();
    let addr = |id| recording.addr(id);
    let find = |&addr_wanted: &u64| live.iter().copied().find(|&id| addr(id) == addr_wanted);
    wanted.iter().map(|wanted| categories.get(find(wanted).expect("live at the end"))).collect()
}

/// A forward whose activations the backward frees.
fn pass(program: &mut Program) {
    let data = program.alloc(4096, DATA);
    let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
    for activation in kept {
        program.free(activation, BACKWARD);
    }
    program.free(data, DATA);
}

#[test]
fn storage_that_a_model_makes_anew_in_a_call_belongs_to_its_parameters() {
    let update = ["/home/me/model.py update_key_encoder", "/home/me/model.py forward", CALL, MAIN];
    let mut program = Program::default();
    let mut parameters = SIZES.map(|size| program.alloc(size, LOAD));
    for _ in 0..3 {
        program.alloc(512, FORWARD);
        for (parameter, size) in parameters.iter_mut().zip(SIZES) {
            let scaled = program.alloc(size, &update);
            let new = program.alloc(size, &update);
            program.free(scaled, &update);
            program.free(std::mem::replace(parameter, new), &update);
        }
        pass(&mut program);
    }
    assert_eq!(at_end(&program.finish(), &parameters), [Category::Parameter; 4]);
}

#[test]
fn one_block_that_replaces_another_of_its_size_in_a_call_is_chance() {
    let helper = ["/home/me/model.py forward", CALL, MAIN];
    let mut program = Program::default();
    let parameters = SIZES.map(|size| program.alloc(size, LOAD));
    let activation = program.alloc(SIZES[0], &helper);
    program.free(parameters[0], &helper);
    for _ in 0..12 {
        program.alloc(30 << 20, FORWARD);
    }
    assert_eq!(at_end(&program.finish(), &[activation]), [Category::Activation]);
}

/// SAM: copies of the parameters are put back after a second backward.
fn perturbed(outer: &[&str], puts_back: bool) -> Vec<Category> {
    let line = |name: &'static str| [&[name], outer].concat();
    let (copy, back) = (line("/home/me/sam.py first_step"), line("/home/me/sam.py second_step"));
    let mut program = Program::default();
    let mut parameters = SIZES.map(|size| program.alloc(size, LOAD));
    let mut copies = parameters;
    for iteration in 0..3 {
        pass(&mut program);
        let new = SIZES.map(|size| program.alloc(size, &copy));
        if 0 < iteration && !puts_back {
            for copy in copies {
                program.free(copy, &back);
            }
        }
        copies = new;
        pass(&mut program);
        if puts_back {
            for (parameter, new) in parameters.iter_mut().zip(new) {
                program.free(std::mem::replace(parameter, new), &back);
            }
        }
    }
    at_end(&program.finish(), &copies)
}

#[test]
fn copies_that_are_put_back_are_the_parameters() {
    for outer in [&[MAIN][..], &["/home/me/sam.py step", "torch/optim/optimizer.py wrapper", MAIN]] {
        assert_eq!(perturbed(outer, true), [Category::Parameter; 4]);
        assert_eq!(perturbed(outer, false), [Category::OptimizerState; 4]);
    }
}
