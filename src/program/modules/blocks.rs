//! The repeated blocks of a model: on the outermost level where one function runs again and again, its rounds.

use super::call_tree::{CallTree, Item, NodeIx};
use super::functions::{Function, Functions};
use super::rounds::rounds;
use crate::model::AllocId;
use crate::program::frames::CallFrames;
use crate::program::run::Run;
use foldhash::HashSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// A block that calls others in a loop, which keep all but one part in this many of what it keeps, only stacks them.
const OWN_PART: u64 = 8;

/// A model is no block of itself if blocks within it keep most of what it keeps: all but one part in this many.
const MODEL_PART: u64 = 2;

/// The repeated blocks among consecutive allocations of a forward, in their order: from the first to the last allocation of each.
/// `kept` is what the allocations in a range of ids keep, in bytes.
pub(in crate::program) fn repeated_blocks(
    run: &Run<'_>,
    frames: &CallFrames,
    ids: &[AllocId],
    kept: &dyn Fn(Range<u32>) -> u64,
) -> Vec<Range<u32>> {
    let search = Search::new(CallTree::of(run, frames, ids), kept);
    let mut blocks: Vec<Range<u32>> =
        search.blocks().into_iter().map(|block| search.tree.ids(&block.items)).collect();
    blocks.sort_unstable_by_key(|block| block.start);
    blocks
}

/// One round of a function.
#[derive(Debug, Clone)]
struct Round {
    node: NodeIx,
    items: Range<usize>,
}

/// Where a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of any module.
    Outside,
    /// It is the outermost module: the model, or all of a program that has no modules.
    Model,
    /// A module is around it.
    Within,
}

struct Search<'a> {
    tree: CallTree,
    /// Of each node, its rounds.
    rounds: Vec<Vec<Range<usize>>>,
    functions: Functions,
    /// Whether a node does more than one thing.
    has_parts: Vec<bool>,
    /// Of each node, what rounds within it keep that one line runs again and again, in bytes: those of functions, and with those
    /// of containers, which are a part of a module rather than one.
    repeated_bytes: Vec<[u64; 2]>,
    places: Vec<Place>,
    kept: &'a dyn Fn(Range<u32>) -> u64,
}

/// Where each function of a tree runs.
fn places(tree: &CallTree) -> Vec<Place> {
    let has_modules = tree.nodes.iter().any(|node| node.is_module);
    let mut out = vec![if has_modules { Place::Outside } else { Place::Model }; tree.nodes.len()];
    // A node comes after the one that calls it.
    for node in (0..out.len()).filter(|_| has_modules) {
        for callee in tree.items_of(node).iter().filter_map(|item| item.callee()) {
            out[callee] = match (out[node], tree.nodes[callee].is_module) {
                (Place::Model | Place::Within, _) => Place::Within,
                (Place::Outside, true) => Place::Model,
                (Place::Outside, false) => Place::Outside,
            };
        }
    }
    out
}

impl<'a> Search<'a> {
    fn new(tree: CallTree, kept: &'a dyn Fn(Range<u32>) -> u64) -> Self {
        let nodes = tree.nodes.len();
        let rounds: Vec<_> = (0..nodes).map(|node| rounds(&tree, node)).collect();
        let functions = Functions::find(&tree, &rounds);
        let (has_parts, repeated_bytes) = (vec![false; nodes], vec![[0; 2]; nodes]);
        let places = places(&tree);
        let mut search = Self { tree, rounds, functions, has_parts, repeated_bytes, places, kept };
        for node in (0..nodes).rev() {
            search.has_parts[node] = search.are_parts(&search.tree.nodes[node].items);
            search.repeated_bytes[node] = [false, true].map(|with_containers| {
                let repeated =
                    search.rounds[node].iter().map(|round| search.repeated_in(round, with_containers));
                repeated.fold(0, u64::saturating_add)
            });
        }
        search
    }

    /// Whether items are several, or one with parts.
    fn are_parts(&self, items: &Range<usize>) -> bool {
        let items = &self.tree.items[items.clone()];
        let Some(first) = items.first() else { return false };
        items.iter().any(|item| self.tree.key(item) != self.tree.key(first))
            || first.callee().is_some_and(|callee| self.has_parts[callee])
    }

    fn kept(&self, items: &Range<usize>) -> u64 {
        (self.kept)(self.tree.ids(items))
    }

    /// The rounds of what items call, by a line of the function and, if wanted, the line that calls it.
    fn called<K: Ord>(
        &self,
        items: &Range<usize>,
        key: impl Fn(&Item, Function) -> K,
    ) -> BTreeMap<K, Vec<Round>> {
        let mut out: BTreeMap<K, Vec<Round>> = BTreeMap::new();
        for item in &self.tree.items[items.clone()] {
            let Some(node) = item.callee() else { continue };
            for items in &self.rounds[node] {
                let function = self.functions.of(&self.tree, node, items);
                out.entry(key(item, function)).or_default().push(Round { node, items: items.clone() });
            }
        }
        out
    }

