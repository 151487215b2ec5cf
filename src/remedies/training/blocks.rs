//! The repeated blocks of a model: calls of modules of one class, which hold most of what a forward keeps.

use super::module_calls::{ModuleCall, ModuleCalls};
use crate::model::FrameId;
use foldhash::{HashMap, HashSet};

/// A block that calls others in a loop, which keep all but one part in this many of what it keeps, only stacks them.
const OWN_PART: u64 = 8;

/// Finds blocks.
struct Search<'a> {
    calls: &'a ModuleCalls,
    /// Of each call, those that it makes.
    children: Vec<Vec<usize>>,
    /// Bytes that a call keeps for the backward.
    kept: &'a dyn Fn(&ModuleCall) -> u64,
    found: Vec<usize>,
}

/// The repeated blocks, in the order of their calls. `kept` is what a call keeps, in bytes.
pub(super) fn repeated(calls: &ModuleCalls, kept: &dyn Fn(&ModuleCall) -> u64) -> Vec<usize> {
    let mut children = vec![Vec::new(); calls.list.len()];
    let mut roots = Vec::new();
    for (index, call) in calls.list.iter().enumerate().filter(|(_, call)| !call.ids.is_empty()) {
        match call.parent {
            Some(parent) => children[parent].push(index),
            None => roots.push(index),
        }
    }
    let mut search = Search { calls, children, kept, found: Vec::new() };
    search.among(&roots);
    search.add_like_found();
    search.found.sort_unstable();
    search.found
}

impl Search<'_> {
    /// Take the repeated ones of the calls that one module makes, and look into the others.
    fn among(&mut self, siblings: &[usize]) {
        // Calls lie within calls as deep as modules do; those of a file may lie deeper than the program's own stack.
        let mut open = vec![siblings.to_vec()];
        while let Some(siblings) = open.pop() {
            for (call, is_repeated) in self.with_repetition(&siblings) {
                if is_repeated && self.is_block(call) && !self.only_stacks(call) {
                    self.found.push(call);
                } else {
                    open.push(self.children[call].clone());
                }
            }
        }
    }

    /// Each call with whether others of its class are among them.
    fn with_repetition(&self, siblings: &[usize]) -> Vec<(usize, bool)> {
        let mut counts: HashMap<u32, u32> = HashMap::default();
        for &call in siblings {
            *counts.entry(self.calls.class(call)).or_default() += 1;
        }
        siblings.iter().map(|&call| (call, 1 < counts[&self.calls.class(call)])).collect()
    }

    /// Whether a call has parts, one of which is another module, and keeps something.
    fn is_block(&self, call: usize) -> bool {
        let ModuleCall { ids, .. } = &self.calls.list[call];
        let children = &self.children[call];
        let within: usize = children.iter().map(|&child| self.calls.list[child].ids.len()).sum();
        let has_parts = 1 < children.len() || (children.len() == 1 && within < ids.len());
        has_parts && (self.kept)(&self.calls.list[call]) != 0
    }

    /// Whether a call keeps next to nothing but what blocks keep that one line of it calls again and again.
    fn only_stacks(&self, call: usize) -> bool {
        let kept = |call: usize| (self.kept)(&self.calls.list[call]);
        let line = |inner: usize| (self.calls.class(inner), self.calls.list[inner].caller);
        let mut counts: HashMap<(u32, FrameId), u32> = HashMap::default();
        for &inner in &self.children[call] {
            *counts.entry(line(inner)).or_default() += 1;
        }
        let repeated =
            self.children[call].iter().filter(|&&inner| 1 < counts[&line(inner)] && self.is_block(inner));
        let in_them: u64 = repeated.map(|&inner| kept(inner)).sum();
        let all = kept(call);
        in_them != 0 && all - in_them.min(all) <= all / OWN_PART
    }

    /// Blocks of the same classes that stand alone, neither within one that was found nor around it.
    fn add_like_found(&mut self) {
        let list = &self.calls.list;
        let (mut is_within, mut is_around) = (vec![false; list.len()], vec![false; list.len()]);
        for &call in &self.found {
            (is_within[call], is_around[call]) = (true, true);
        }
        // A call comes after the one that it is a part of.
        for call in 0..list.len() {
            is_within[call] |= list[call].parent.is_some_and(|parent| is_within[parent]);
        }
        for call in (0..list.len()).rev() {
            if let Some(parent) = list[call].parent {
                is_around[parent] |= is_around[call];
            }
        }
        let classes: HashSet<u32> = self.found.iter().map(|&call| self.calls.class(call)).collect();
        let alone = (0..list.len()).filter(|&call| {
            !list[call].ids.is_empty()
                && !is_within[call]
                && !is_around[call]
                && classes.contains(&self.calls.class(call))
        });
        self.found.extend(alone);
    }
}
