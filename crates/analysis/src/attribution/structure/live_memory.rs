//! The phase at the end of a recording, from what is live then: where nothing was recorded, where
//! recording was switched off, and where no event tells.
//!
//! The phase found is the one that left something behind last. A wrong answer is worse than none, so
//! every rule asks for more than it needs.

use super::phase::Phase;
use crate::attribution::facts::{CodePart, FactsByStack, StackFacts, StackTrait};
use crate::attribution::thresholds::{MIN_AGREEING, MIN_BLOCKS_OF_MODEL, SCALAR_BYTES};
use crate::attribution::{Categories, Category};
use crate::segments::address_order::AddressOrder;
use foldhash::{HashMap, HashSet};
use oomscope_model::allocator_sizes::{LARGE_BUFFER, MIN_LARGE_ALLOC, ROUND_LARGE, SMALL_SIZE};
use oomscope_model::{Anchor, Block, Bytes, Segment, StackId, Timeline};
use std::collections::BTreeMap;

/// Bytes of state that were made late differ from the expected ones by at most one part in this many of all bytes: some states may
/// fill holes that were there before, and some parameters lie behind one.
const LATE_PART: i64 = 16;

/// A live block.
struct LiveBlock {
    size: Bytes,
    category: Category,
    facts: StackFacts,
    stack: StackId,
    /// Whether something had been freed before it was made.
    is_late: bool,
}

/// The blocks that are live after the last event.
pub(super) struct LiveMemory {
    blocks: Vec<LiveBlock>,
    /// Whether nothing that was allocated before has been freed.
    is_untouched: bool,
}

impl LiveMemory {
    /// Look at the end of a device's recording. Nothing is live there for this purpose if the file does not have the end.
    pub(super) fn of(timeline: &Timeline, stacks: &FactsByStack, categories: &Categories) -> Self {
        if timeline.anchor != Anchor::EndState || timeline.device.0 < 0 {
            return Self { blocks: Vec::new(), is_untouched: false };
        }
        let later = LaterBlocks::of(timeline);
        let active = timeline.segments.blocks.iter().filter(|block| block.is_active());
        let block_stacks: HashMap<u64, StackId> = active.map(|block| (block.addr, block.stack)).collect();
        let live = timeline.lifetimes.live_at(timeline.end());
        let blocks = live.map(|id| {
            let addr = timeline.addr(id);
            let stack = match timeline.stack(id) {
                StackId::EMPTY => block_stacks.get(&addr).copied().unwrap_or(StackId::EMPTY),
                stack => stack,
            };
            LiveBlock {
                size: timeline.size(id),
                category: categories.get(id),
                facts: stacks.get(stack),
                stack,
                is_late: later.addresses.contains(&addr),
            }
        });
        Self { blocks: blocks.collect(), is_untouched: later.is_untouched }
    }

    /// The phase, where it can be told.
    pub(super) fn phase(&self) -> Option<Phase> {
        let total = bytes(self.blocks.iter());
        let with_stack = bytes(self.blocks.iter().filter(|block| block.stack != StackId::EMPTY));
        if total <= 0 {
            None
        } else if total / 2 < with_stack {
            self.phase_by_stacks()
        } else if with_stack == 0 {
            self.phase_by_sizes()
        } else {
            None
        }
    }

    fn phase_by_stacks(&self) -> Option<Phase> {
        let is_load = |block: &LiveBlock| block.stack != StackId::EMPTY && block.facts.part == CodePart::Load;
        if self.is_untouched && self.blocks.iter().all(is_load) {
            return Some(Phase::Init);
        }
        // Libraries and private pools keep blocks of their own at any time: then nothing follows from the rest.
        let is_known = |block: &LiveBlock| {
            block.size <= SCALAR_BYTES
                || (block.category != Category::Unknown && block.category != Category::Other)
        };
        if !self.blocks.iter().all(is_known) {
            return None;
        }
        if self.results().next().is_none() {
            // A batch may be the next iteration's, or an evaluation's.
            let is_rest = |block: &LiveBlock| {
                SCALAR_BYTES < block.size && matches!(block.category, Category::Input | Category::Activation)
            };
            return (self.has_stepped() && !self.blocks.iter().any(is_rest)).then_some(Phase::Optimizer);
        }
        if !self.is_one_training_graph() {
            return None;
        }
        let gradients = CountBySize::of(self.blocks_of(Category::Gradient));
        let parameters = CountBySize::of(self.blocks_of(Category::Parameter));
        if gradients.exceeds(&parameters) {
            // Gradients on their way through the graph come on top of one for each parameter.
            Some(Phase::Backward)
        } else if gradients.0.is_empty() || !parameters.exceeds(&gradients) {
            Some(Phase::Forward)
        } else {
            None
        }
    }

    fn blocks_of(&self, category: Category) -> impl Iterator<Item = &LiveBlock> {
        self.blocks.iter().filter(move |block| block.category == category)
    }

