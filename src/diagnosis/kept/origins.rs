//! What is live by what made it, and from which rounds it is.

use super::awaited::Awaited;
use super::sets::renewed;
use super::source::Source;
use crate::analysis::{Category, Phase};
use crate::diagnosis::Context;
use crate::model::{Allocation, Moment};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Fewer sizes are as large as parameters by chance.
const MIN_COPIED: usize = 3;

/// What is live of one source, but for what the current round made.
#[derive(Default)]
pub(super) struct Origin<'a> {
    /// Bytes by the round that made them.
    pub(super) by_round: BTreeMap<usize, i64>,
    /// The allocations, those from before the recording included.
    pub(super) allocations: Vec<&'a Allocation>,
    /// Bytes from before the recording.
    pub(super) older_bytes: i64,
    /// Whether some are activations.
    pub(super) has_activations: bool,
    /// Whether some of those are from before the recording, and their backward pass must be over.
    is_left_over: bool,
}

impl<'a> Origin<'a> {
    fn add(&mut self, a: &'a Allocation, round: Option<usize>, category: Category) {
        match round {
            Some(round) => {
                let bytes = self.by_round.entry(round).or_default();
                *bytes = bytes.saturating_add(a.size);
            }
            None => self.older_bytes = self.older_bytes.saturating_add(a.size),
        }
        self.allocations.push(a);
        self.has_activations |= category == Category::Activation;
    }

    /// Whether several rounds left something here. The last round's result may well be in use.
    pub(super) fn is_repeated(&self, current: usize) -> bool {
        let is_settled = self.by_round.keys().any(|&round| round + 2 <= current);
        self.is_left_over || (2 <= self.by_round.len() && is_settled)
    }

    /// The first round that left something; `None` is before the recording.
    pub(super) fn first_round(&self) -> Option<usize> {
        self.by_round.keys().next().copied().filter(|_| self.older_bytes == 0)
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> i64 {
        self.allocations.iter().fold(0, |sum, a| sum.saturating_add(a.size))
    }
}

/// What is live by what made it, from rounds before `current`. What is older than the recording counts where
/// rounds of the recording left something by the same stack, or where a backward pass has outdated it.
pub(super) fn origins<'a>(context: &'a Context<'_>, current: usize) -> HashMap<Source, Origin<'a>> {
    let has_trained = has_trained(context);
    let renewed = renewed(context);
    let awaited = Awaited::of(context);
    // What waits for a stream was given back.
    let given_back = context.awaiting();
    let mut origins: HashMap<Source, Origin<'a>> = HashMap::default();
    let counts = |a: &&Allocation| !given_back.contains(&a.id) && !awaited.contains(context, a);
    for a in context.live.iter().filter(counts) {
        let Some(source) = Source::of(context, a) else { continue };
        let category = context.category(a.id);
        let round = match a.alloc_event() {
            Some(_) if !can_pile_up(category) && !renewed.contains(&source) => continue,
            Some(event) => match context.rounds.round(event) {
                Some(round) if round < current => Some(round),
                _ => continue,
            },
            // Of a size alone, nothing ties it to what the recording saw.
            None if source.stack().is_none() => continue,
            None => None,
        };
        let origin = origins.entry(source).or_default();
        origin.add(a, round, category);
        origin.is_left_over |= round.is_none() && has_trained && category == Category::Activation;
    }
    let copied = copied(context, &origins);
    origins.retain(|source, _| !copied.contains(source) || renewed.contains(source));
    origins
}

/// Where sizes have to tell: those of most parameters, if all of these are there. Gradients, copies and averages of them
/// may stay for many reasons.
fn copied(context: &Context<'_>, origins: &HashMap<Source, Origin<'_>>) -> HashSet<Source> {
    if !context.tells_by_size() {
        return HashSet::default();
    }
    let parameters = context.live.iter().filter(|a| context.category(a.id) == Category::Parameter);
    let mut sizes: HashSet<Source> = parameters.filter_map(|a| Source::of(context, a)).collect();
    let all = sizes.len();
    sizes.retain(|source| origins.contains_key(source));
    if sizes.len() < MIN_COPIED || sizes.len() < all / 2 { HashSet::default() } else { sizes }
}

/// Whether a step of the optimizer, and a forward pass after it, lie between the start of the recording
/// and the moment.
fn has_trained(context: &Context<'_>) -> bool {
    let phases = &context.phases().phases;
    let before = phases.iter().take_while(|start| start.event.0 < context.moment.0);
    let mut after_step = before.skip_while(|start| start.phase != Phase::Optimizer);
    after_step.any(|start| start.phase == Phase::Forward)
}

/// Whether it is odd when this stays. Caches of keys and values are meant to grow.
fn can_pile_up(category: Category) -> bool {
    !matches!(
        category,
        Category::Parameter
            | Category::OptimizerState
            | Category::Comm
            | Category::KvCache
            | Category::GraphPool
    )
}

/// How many allocations each stack has made until the moment.
pub(super) fn made(context: &Context<'_>) -> Vec<u32> {
    let timeline = context.timeline;
    let mut made = vec![0u32; context.snapshot.stacks.len()];
    for id in timeline.lifetimes.ids() {
        let start = timeline.lifetimes.start(id);
        if Moment::START < start
            && start <= context.moment
            && let Some(count) = made.get_mut(timeline.lifetimes.stack(id, &timeline.events).index())
        {
            *count += 1;
        }
    }
    made
}
