//! What stays from round to round: the memory of a leak, or of results that pile up.

use super::code::by_stack;
use super::passing::passing;
use super::{Context, Role, Site, StackBytes};
use crate::analysis::{Category, FrameKey, Phase};
use crate::model::{AllocId, Allocation, StackId};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The round of what is older than the recording.
const BEFORE: usize = 0;

/// Lines that lead to nearly all of it lead to this share of its bytes.
const NEARLY_ALL: f64 = 0.9;

/// Different lines of one round that are too many for results that a program keeps.
const MIN_GRAPH_LINES: usize = 4;

/// Allocations of earlier rounds that are live, at stacks that left some in several rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Their bytes.
    pub bytes: i64,
    /// How many rounds they are from.
    pub rounds: usize,
    /// Bytes that a round left behind: the median.
    pub per_round_bytes: i64,
    /// Their stacks, most bytes first.
    pub stacks: Vec<StackBytes>,
    /// The allocations, largest first.
    pub allocations: Vec<AllocId>,
    /// How many of their bytes were made in the forward pass.
    pub activation_bytes: i64,
    /// Innermost lines of the stacks.
    pub lines: usize,
}

impl Kept {
    /// What stays at the context's moment; `None` where nothing does.
    pub(super) fn of(context: &Context<'_>) -> Option<Self> {
        let current = context.rounds.round_at(context.moment)?.saturating_add(1);
        let is_old = has_trained(context);
        let mut by_origin: HashMap<StackId, BTreeMap<usize, i64>> = HashMap::default();
        let candidates: Vec<(&Allocation, usize)> = context
            .live
            .iter()
            .filter(|a| a.stack != StackId::EMPTY && can_pile_up(context.category(a.id)))
            .filter_map(|a| Some((a, round_of(context, a, is_old)?)))
            .filter(|&(_, round)| round < current)
            .collect();
        for &(a, round) in &candidates {
            let bytes = by_origin.entry(a.stack).or_default().entry(round).or_default();
            *bytes = bytes.saturating_add(a.size);
        }
        // The last round's result may well be in use.
        let is_kept = |rounds: &BTreeMap<usize, i64>| {
            let is_repeated = 2 <= rounds.len() && rounds.keys().any(|&round| round + 2 <= current);
            is_repeated || rounds.contains_key(&BEFORE)
        };
        by_origin.retain(|_, rounds| is_kept(rounds));
        let live = candidates.iter().map(|&(a, _)| a).filter(|a| by_origin.contains_key(&a.stack));
        let passing = passing(context, live);
        by_origin.retain(|stack, _| !passing.contains(stack));
        let kept: Vec<&Allocation> =
            candidates.iter().filter(|(a, _)| by_origin.contains_key(&a.stack)).map(|&(a, _)| a).collect();
        let stacks = by_stack(kept.iter().map(|a| (a.stack, a.size)));
        let mut per_round: BTreeMap<usize, i64> = BTreeMap::new();
        for row in &stacks {
            for (&round, &bytes) in by_origin.get(&row.stack).into_iter().flatten() {
                let sum = per_round.entry(round).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        // Rounds that left next to nothing are parts of others.
        let most = per_round.values().copied().max().unwrap_or(0);
        per_round.retain(|_, bytes| most / 10 <= *bytes);
        if !is_consistent(&stacks, &by_origin, per_round.len()) || is_one_pass(context, &candidates, &stacks)
        {
            return None;
        }
        let bytes = kept.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
        let lines: BTreeSet<FrameKey> =
            stacks.iter().filter_map(|row| context.code.own_path(row.stack).first().copied()).collect();
        let activations = kept.iter().filter(|a| context.category(a.id) == Category::Activation);
        (0 < bytes).then(|| Self {
            bytes,
            rounds: per_round.len(),
            per_round_bytes: median(per_round.into_values().collect()),
            allocations: kept.iter().map(|a| a.id).collect(),
            activation_bytes: activations.fold(0i64, |sum, a| sum.saturating_add(a.size)),
            lines: lines.len(),
            stacks,
        })
    }

    /// Whether so many different tensors stay that a graph must keep them: results that a program
    /// keeps come from a line or two.
    pub fn is_graph(&self) -> bool {
        MIN_GRAPH_LINES <= self.lines && self.bytes / 2 <= self.activation_bytes
    }

    /// The lines of the user's own code that lead to nearly all of it and to little else, then the
    /// innermost ones.
    pub(super) fn sites(&self, context: &Context<'_>, limit: usize) -> Vec<Site> {
        let mut sites = self.leading(context);
        sites.truncate(limit / 2);
        super::code::add_sites(&mut sites, context.code.sites(&self.stacks, Role::Kept), limit);
        sites
    }

    fn leading(&self, context: &Context<'_>) -> Vec<Site> {
        // Bytes, allocations, and how far from the innermost frame, by line.
        let mut kept: BTreeMap<FrameKey, (i64, usize, usize)> = BTreeMap::new();
        for row in &self.stacks {
            for (depth, key) in unique(context.code.own_path(row.stack)).into_iter().enumerate() {
                let (bytes, count, deepest) = kept.entry(key).or_default();
                *bytes = bytes.saturating_add(row.bytes);
                *count += row.count;
                *deepest = (*deepest).max(depth);
            }
        }
        kept.retain(|_, (bytes, ..)| NEARLY_ALL <= Context::share(*bytes, self.bytes));
        let made = made_below(context, &kept.keys().copied().collect());
        let share =
            |key: &FrameKey, bytes: i64| Context::share(bytes, made.get(key).copied().unwrap_or(bytes));
        let mut lines: Vec<(FrameKey, (i64, usize, usize))> = kept.into_iter().collect();
        let best = lines.iter().map(|(key, (bytes, ..))| share(key, *bytes)).fold(0.0, f64::max);
        lines.retain(|(key, (bytes, ..))| best / 50.0 <= share(key, *bytes));
        lines.sort_by(|(a, of_a), (b, of_b)| {
            let shares = share(b, of_b.0).total_cmp(&share(a, of_a.0));
            shares.then(of_a.2.cmp(&of_b.2)).then(a.cmp(b))
        });
        lines
            .into_iter()
            .map(|(key, (bytes, count, _))| context.code.site(key, bytes, count, Role::Kept))
            .collect()
    }
}

/// The round of an allocation. What is older than the recording is of a round of its own, if it was made
/// in a forward pass whose backward pass must be over.
fn round_of(context: &Context<'_>, a: &Allocation, is_old: bool) -> Option<usize> {
    match a.alloc_event() {
        Some(event) => context.rounds.round(event).map(|round| round + 1),
        None => (is_old && context.category(a.id) == Category::Activation).then_some(BEFORE),
    }
}

/// Whether a step of the optimizer, and a forward pass after it, lie between the start of the recording
/// and the moment.
fn has_trained(context: &Context<'_>) -> bool {
    let phases = &context.phases().phases;
    let before = phases.iter().take_while(|start| start.event.0 < context.moment.0);
    let mut after_step = before.skip_while(|start| start.phase != Phase::Optimizer);
    after_step.any(|start| start.phase == Phase::Forward)
}

/// Whether most bytes are at stacks that left something in most rounds. Rounds that are parts of one
/// pass through a model, layer by layer, each have other stacks.
fn is_consistent(
    stacks: &[StackBytes],
    by_origin: &HashMap<StackId, BTreeMap<usize, i64>>,
    rounds: usize,
) -> bool {
    let all = stacks.iter().fold(0i64, |sum, row| sum.saturating_add(row.bytes));
    let is_regular = |row: &&StackBytes| {
        by_origin.get(&row.stack).is_some_and(|of_stack| rounds <= of_stack.len().saturating_mul(2))
    };
    let regular = stacks.iter().filter(is_regular).fold(0i64, |sum, row| sum.saturating_add(row.bytes));
    all / 2 <= regular
}

/// Whether the rounds look like the layers of one pass: then there are also activations of lines that
/// come once, before and after the layers.
fn is_one_pass(context: &Context<'_>, candidates: &[(&Allocation, usize)], kept: &[StackBytes]) -> bool {
    let is_kept: BTreeSet<StackId> = kept.iter().map(|row| row.stack).collect();
    let once: BTreeSet<StackId> = candidates
        .iter()
        .filter(|(a, _)| !is_kept.contains(&a.stack) && context.category(a.id) == Category::Activation)
        .map(|(a, _)| a.stack)
        .collect();
    kept.len() < once.len().saturating_mul(4)
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

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn unique(path: Vec<FrameKey>) -> Vec<FrameKey> {
    let mut seen = BTreeSet::new();
    path.into_iter().filter(|&key| seen.insert(key)).collect()
}

/// Bytes that were allocated below some lines from the first round until the moment, freed ones
/// included.
fn made_below(context: &Context<'_>, lines: &BTreeSet<FrameKey>) -> HashMap<FrameKey, i64> {
    let timeline = context.timeline;
    let first = context.rounds.start(0).map_or(0, |event| event.0);
    let mut by_stack: Vec<i64> = vec![0; context.snapshot.stacks.len()];
    for id in timeline.lifetimes.ids() {
        let start = timeline.lifetimes.start(id);
        if start.0 <= first || context.moment < start {
            continue;
        }
        let stack = timeline.lifetimes.stack(id, &timeline.events);
        let sum = &mut by_stack[stack.index()];
        *sum = sum.saturating_add(timeline.lifetimes.size(id, &timeline.events));
    }
    let mut made: HashMap<FrameKey, i64> = HashMap::default();
    for (stack, bytes) in (0..).map(StackId).zip(by_stack).filter(|&(_, bytes)| bytes != 0) {
        for key in unique(context.code.own_path(stack)).into_iter().filter(|key| lines.contains(key)) {
            let sum = made.entry(key).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    made
}
