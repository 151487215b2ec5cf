//! Blocks beside a backward that is under way, and workspaces of products.

use crate::{Attribution, Category, UserRules};
use oomscope_fixtures::programs::{BACKWARD, DATA, FORWARD, LOAD, Program, SIZES, ZERO_GRAD};

/// The category of the block that is live at an address at the end.
fn at_end(program: Program, addr: u64) -> Category {
    let recording = program.finish();
    let categories = Attribution::of(&recording, &UserRules::default()).categories;
    let mut live = recording.lifetimes.live_at(recording.end());
    let id = live.find(|&id| recording.addr(id) == addr);
    categories.get(id.expect("live at the end"))
}

#[test]
fn gradients_of_a_backward_under_way_make_no_parameter_of_data() {
    let mut program = Program::default();
    let data = program.alloc(20 << 20, DATA);
    for size in SIZES {
        program.alloc(size, LOAD);
    }
    for is_last in [false, true] {
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        for activation in kept {
            program.free(activation, BACKWARD);
        }
        // The gradient of what was computed of the data, on its way.
        let passing = program.alloc(20 << 20, BACKWARD);
        if is_last {
            break;
        }
        program.free(passing, BACKWARD);
        for gradient in SIZES.map(|size| program.alloc(size, BACKWARD)) {
            program.free(gradient, ZERO_GRAD);
        }
    }
    assert_eq!(at_end(program, data), Category::Input);
}

/// The category of a block as large as a workspace that the first product makes and that stays.
fn product(others_go: bool) -> Category {
    let mut program = Program::default();
    program.alloc(1 << 20, LOAD);
    program.alloc(16 << 20, FORWARD);
    let kept = program.alloc(32 << 20, FORWARD);
    for _ in 0..12 {
        program.alloc(16 << 20, FORWARD);
        if others_go {
            let workspace = program.alloc(32 << 20, FORWARD);
            program.free(workspace, FORWARD);
        }
    }
    at_end(program, kept)
}

#[test]
fn no_product_keeps_a_workspace_where_others_give_theirs_back() {
    assert_eq!((product(false), product(true)), (Category::Temporary, Category::Activation));
}
