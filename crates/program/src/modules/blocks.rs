//! The repeated blocks of a model: rounds of one function, on the outermost level from where going deeper gains little.
//!
//! What there is to gain is what checkpoints would leave: the result of each block, and all of the largest one.

use super::call_tree::{CallTree, NodeIx};
use super::functions::{Function, Functions};
use super::kept::Kept;
use super::left::Left;
use super::places::{Nesting, places};
use super::rounds::{rounds, rounds_within};
use crate::frames::CallFrames;
use crate::run::Run;
use foldhash::HashSet;
use oomscope_model::{AllocId, FrameId, SaturatingSum as _};
use std::collections::BTreeMap;
use std::ops::Range;

/// The repeated blocks among consecutive allocations of a forward, in their order: from the first to the last allocation of each.
pub(crate) fn repeated_blocks(
    run: &Run<'_>,
    frames: &CallFrames,
    ids: &[AllocId],
    kept: &Kept<'_>,
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
    /// What is left of it if blocks within it are checkpointed.
    left: Left,
}

/// The rounds of a node.
#[derive(Debug, Default)]
struct Rounds {
    /// Each round, with what is left of it.
    calls: Vec<(Range<usize>, Left)>,
    /// Of each round, the turns of loops in it, if it has some.
    turns: Vec<Vec<(Range<usize>, Left)>>,
}

struct Search<'a> {
    tree: CallTree,
    /// Of each node, its rounds.
    rounds: Vec<Rounds>,
    functions: Functions,
    /// Whether a node does more than one thing.
    has_parts: Vec<bool>,
    /// Whether a node calls a module, directly or not.
    calls_modules: Vec<bool>,
    places: Vec<Nesting>,
    kept: &'a Kept<'a>,
}

impl Rounds {
    fn of(tree: &CallTree, node: NodeIx) -> Self {
        let calls = rounds(tree, node);
        let turns = |round| match rounds_within(tree, round) {
            turns if turns.len() < 2 => Vec::new(),
            turns => turns.into_iter().map(|turn| (turn, Left::default())).collect(),
        };
        let turns = calls.iter().map(turns).collect();
        Self { calls: calls.into_iter().map(|call| (call, Left::default())).collect(), turns }
    }

    /// Rounds without loops, and turns of those that have some.
    fn innermost(&self) -> impl Iterator<Item = &Range<usize>> {
        let without = self.calls.iter().zip(&self.turns).filter(|(_, turns)| turns.is_empty());
        without.map(|(call, _)| call).chain(self.turns.iter().flatten()).map(|(items, _)| items)
    }
}

impl<'a> Search<'a> {
    fn new(tree: CallTree, kept: &'a Kept<'a>) -> Self {
        let rounds: Vec<Rounds> = (0..tree.nodes.len()).map(|node| Rounds::of(&tree, node)).collect();
        let functions = Functions::find(&tree, rounds.iter().flat_map(Rounds::innermost));
        let (has_parts, calls_modules) = (vec![false; tree.nodes.len()], vec![false; tree.nodes.len()]);
        let places = places(&tree);
        let mut search = Self { tree, rounds, functions, has_parts, calls_modules, places, kept };
        for node in (0..search.tree.nodes.len()).rev() {
            search.has_parts[node] = search.are_parts(&search.tree.nodes[node].items);
            search.calls_modules[node] = search.call_modules(&search.tree.nodes[node].items);
            for index in 0..search.rounds[node].calls.len() {
                search.find_left(node, index);
            }
        }
        search
    }

    /// Find what is left of a round of a node, given that of all nodes that it calls.
    fn find_left(&mut self, node: NodeIx, index: usize) {
        for turn in 0..self.rounds[node].turns[index].len() {
            let items = &self.rounds[node].turns[index][turn].0;
            let left = self.left_of(items, self.called(items, |line, function| (line, function)));
            self.rounds[node].turns[index][turn].1 = left;
        }
        let items = &self.rounds[node].calls[index].0;
        let left = self.left_of(items, self.within(node, index, |line, function| (line, function)));
        self.rounds[node].calls[index].1 = left;
    }

    /// What is left of items that consist of some rounds, together where one line runs one function, and what is not in any.
    fn left_of<K>(&self, items: &Range<usize>, rounds: BTreeMap<K, Vec<Round>>) -> Left {
        let inner = rounds.values().flatten().map(|round| self.kept(&round.items)).saturating_sum();
        let own = Left::whole(self.kept(items).saturating_sub(inner));
        rounds.into_values().map(|rounds| self.left_of_rounds(&rounds).0).fold(own, Left::and)
    }

    /// What is left of rounds of one function, and whether they are blocks.
    fn left_of_rounds(&self, rounds: &[Round]) -> (Left, bool) {
        let deeper = rounds.iter().map(|round| round.left).fold(Left::default(), Left::and);
        if rounds.len() < 2 {
            return (deeper, false);
        }
        let as_blocks = rounds
            .iter()
            .map(|round| if self.may_be_block(round) { self.as_block(round) } else { round.left });
        let as_blocks = as_blocks.fold(Left::default(), Left::and);
        if deeper.bytes() < as_blocks.bytes() { (deeper, false) } else { (as_blocks, true) }
    }

    /// What is left of a round that is checkpointed.
    fn as_block(&self, round: &Round) -> Left {
        let ids = self.tree.ids(&round.items);
        Left::block(self.kept.result_bytes(ids.clone()), self.kept.bytes(ids))
    }