    /// What rounds within some items keep that one line runs again and again.
    fn repeated_in(&self, items: &Range<usize>, with_containers: bool) -> u64 {
        let by_line = self.called(items, |item, function| (item.line, function));
        let bytes = by_line.into_values().map(|rounds: Vec<Round>| {
            let is_block = |round: &&Round| {
                (with_containers || !self.tree.nodes[round.node].is_container) && self.are_parts(&round.items)
            };
            let blocks: Vec<&Round> = rounds.iter().filter(is_block).collect();
            if 1 < blocks.len() {
                return blocks.iter().map(|round| self.kept(&round.items)).fold(0, u64::saturating_add);
            }
            let nodes: HashSet<NodeIx> = rounds.iter().map(|round| round.node).collect();
            nodes
                .iter()
                .map(|&node| self.repeated_bytes[node][usize::from(with_containers)])
                .fold(0, u64::saturating_add)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Whether rounds of one function keep next to nothing but what blocks within them keep.
    fn only_stack(&self, rounds: &[Round]) -> bool {
        let is_model = rounds.iter().any(|round| self.places[round.node] != Place::Within);
        let part = if is_model { MODEL_PART } else { OWN_PART };
        let sum = |bytes: &dyn Fn(&Round) -> u64| rounds.iter().map(bytes).fold(0, u64::saturating_add);
        let all = sum(&|round| self.kept(&round.items));
        let repeated = sum(&|round| self.repeated_in(&round.items, is_model));
        repeated != 0 && all.saturating_sub(repeated) <= all / part
    }

    fn may_be_block(&self, round: &Round) -> bool {
        self.places[round.node] != Place::Outside
            && self.are_parts(&round.items)
            && self.kept(&round.items) != 0
    }

    /// All blocks.
    fn blocks(&self) -> Vec<Round> {
        let mut found: BTreeMap<Function, Vec<Round>> = BTreeMap::new();
        let mut others: Vec<(Function, Round)> = Vec::new();
        let mut open = vec![self.tree.nodes[CallTree::ROOT].items.clone()];
        while let Some(items) = open.pop() {
            for (function, rounds) in self.called(&items, |_, function| function) {
                let is_repeated = 1 < rounds.len() && !self.only_stack(&rounds);
                for round in rounds {
                    if is_repeated && self.may_be_block(&round) {
                        found.entry(function).or_default().push(round);
                    } else {
                        open.push(round.items.clone());
                        others.push((function, round));
                    }
                }
            }
        }
        self.drop_parts(&mut found);
        let alone = self.like_found(&found, others);
        found.into_values().flatten().chain(alone).collect()
    }

    /// Drop functions that are parts of the main blocks, too: elsewhere they are no blocks either.
    fn drop_parts(&self, found: &mut BTreeMap<Function, Vec<Round>>) {
        let kept = |rounds: &[Round]| {
            rounds.iter().map(|round| self.kept(&round.items)).fold(0, u64::saturating_add)
        };
        let Some(main) = found.values().max_by_key(|rounds| kept(rounds)) else { return };
        let parts = self.functions_within(main);
        found.retain(|function, _| !parts.contains(function));
    }

    /// The functions that some rounds call, directly or not.
    fn functions_within(&self, rounds: &[Round]) -> HashSet<Function> {
        let mut out = HashSet::default();
        let mut open: Vec<Range<usize>> = rounds.iter().map(|round| round.items.clone()).collect();
        while let Some(items) = open.pop() {
            for node in self.tree.items[items].iter().filter_map(|item| item.callee()) {
                for items in &self.rounds[node] {
                    out.insert(self.functions.of(&self.tree, node, items));
                }
                open.push(self.tree.nodes[node].items.clone());
            }
        }
        out
    }

    /// Calls of the same functions that stand alone, neither within a block nor around one.
    fn like_found(
        &self,
        found: &BTreeMap<Function, Vec<Round>>,
        others: Vec<(Function, Round)>,
    ) -> Vec<Round> {
        let mut blocks: Vec<Range<u32>> =
            found.values().flatten().map(|round| self.tree.ids(&round.items)).collect();
        blocks.sort_unstable_by_key(|ids| ids.start);
        let is_apart = |ids: Range<u32>| {
            let next = blocks.partition_point(|block| block.end <= ids.start);
            blocks.get(next).is_none_or(|block| ids.end <= block.start)
        };
        let is_like = |(function, round): &(Function, Round)| {
            found.contains_key(function)
                && !self.tree.nodes[round.node].is_container
                && self.may_be_block(round)
                && !self.only_stack(std::slice::from_ref(round))
                && is_apart(self.tree.ids(&round.items))
        };
        others.into_iter().filter(is_like).map(|(_, round)| round).collect()
    }
}
