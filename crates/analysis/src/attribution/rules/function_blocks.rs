//! What functions of the program's own make, and what becomes of it.

use crate::attribution::facts::CodePart;
use crate::attribution::view::View;
use oomscope_model::{AllocId, EventIx};

/// The fate of a block that a function makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays to the end.
    Stays,
    /// It is given back before any other line allocates: a part of an expression.
    Scratch,
    /// It is given back later.
    Goes,
}

/// A block that a function of the program's own makes outside of models, optimizers and autograd.
pub(super) struct FunctionBlock {
    pub(super) id: AllocId,
    pub(super) made: EventIx,
    /// A number that stands for the function and its callers.
    pub(super) code: u32,
    pub(super) fate: Fate,
}

/// All such blocks, in the order in which they are made.
pub(super) fn function_blocks(view: &View<'_>) -> Vec<FunctionBlock> {
    let mut out = Vec::new();
    // The first block of the line that is being followed, among those that are returned.
    let (mut line, mut first) = (None, 0);
    for (id, made) in view.new_ids() {
        let stack = view.timeline.events.stack(made);
        if line.replace(stack) != Some(stack) {
            close(view, &mut out, first, made);
            first = out.len();
        }
        let facts = view.facts_of(stack);
        if facts.part == CodePart::Main {
            let fate = if view.free_event(id).is_some() { Fate::Scratch } else { Fate::Stays };
            out.push(FunctionBlock { id, made, code: facts.calling_code, fate });
        }
    }
    out
}

/// Another line allocates: what is still there of the line before is no scratch.
fn close(view: &View<'_>, blocks: &mut [FunctionBlock], first: usize, other: EventIx) {
    for block in blocks.iter_mut().skip(first) {
        if view.free_event(block.id).is_some_and(|freed| other < freed) {
            block.fate = Fate::Goes;
        }
    }
}
