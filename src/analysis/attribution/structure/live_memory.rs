//! The phase at the end of a recording, from what is live then: where nothing was recorded, where
//! recording was switched off, and where no event tells.
//!
//! What is said is which phase left something behind last. A wrong answer is worse than none, so
//! every rule asks for more than it needs.

use super::Phase;
use crate::analysis::attribution::facts::{Part, Place, Places};
use crate::analysis::attribution::{Categories, Category};
use crate::analysis::segments::address_order::AddressOrder;
use crate::model::allocator_sizes::{LARGE_BUFFER, MIN_LARGE_ALLOC, ROUND_LARGE, SMALL_SIZE};
use crate::model::{Anchor, Moment, Segment, StackId, Timeline};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Fewer sizes may come in threes by chance.
const MIN_SIZES: usize = 3;

/// A result as small as this is a loss.
const SCALAR_BYTES: i64 = 8;

/// Without a graph, a call keeps fewer of its results than this.
const MIN_GRAPH_BLOCKS: usize = 16;

/// A hole smaller than this may be what rounding leaves.
const MIN_HOLE_BYTES: i64 = SMALL_SIZE;

/// One block.
struct Live {
    size: i64,
    category: Category,
    place: Place,
    stack: StackId,
    /// Whether something had been given back before it was made.
    is_late: bool,
}

/// What is live after the last event.
pub(in crate::analysis) struct LiveMemory {
    live: Vec<Live>,
    /// Whether nothing that was allocated before has been given back.
    is_untouched: bool,
}

impl LiveMemory {
    /// Look at what is live at the end of a device; at nothing where that is not known.
    pub(in crate::analysis) fn of(timeline: &Timeline, places: &Places, categories: &Categories) -> Self {
        let mut out = Self { live: Vec::new(), is_untouched: false };
        if timeline.anchor != Anchor::EndState || timeline.device.0 < 0 {
            return out;
        }
        let (later, is_untouched) = later_blocks(timeline);
        let blocks = timeline.segments.blocks.iter().filter(|block| block.is_active());
        let stacks: HashMap<u64, StackId> = blocks.map(|block| (block.addr, block.stack)).collect();
        out.is_untouched = is_untouched;
        out.live = timeline
            .lifetimes
            .live_at(Moment(timeline.events.len() as u32))
            .map(|id| {
                let addr = timeline.lifetimes.addr(id, &timeline.events);
                let stack = match timeline.lifetimes.stack(id, &timeline.events) {
                    StackId::EMPTY => stacks.get(&addr).copied().unwrap_or(StackId::EMPTY),
                    stack => stack,
                };
                Live {
                    size: timeline.lifetimes.size(id, &timeline.events),
                    category: categories.get(id),
                    place: places.get(stack),
                    stack,
                    is_late: later.contains(&addr),
                }
            })
            .collect();
        out
    }

    /// The phase, where it can be told.
    pub(in crate::analysis) fn phase(&self) -> Option<Phase> {
        let total = bytes(self.live.iter());
        let with_stack = bytes(self.live.iter().filter(|live| live.stack != StackId::EMPTY));
        if total <= 0 {
            None
        } else if total / 2 < with_stack {
            self.by_stacks()
        } else if with_stack == 0 {
            self.by_sizes()
        } else {
            None
        }
    }

    fn by_stacks(&self) -> Option<Phase> {
        let of = |category| self.live.iter().filter(move |live| live.category == category);
        let is_load = |live: &Live| live.stack != StackId::EMPTY && live.place.part == Part::Load;
        if self.is_untouched && self.live.iter().all(is_load) {
            return Some(Phase::Init);
        }
        // Libraries and private pools keep what they like, at any time.
        let is_known = |live: &Live| {
            live.size <= SCALAR_BYTES
                || (live.category != Category::Unknown && live.category != Category::Other)
        };
        if !self.live.iter().all(is_known) {
            return None;
        }
        let called = || of(Category::Activation).filter(|live| live.place.part == Part::Call);
        if called().next().is_none() {
            // A batch may be the next one's, or an evaluation's.
            let rest = |live: &Live| {
                SCALAR_BYTES < live.size && matches!(live.category, Category::Input | Category::Activation)
            };
            return (self.was_step() && !self.live.iter().any(rest)).then_some(Phase::Optimizer);
        }
        let says_eval = |place: &Place| place.says_eval || place.may_eval || place.no_grad;
        let may_be_eval = called().any(|live| says_eval(&live.place));
        if may_be_eval || called().count() < MIN_GRAPH_BLOCKS {
            return None;
        }
        // Where everything is there several times, graphs of earlier calls are kept.
        let mut times: HashMap<(StackId, i64), usize> = HashMap::default();
        for live in called() {
            *times.entry((live.stack, live.size)).or_default() += 1;
        }
        if times.values().all(|&times| 1 < times) {
            return None;
        }
        let gradients = Counts::of(of(Category::Gradient));
        let parameters = Counts::of(of(Category::Parameter));
        if gradients.exceeds(&parameters) {
            Some(Phase::Backward)
        } else if gradients.0.is_empty() || !parameters.exceeds(&gradients) {
            Some(Phase::Forward)
        } else {
            None
        }
    }

