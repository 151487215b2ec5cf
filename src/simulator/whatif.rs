//! What if the program had asked for something else, or the device were smaller?

use super::{Device, Outcome, Settings, Subject};
use crate::model::allocator_sizes::ROUND_LARGE;
use crate::model::{AllocId, EventIx, Origin, StackId, Timeline};
use foldhash::{HashMap, HashSet};

/// The smallest capacity is found to this many bytes, which segments are a multiple of.
const STEP_BYTES: u64 = ROUND_LARGE.unsigned_abs();

/// The smallest capacity with which every request is met, to 2 MiB, and what comes of it; the capacity is in bytes.
///
/// A smaller capacity is taken to be never better than a larger one. Where garbage is collected, that
/// need not hold, and the answer is one boundary of several.
pub fn smallest_capacity(subject: &Subject, settings: &Settings) -> Option<(Outcome, u64)> {
    let on = |capacity: u64| {
        let device = Device { capacity_bytes: Some(capacity), allowed_bytes: None, ..subject.device() };
        subject.simulate(settings, &device)
    };
    let free =
        subject.simulate(settings, &Device { capacity_bytes: None, allowed_bytes: None, ..subject.device() });
    if !free.fits() {
        return None;
    }
    let mut low = free.counters.active_bytes.peak / STEP_BYTES;
    let mut high = free.peak_reserved_bytes().div_ceil(STEP_BYTES);
    let mut best = on(high * STEP_BYTES);
    if !best.fits() {
        return None;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        let outcome = on(middle * STEP_BYTES);
        if outcome.fits() {
            (high, best) = (middle, outcome);
        } else {
            low = middle;
        }
    }
    Some((best, high * STEP_BYTES))
}

/// The allocations that grow with the batch: a guess.
///
/// Taken to do so are those of stacks that allocate again and again and mostly free what they
/// allocated, except for those of the size of something that stays from the first half of the trace to
/// its end: gradients have the size of their parameters.
#[derive(Debug)]
pub struct Repeating {
    stacks: HashSet<StackId>,
    kept_sizes: HashSet<i64>,
}

impl Repeating {
    /// Find them in a trace.
    pub fn new(timeline: &Timeline) -> Self {
        let (lifetimes, events) = (&timeline.lifetimes, &timeline.events);
        let half = timeline.moments() / 2;
        let mut kept_sizes = HashSet::default();
        let mut counts: HashMap<StackId, (u32, u32)> = HashMap::default();
        for id in (0..lifetimes.len() as u32).map(AllocId) {
            let is_freed = lifetimes.end(id).is_some();
            if !is_freed && lifetimes.start(id).index() <= half {
                kept_sizes.insert(lifetimes.size(id, events));
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

    /// Whether the allocation that an event made, or asked for in vain, is one of them.
    pub fn contains(&self, timeline: &Timeline, event: EventIx) -> bool {
        let events = &timeline.events;
        self.stacks.contains(&events.stack(event)) && !self.kept_sizes.contains(&events.size(event))
    }
}
