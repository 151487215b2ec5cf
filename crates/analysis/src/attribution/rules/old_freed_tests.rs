//! Blocks that are older than the recording, in recordings that show calls of a model but no training.

use crate::{Attribution, Category, RuleId, UserRules, Verdict};
use oomscope_fixtures::programs::{DATA, EVALUATE, LOAD, Program};
use oomscope_model::Recording;

const MIB: i64 = 1 << 20;
/// The sizes of the blocks that a call of the model makes.
const CALL: [i64; 3] = [3 * MIB, 7 * MIB, 9 * MIB];

/// The verdicts on all allocations in their order: older ones come first.
fn claims(recording: &Recording) -> Vec<Verdict> {
    let found = Attribution::of(recording, &UserRules::default()).categories;
    let ids = recording.ids();
    ids.map(|id| found.verdict(id)).collect()
}

/// A recording of one call that begins after the model was made and `held` was allocated. All of that is freed when the
/// call is over.
fn late(held: &[i64]) -> Vec<Verdict> {
    let mut program = Program::default();
    program.alloc(40 * MIB, LOAD);
    let held: Vec<u64> = held.iter().map(|&size| program.alloc(size, EVALUATE)).collect();
    program.start_late();
    let made: Vec<u64> = CALL.iter().map(|&size| program.alloc(size, EVALUATE)).collect();
    for &addr in held.iter().chain(&made) {
        program.free(addr, DATA);
    }
    claims(&program.finish())
}

#[test]
fn what_is_as_large_as_this_call_is_left_of_an_earlier_one() {
    let found = late(&CALL);
    let earlier =
        found.iter().filter(|verdict| **verdict == Verdict::new(Category::Activation, RuleId::LikeThisCall));
    assert_eq!(earlier.count(), CALL.len());
}

#[test]
fn what_is_unlike_this_call_is_not_known() {
    let found = late(&[5 * MIB, 11 * MIB, 7 * MIB]);
    let unknown =
        found.iter().filter(|verdict| **verdict == Verdict::new(Category::Unknown, RuleId::Nothing));
    assert_eq!(unknown.count(), 3);
}

#[test]
fn without_training_all_that_stays_is_the_model() {
    let mut program = Program::default();
    // As often as with Adam, if anything spoke for training.
    for size in [2 * MIB, 5 * MIB, 6 * MIB].into_iter().flat_map(|size| [size; 3]) {
        program.alloc(size, LOAD);
    }
    program.start_late();
    for size in CALL {
        let made = program.alloc(size, EVALUATE);
        program.free(made, EVALUATE);
    }
    let found = claims(&program.finish());
    assert!(found.iter().take(9).all(|verdict| verdict.category == Category::Parameter), "{found:?}");
}

#[test]
fn a_block_as_large_as_a_workspace_of_cublas_is_one() {
    let workspace = (2 * 4096 + 8 * 16) << 10;
    for (blocks, expected) in [(2, Category::Temporary), (20, Category::Parameter)] {
        let mut program = Program::default();
        (0..blocks).for_each(|_| _ = program.alloc(workspace, LOAD));
        program.start_late();
        let made = program.alloc(MIB, EVALUATE);
        program.free(made, EVALUATE);
        assert_eq!(claims(&program.finish())[0].category, expected, "{blocks}");
    }
}