    /// Whether an optimizer made state within a step.
    fn was_step(&self) -> bool {
        let made = |live: &Live| live.category == Category::OptimizerState && live.place.within_step;
        self.live.iter().any(made)
    }

    /// Two states for every parameter, maybe a gradient, too, and nothing else but scalars: what an
    /// iteration of Adam and its like leaves. Equal layers and copies of a model come in threes as well,
    /// but are there before anything is given back; state comes after the first backward.
    fn by_sizes(&self) -> Option<Phase> {
        let counts = Counts::of(self.live.iter().filter(|live| SCALAR_BYTES < live.size));
        if counts.0.len() < MIN_SIZES {
            return None;
        }
        let late = bytes(self.live.iter().filter(|live| live.is_late));
        let of_each = |parts: usize| counts.0.values().all(|count| count.is_multiple_of(parts));
        let total = bytes(self.live.iter());
        let came_late = |parts: i64| {
            let expected = total / parts * (parts - 1);
            (expected - total / 8..=expected + total / 16).contains(&late)
        };
        let is_left = (of_each(3) && came_late(3)) || (of_each(4) && came_late(4));
        is_left.then_some(Phase::Optimizer)
    }
}

/// How many blocks there are of each size.
struct Counts(BTreeMap<i64, usize>);

impl Counts {
    fn of<'a>(live: impl Iterator<Item = &'a Live>) -> Self {
        let mut counts = BTreeMap::new();
        for live in live {
            *counts.entry(live.size).or_default() += 1;
        }
        Self(counts)
    }

    /// Whether there are more of some size than the others have.
    fn exceeds(&self, other: &Self) -> bool {
        self.0.iter().any(|(&size, &count)| other.0.get(&size).is_none_or(|&others| others < count))
    }
}

fn bytes<'a>(live: impl Iterator<Item = &'a Live>) -> i64 {
    live.fold(0, |sum, live| sum.saturating_add(live.size.max(0)))
}

/// The blocks that were made after something had been given back, by address: they lie behind a hole,
/// or in a segment that was made for something else. And whether there is no hole at all.
fn later_blocks(timeline: &Timeline) -> (HashSet<u64>, bool) {
    let table = &timeline.segments;
    let mut segments: Vec<&Segment> = table.segments.iter().collect();
    let order = AddressOrder::of(timeline);
    segments.sort_by_key(|segment| order.key(segment.addr));
    let mut later = HashSet::default();
    let (mut after_hole, mut is_untouched) = (false, true);
    for segment in segments {
        let blocks = table.blocks_of(segment);
        let last = blocks.iter().rposition(crate::model::Block::is_active);
        for (at, block) in blocks.iter().enumerate() {
            let is_inner = last.is_none_or(|last| at < last);
            if !block.is_active() {
                is_untouched &= !is_inner;
                after_hole |= is_inner && MIN_HOLE_BYTES <= block.size;
            } else if after_hole || (!segment.is_expandable && !is_made_for(segment.size, block.size)) {
                later.insert(block.addr);
            }
        }
    }
    (later, is_untouched)
}

/// Whether a segment of some size is what the allocator makes for a block of some size.
fn is_made_for(segment: i64, block: i64) -> bool {
    if block < MIN_LARGE_ALLOC {
        return segment <= LARGE_BUFFER;
    }
    segment.saturating_sub(block) < ROUND_LARGE
}