    /// Whether items are several, or one with parts.
    fn are_parts(&self, items: &Range<usize>) -> bool {
        let items = &self.tree.items[items.clone()];
        let Some(first) = items.first() else { return false };
        items.iter().any(|item| self.tree.key(item) != self.tree.key(first))
            || first.callee().is_some_and(|callee| self.has_parts[callee])
    }

    fn kept(&self, items: &Range<usize>) -> u64 {
        self.kept.bytes(self.tree.ids(items))
    }

    /// The rounds of what items call, by the line that calls and the function.
    fn called<K: Ord>(
        &self,
        items: &Range<usize>,
        key: impl Fn(Option<FrameId>, Function) -> K,
    ) -> BTreeMap<K, Vec<Round>> {
        let callees = self.tree.items[items.clone()]
            .iter()
            .filter_map(|item| item.callee().map(|node| (Some(item.line), node)));
        let rounds = callees
            .flat_map(|(line, node)| self.rounds[node].calls.iter().map(move |round| (line, node, round)));
        self.grouped(rounds, key)
    }

    /// The rounds that make up one of a node: the turns of its loops, or what it calls.
    fn within<K: Ord>(
        &self,
        node: NodeIx,
        index: usize,
        key: impl Fn(Option<FrameId>, Function) -> K,
    ) -> BTreeMap<K, Vec<Round>> {
        match &self.rounds[node].turns[index][..] {
            [] => self.called(&self.rounds[node].calls[index].0, key),
            turns => self.grouped(turns.iter().map(|turn| (None, node, turn)), key),
        }
    }

    fn grouped<'r, K: Ord>(
        &self,
        rounds: impl Iterator<Item = (Option<FrameId>, NodeIx, &'r (Range<usize>, Left))>,
        key: impl Fn(Option<FrameId>, Function) -> K,
    ) -> BTreeMap<K, Vec<Round>> {
        let mut out: BTreeMap<K, Vec<Round>> = BTreeMap::new();
        for (line, node, (items, left)) in rounds {
            let function = self.functions.of(&self.tree, node, items);
            let round = Round { node, items: items.clone(), left: *left };
            out.entry(key(line, function)).or_default().push(round);
        }
        out
    }

    fn may_be_block(&self, round: &Round) -> bool {
        self.places[round.node] != Nesting::Outside
            && self.are_parts(&round.items)
            && self.kept(&round.items) != 0
    }

    /// All blocks.
    fn blocks(&self) -> Vec<Round> {
        let mut found: BTreeMap<Function, Vec<Round>> = BTreeMap::new();
        let mut others: Vec<(Function, Round)> = Vec::new();
        let mut open = vec![self.called(&self.tree.nodes[CallTree::ROOT].items, |_, function| function)];
        while let Some(functions) = open.pop() {
            for (function, rounds) in functions {
                let (_, are_blocks) = self.left_of_rounds(&rounds);
                for round in rounds {
                    if are_blocks && self.may_be_block(&round) {
                        found.entry(function).or_default().push(round);
                    } else {
                        open.push(self.within_round(&round));
                        others.push((function, round));
                    }
                }
            }
        }
        self.drop_parts(&mut found);
        let alone = self.like_found(&found, others);
        found.into_values().flatten().chain(alone).collect()
    }

    /// The rounds within one of any kind.
    fn within_round(&self, round: &Round) -> BTreeMap<Function, Vec<Round>> {
        let calls = &self.rounds[round.node].calls;
        let index = calls.partition_point(|(items, _)| items.start < round.items.start);
        if calls.get(index).is_some_and(|(items, _)| *items == round.items) {
            self.within(round.node, index, |_, function| function)
        } else {
            self.called(&round.items, |_, function| function)
        }
    }

    /// Drop functions that are parts of the main blocks, too: elsewhere they are no blocks either. Where those call modules, what
    /// calls none is no block.
    fn drop_parts(&self, found: &mut BTreeMap<Function, Vec<Round>>) {
        let kept = |rounds: &[Round]| rounds.iter().map(|round| self.kept(&round.items)).saturating_sum();
        let Some(main) = found.values().max_by_key(|rounds| kept(rounds)) else { return };
        let parts = self.functions_within(main);
        let call_modules = |rounds: &[Round]| rounds.iter().any(|round| self.call_modules(&round.items));
        let is_of_modules = call_modules(main);
        found
            .retain(|function, rounds| !parts.contains(function) && (!is_of_modules || call_modules(rounds)));
    }

    /// Whether some items call a module, directly or not.
    fn call_modules(&self, items: &Range<usize>) -> bool {
        let mut callees = self.tree.items[items.clone()].iter().filter_map(|item| item.callee());
        callees.any(|callee| self.tree.nodes[callee].is_module || self.calls_modules[callee])
    }

    /// The functions that some rounds call, directly or not.
    fn functions_within(&self, rounds: &[Round]) -> HashSet<Function> {
        let mut out = HashSet::default();
        let mut open: Vec<Range<usize>> = rounds.iter().map(|round| round.items.clone()).collect();
        while let Some(items) = open.pop() {
            for node in self.tree.items[items].iter().filter_map(|item| item.callee()) {
                for (items, _) in &self.rounds[node].calls {
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
                && self.as_block(round).bytes() <= round.left.bytes()
                && is_apart(self.tree.ids(&round.items))
        };
        others.into_iter().filter(is_like).map(|(_, round)| round).collect()
    }
}