    /// Results of a model's code.
    fn results(&self) -> impl Iterator<Item = &LiveBlock> {
        self.blocks_of(Category::Activation).filter(|block| block.facts.part == CodePart::Call)
    }

    /// Whether the results are the graph of one training forward.
    fn is_one_training_graph(&self) -> bool {
        let may_evaluate = |block: &LiveBlock| {
            let evaluating = [StackTrait::NamedEval, StackTrait::MaybeEval, StackTrait::NoGrad];
            evaluating.into_iter().any(|one| block.facts.has(one))
        };
        if self.results().any(may_evaluate) || self.results().count() < MIN_BLOCKS_OF_MODEL {
            return false;
        }
        // Where everything is there several times, graphs of earlier calls are kept.
        let mut times: HashMap<(StackId, Bytes), usize> = HashMap::default();
        for block in self.results() {
            *times.entry((block.stack, block.size)).or_default() += 1;
        }
        times.values().any(|&times| times == 1)
    }

    /// Whether an optimizer made state within a step.
    fn has_stepped(&self) -> bool {
        self.blocks_of(Category::OptimizerState).any(|block| block.facts.has(StackTrait::WithinStep))
    }

    /// An iteration of Adam and its like leaves two states for every parameter, maybe a gradient, and nothing else but
    /// scalars. Equal layers and copies of a model come in threes as well, but are there before anything is freed; state
    /// comes after the first backward.
    fn phase_by_sizes(&self) -> Option<Phase> {
        let counts = CountBySize::of(self.blocks.iter().filter(|block| SCALAR_BYTES < block.size));
        if counts.0.len() < MIN_AGREEING {
            return None;
        }
        let late = bytes(self.blocks.iter().filter(|block| block.is_late));
        let total = bytes(self.blocks.iter());
        let comes_in = |copies: usize| counts.0.values().all(|count| count.is_multiple_of(copies));
        let all_but_one_came_late = |copies: i64| {
            let expected = total / copies * (copies - 1);
            (expected - total / LATE_PART..=expected + total / LATE_PART).contains(&late)
        };
        let without_gradients = comes_in(3) && all_but_one_came_late(3);
        let with_gradients = comes_in(4) && all_but_one_came_late(4);
        (without_gradients || with_gradients).then_some(Phase::Optimizer)
    }
}

/// How many blocks there are of each size.
struct CountBySize(BTreeMap<Bytes, usize>);

impl CountBySize {
    fn of<'a>(blocks: impl Iterator<Item = &'a LiveBlock>) -> Self {
        let mut counts = BTreeMap::new();
        for block in blocks {
            *counts.entry(block.size).or_default() += 1;
        }
        Self(counts)
    }

    /// Whether there are more of some size than the others have.
    fn exceeds(&self, other: &Self) -> bool {
        self.0.iter().any(|(&size, &count)| other.0.get(&size).is_none_or(|&others| others < count))
    }
}

fn bytes<'a>(blocks: impl Iterator<Item = &'a LiveBlock>) -> Bytes {
    blocks.map(|block| block.size.or_zero()).sum::<Bytes>()
}

/// The blocks that were made after something had been freed: they lie behind a hole, or in a segment that was made for
/// something else.
struct LaterBlocks {
    addresses: HashSet<u64>,
    /// Whether there is no hole at all.
    is_untouched: bool,
}

impl LaterBlocks {
    fn of(timeline: &Timeline) -> Self {
        let table = &timeline.segments;
        let mut segments: Vec<&Segment> = table.segments.iter().collect();
        let order = AddressOrder::of(timeline);
        segments.sort_by_key(|segment| order.key(segment.addr));
        let mut out = Self { addresses: HashSet::default(), is_untouched: true };
        let mut is_behind_hole = false;
        for segment in segments {
            let blocks = table.blocks_of(segment);
            let last = blocks.iter().rposition(Block::is_active);
            for (at, block) in blocks.iter().enumerate() {
                // The rest of a segment behind its last block is no hole: it was never used.
                let is_inner = last.is_none_or(|last| at < last);
                if !block.is_active() {
                    out.is_untouched &= !is_inner;
                    // A smaller hole may be the rest of a block that the allocator did not split.
                    is_behind_hole |= is_inner && SMALL_SIZE <= block.size;
                } else if is_behind_hole || (!segment.is_expandable && !is_made_for(segment.size, block.size))
                {
                    out.addresses.insert(block.addr);
                }
            }
        }
        out
    }
}

/// Whether the allocator makes segments of some size for blocks of some size.
fn is_made_for(segment_bytes: Bytes, block_bytes: Bytes) -> bool {
    if block_bytes < MIN_LARGE_ALLOC {
        return segment_bytes <= LARGE_BUFFER;
    }
    segment_bytes - block_bytes < ROUND_LARGE
}
