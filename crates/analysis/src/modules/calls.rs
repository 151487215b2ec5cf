//! How often each module runs in a pass, by the order of allocations: stacks show the line that calls, not which of several
//! modules it calls.
//!
//! Within a call, control goes from one part of a module to the next: a module that it calls, or a stack of its own. The call
//! begins again when the part that came first comes again after another one. So a module that a loop calls is told from the
//! next, and one whose code is a loop looks the same: what is counted is how often its code runs. The outermost module runs
//! once in a pass, as does the one that a wrapper around it calls; a container is known to be a loop. What checkpointing
//! computes again in the backward may run several times.

use super::call_path::{Flow, Step};
use super::tree::{NodeIx, Tree};
use oomscope_model::StackId;

/// A part of a module's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    Own(StackId),
    Module(NodeIx),
}

/// A module within a pass.
#[derive(Debug, Clone, Copy)]
struct Progress {
    pass: u32,
    first: Inner,
    current: Inner,
    calls: u32,
}

/// Counts the calls of modules, pass by pass.
#[derive(Debug, Default)]
pub(super) struct CallCounter {
    /// By node; `None` until the module is called.
    progress: Vec<Option<Progress>>,
    pass: u32,
    /// The modules of the pass.
    called: Vec<NodeIx>,
}

/// How a module is entered.
#[derive(Clone, Copy)]
struct Entry {
    /// Whether the module around it began anew.
    is_anew: bool,
    /// Whether it begins again when its first part comes again.
    may_repeat: bool,
}

impl CallCounter {
    /// Begin a new pass.
    pub(super) fn start_pass(&mut self) {
        self.pass += 1;
        self.called.clear();
    }

    /// Follow an allocation below a path of modules. `numbers` takes the number of each module's call in the pass, from 1.
    pub(super) fn follow(&mut self, tree: &Tree, path: &[NodeIx], stack: StackId, numbers: &mut Vec<u32>) {
        let (mut is_entered, mut is_outermost) = (false, true);
        for (depth, &node) in path.iter().enumerate() {
            let Step { flow, is_recomputed, .. } = tree.nodes[node.index()].step;
            is_outermost &= !is_recomputed;
            let may_repeat = !is_outermost && flow == Flow::Any;
            let entry = Entry { is_anew: is_entered, may_repeat };
            is_outermost &= flow == Flow::Wraps;
            let part = path.get(depth + 1).map_or(Inner::Own(stack), |&inner| Inner::Module(inner));
            is_entered = self.step(node, part, entry);
            numbers.push(self.calls(node));
        }
    }

    /// Let a module go on with a part of it. Returns whether that part is entered anew. A module that may repeat begins again when
    /// its first part comes again.
    fn step(&mut self, node: NodeIx, part: Inner, entry: Entry) -> bool {
        let Entry { is_anew, may_repeat } = entry;
        let pass = self.pass;
        if self.progress.len() <= node.index() {
            self.progress.resize(node.index() + 1, None);
        }
        let known = &mut self.progress[node.index()];
        let Some(progress) = known.as_mut().filter(|known| known.pass == pass) else {
            *known = Some(Progress { pass, first: part, current: part, calls: 1 });
            self.called.push(node);
            return true;
        };
        let is_next = progress.current != part;
        let begins_again = is_next && progress.first == part && may_repeat;
        if is_anew {
            progress.first = part;
        }
        progress.calls += u32::from(is_anew || begins_again);
        progress.current = part;
        is_anew || is_next
    }

    /// The modules of the pass so far, and how often each was called.
    pub(super) fn of_pass(&self) -> impl Iterator<Item = (NodeIx, u32)> + '_ {
        self.called.iter().map(|&node| (node, self.calls(node)))
    }

    /// How often a module was called in the pass so far.
    pub(super) fn calls(&self, node: NodeIx) -> u32 {
        let progress = self.progress.get(node.index()).copied().flatten();
        progress.filter(|progress| progress.pass == self.pass).map_or(0, |progress| progress.calls)
    }
}
