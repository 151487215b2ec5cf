//! Which of the program's modules a stack lies in.
//!
//! A stack shows classes and lines: the `forward` of each. From the outermost module on, a call leads to the only module of its class
//! within the last one, or, where a list of them runs as often as it has entries, to each in turn. Beyond that, it does not say.

use super::real::{ModuleIx, RealModules};
use super::tree::{NodeIx, Tree};

/// The module that a call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    /// The module.
    pub(super) module: ModuleIx,
    /// How many steps of the stack's path lead to it.
    pub(super) steps: usize,
    /// Whether it is one of a list by its turn, or the trained one of several.
    pub(super) is_inferred: bool,
    /// How many modules of its kind run in its place in a pass: it alone, or the entries of lists.
    pub(super) runs: u32,
}

/// How often the code of a module ran in a pass, and in which of these calls an allocation was made.
pub(super) struct Turns<'t> {
    /// By step of the path, from 1.
    pub(super) numbers: &'t [u32],
    pub(super) calls: &'t dyn Fn(NodeIx) -> u32,
    /// Whether this is the first pass, and not over.
    pub(super) is_open: bool,
}

impl Turns<'_> {
    /// The place in a list of so many entries that runs at a step, if all of them run in turn.
    fn place(&self, depth: usize, node: NodeIx, runs_around: u32, entries: usize) -> Option<usize> {
        let (runs, all) = ((self.calls)(node) as usize, (runs_around as usize).saturating_mul(entries));
        let are_in_turn = runs == all || (self.is_open && runs <= all);
        let number = self.numbers.get(depth).filter(|_| are_in_turn)?;
        number.checked_sub(1).map(|number| number as usize % entries)
    }
}

/// How far a path of calls leads into the program's modules.
pub(super) fn reach(
    modules: &RealModules<'_>,
    tree: &Tree,
    path: &[NodeIx],
    turns: Option<&Turns<'_>>,
) -> Option<Reached> {
    let mut at: Option<Reached> = None;
    // How often the module so far ran, as one of the list.
    let mut runs_around = 1;
    for (depth, &node) in path.iter().enumerate() {
        let Some(forward) = tree.nodes[node.index()].step.forward else { break };
        let candidates = modules.candidates(at.map(|at| at.module), forward);
        let next = match (candidates.modules.as_slice(), turns) {
            ([], _) => None,
            ([one], _) => Some((*one, candidates.is_inferred)),
            (list, Some(turns)) if candidates.is_list => {
                let place = turns.place(depth, node, runs_around, list.len());
                place.map(|place| (list[place], true))
            }
            _ => None,
        };
        let Some((module, is_inferred)) = next else { break };
        let is_inferred = at.is_some_and(|at| at.is_inferred) || is_inferred;
        runs_around = turns.map_or(1, |turns| (turns.calls)(node)).max(1);
        at = Some(Reached { module, steps: depth + 1, is_inferred, runs: runs_around });
    }
    at
}
