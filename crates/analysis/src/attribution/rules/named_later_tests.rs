//! Names of gradients that each iteration makes anew.

use crate::{Attribution, Category, RuleId, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program};
use oomscope_model::{
    AllocId, Bytes, Census, CensusIx, CensusOwner, DeviceId, NamedTensor, Recording, TensorRole,
};

const MIB: i64 = 1 << 20;

/// Names of what lies at some addresses at the end, by their places.
fn names(tensors: &[(u64, u32)], role: TensorRole) -> Census {
    let tensor = |&(addr, name): &(u64, u32)| NamedTensor {
        role: Some(role),
        name: Some(CensusIx(name)),
        owner: Some(CensusIx(0)),
        ..NamedTensor::new(DeviceId(0), addr, Bytes(1))
    };
    let texts = ["float32", "a", "b", "Net"].map(str::to_owned).to_vec();
    let owners = vec![CensusOwner {
        is_optimizer: false,
        class: CensusIx(3),
        number: 0,
        holder: None,
        is_trained: None,
    }];
    Census::new(tensors.iter().map(tensor).collect(), texts, vec![vec![1]], owners, Vec::new())
}

/// An iteration whose backward makes two blocks of one size that stay, and one that goes. Returns those that stay.
fn iteration(program: &mut Program, before: Option<[u64; 2]>) -> [u64; 2] {
    for old in before.into_iter().flatten() {
        program.free(old, BACKWARD);
    }
    let data = program.alloc(4096, DATA);
    let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 * MIB, FORWARD)).collect();
    let first = program.alloc(2 * MIB, BACKWARD);
    let gone = program.alloc(2 * MIB, BACKWARD);
    let second = program.alloc(2 * MIB, BACKWARD);
    program.free(gone, BACKWARD);
    for activation in kept {
        program.free(activation, BACKWARD);
    }
    program.free(data, DATA);
    [first, second]
}

/// Some iterations, with names of the first blocks that the last one left.
fn recorded(iterations: usize, named: usize, role: TensorRole) -> (Recording, [u64; 2]) {
    let mut program = Program::default();
    program.alloc(2 * MIB, LOAD);
    program.alloc(2 * MIB, LOAD);
    let mut last = None;
    for _ in 0..iterations {
        last = Some(iteration(&mut program, last));
    }
    let last = last.expect("an iteration");
    let named: Vec<(u64, u32)> = last.into_iter().zip(1..).take(named).collect();
    program.name(names(&named, role));
    (program.finish(), last)
}

/// The names that blocks of 2 MiB have from later ones, and their rules.
fn carried(recording: &Recording, [first, second]: [u64; 2]) -> Vec<(Option<usize>, RuleId, Category)> {
    let categories = Attribution::of(recording, &UserRules::default()).categories;
    let of = |id: AllocId| {
        let later = categories.named_later(id).map(|later| recording.addr(later));
        let at = later.map(|addr| [first, second].iter().position(|&one| one == addr).expect("one of both"));
        (at, categories.rule(id), categories.get(id))
    };
    let made = |id: &AllocId| recording.size(*id) == 2 * MIB && recording.lifetimes.end(*id).is_some();
    recording.ids().filter(made).map(of).collect()
}

#[test]
fn what_each_iteration_makes_anew_has_the_name_of_the_last() {
    let (recording, last) = recorded(3, 2, TensorRole::Gradient);
    let found = carried(&recording, last);
    let places: Vec<Option<usize>> = found.iter().map(|&(at, ..)| at).collect();
    assert_eq!(places, [Some(0), None, Some(1), Some(0), None, Some(1), None]);
    // What their stacks say already is not said by another rule.
    assert!(
        found
            .iter()
            .all(|&(_, rule, category)| { rule != RuleId::NamedLater && category == Category::Gradient })
    );
}

#[test]
fn a_name_says_more_than_a_stack_does() {
    let (recording, last) = recorded(2, 2, TensorRole::Parameter);
    let found = carried(&recording, last);
    assert_eq!(found[0], (Some(0), RuleId::NamedLater, Category::Parameter));
    assert_eq!(found[1].2, Category::Gradient, "it is gone when the others are kept");
}

#[test]
fn a_name_is_not_carried_where_it_may_be_that_of_either() {
    let (recording, last) = recorded(2, 1, TensorRole::Gradient);
    assert!(carried(&recording, last).iter().all(|(at, ..)| at.is_none()));
}
