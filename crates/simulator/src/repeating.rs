//! The allocations that repeat, and so may scale with the batch.

use foldhash::{HashMap, HashSet};
use oomscope_model::{Bytes, EventIx, Origin, StackId, Timeline};

/// The allocations that scale with the batch: a guess.
///
/// These are the allocations of stacks that allocate again and again and mostly free what they allocated. Left out are
/// those that have the size of something that stays from the first half of the trace to its end, since gradients have
/// the size of their parameters.
#[derive(Debug)]
pub struct Repeating {
    stacks: HashSet<StackId>,
    kept_sizes: HashSet<Bytes>,
}

impl Repeating {
    /// Find them in a trace.
    pub fn new(timeline: &Timeline) -> Self {
        let (lifetimes, events) = (&timeline.lifetimes, &timeline.events);
        let half = timeline.moments() / 2;
        let mut kept_sizes = HashSet::default();
        let mut counts: HashMap<StackId, (u32, u32)> = HashMap::default();
        for id in lifetimes.ids() {
            let is_freed = lifetimes.end(id).is_some();
            if !is_freed && lifetimes.start(id).index() <= half {
                kept_sizes.insert(timeline.size(id));
            }
            if let Origin::Event(event) = lifetimes.origin(id) {
                let count = counts.entry(events.stack(event)).or_default();
                *count = (count.0 + 1, count.1 + u32::from(is_freed));
            }
        }
        let repeats = |&(&stack, &(all, freed)): &(&StackId, &(u32, u32))| {
            stack != StackId::EMPTY && 2 <= all && all <= freed.saturating_mul(2)
        };
        let stacks = counts.iter().filter(repeats).map(|(&stack, _)| stack).collect();
        Self { stacks, kept_sizes }
    }

    /// Whether the event makes one of these allocations, or asks for one in vain.
    pub fn contains(&self, timeline: &Timeline, event: EventIx) -> bool {
        let events = &timeline.events;
        self.stacks.contains(&events.stack(event)) && !self.kept_sizes.contains(&events.size(event))
    }
}
