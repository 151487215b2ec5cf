//! Values that a query about one device can have, from its recording.

use crate::segments::pools::{PoolPlaces, lacks_pools};
use crate::{SiteFrame, by_function, is_internal, printable};
use foldhash::HashMap;
use oomscope_model::{
    Action, Context, DeviceId, EventTable, Frame, FrameId, PoolKey, Recording, Snapshot, StackId, StrId,
};
use oomscope_units as units;
use std::collections::BTreeMap;

/// Names that are kept.
const MAX_NAMES: usize = 2000;

/// A longer text is not offered, in bytes.
const MAX_TEXT: usize = 80;

/// Values that a query about a device can have. Takes one pass over its allocations.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// Functions and files, those of the user's own code first, the frequent first.
    pub(super) names: Vec<Name>,
    pub(super) streams: Vec<(i64, usize)>,
    pub(super) pools: Vec<(PoolKey, usize)>,
    pub(super) categories: Vec<(String, usize)>,
    pub(super) metadata: Vec<(String, usize)>,
    /// Names of actions, the frequent first.
    pub(super) actions: Vec<(String, usize)>,
    /// Names of annotations, the frequent first.
    pub(super) ranges: Vec<(String, usize)>,
    pub(super) has_oom: bool,
}

/// A function or file in stacks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    /// The text in lower case.
    pub(super) lower: String,
    /// Whether it is neither of torch nor of the interpreter.
    pub(super) is_own: bool,
    /// The number of allocations that have it in their stack.
    pub(super) allocations: usize,
}

impl Vocabulary {
    /// Collect the values.
    pub fn new(recording: &Recording) -> Self {
        let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
        let mut by_stack = vec![0usize; snapshot.stacks.len()];
        let mut by_context = vec![0usize; timeline.events.contexts().len()];
        let (mut streams, mut pools) = (BTreeMap::new(), BTreeMap::new());
        let places = lacks_pools(timeline).then(|| PoolPlaces::new(timeline));
        for id in timeline.ids() {
            by_stack[timeline.stack(id).index()] += 1;
            if let Some(event) = timeline.lifetimes.start(id).event() {
                by_context[timeline.events.context_index(event)] += 1;
            } else {
                let allocation = timeline.allocation(id);
                add(&mut streams, allocation.stream, 1);
                add(&mut pools, allocation.pool.filter(|_| places.is_none()), 1);
            }
            if let Some(places) = &places {
                add(&mut pools, places.pool_of(&timeline.allocation(id)), 1);
            }
        }
        let (mut categories, mut metadata) = (BTreeMap::new(), BTreeMap::new());
        for (context, &count) in timeline.events.contexts().iter().zip(&by_context).filter(|(_, n)| **n != 0)
        {
            let Context { stream, pool, category, .. } = *context;
            add(&mut streams, stream, count);
            add(&mut pools, pool.filter(|_| places.is_none()), count);
            add(&mut categories, category, count);
            for text in [context.user_metadata, context.internal_metadata, context.compile_context] {
                add(&mut metadata, text, count);
            }
        }
        Self {
            names: names(snapshot, &by_stack),
            streams: by_count(streams),
            pools: by_count(pools),
            categories: readable(snapshot, categories),
            metadata: readable(snapshot, metadata),
            actions: actions(snapshot, &timeline.events),
            ranges: ranges(recording),
            has_oom: !timeline.ooms.is_empty(),
        }
    }
}

fn add<K: Ord>(counts: &mut BTreeMap<K, usize>, key: Option<K>, count: usize) {
    if let Some(key) = key {
        *counts.entry(key).or_default() += count;
    }
}

/// The frequent first.
fn by_count<K: Ord + Copy>(counts: BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut counts: Vec<(K, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
    counts.truncate(MAX_NAMES);
    counts
}

/// Names of a device's annotations and how many there are of each.
fn ranges(recording: &Recording) -> Vec<(String, usize)> {
    let snapshot = recording.snapshot();
    let mut counts = BTreeMap::new();
    let is_here = |device: Option<DeviceId>| device.is_none_or(|device| device == recording.device);
    for started in snapshot.annotations.iter().filter(|a| a.is_start && is_here(a.device)) {
        add(&mut counts, Some(started.name), 1);
    }
    readable(snapshot, counts)
}

/// Names of actions and how many events have them.
fn actions(snapshot: &Snapshot, events: &EventTable) -> Vec<(String, usize)> {
    // There are few actions: looking through a list is faster than a map, and this asks every event.
    let mut counts: Vec<(Action, usize)> = snapshot.actions.all().map(|action| (action, 0)).collect();
    for event in events.indices() {
        let action = events.action(event);
        if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == action) {
            *count += 1;
        }
    }
    let counts = by_count(counts.into_iter().filter(|(_, count)| *count != 0).collect());
    let named = counts.into_iter().filter_map(|(action, count)| {
        Some((readable_text(&snapshot.actions.name(action, &snapshot.strings))?, count))
    });
    named.collect()
}

fn readable(snapshot: &Snapshot, counts: BTreeMap<StrId, usize>) -> Vec<(String, usize)> {
    let texts = by_count(counts).into_iter();
    texts.filter_map(|(id, count)| Some((readable_text(&snapshot.strings.name(id))?, count))).collect()
}

/// A text that can be offered: short, of one line, and the same as what is searched.
fn readable_text(text: &str) -> Option<String> {
    let is_readable = !text.is_empty() && text.len() <= MAX_TEXT && units::printable(text) == text;
    is_readable.then(|| text.to_owned())
}

/// Functions and files of the stacks, each counted once per allocation.
fn names(snapshot: &Snapshot, allocations_by_stack: &[usize]) -> Vec<Name> {
    let is_own = by_function(snapshot, |Frame { file, .. }| {
        let file = printable(snapshot, file);
        let is_own = snapshot.assumed.own_code.has(&file);
        !is_internal(&SiteFrame { file, line: 0, name: String::new(), is_own })
    });
    // By string: the last stack that had it, allocations, and whether any frame of it is the user's.
    let mut found: Vec<(u32, usize, bool)> = vec![(0, 0, false); snapshot.strings.len()];
    for (stack, &count) in (0..).zip(allocations_by_stack).skip(1).filter(|(_, count)| **count != 0) {
        for &id in snapshot.stacks.frames(StackId(stack)) {
            let frame = snapshot.frames.get(id);
            for text in [frame.file, frame.name] {
                let (last, allocations, is_any_own) = &mut found[text.index()];
                *is_any_own |= is_own[FrameId::index(id)];
                if std::mem::replace(last, stack) != stack {
                    *allocations += count;
                }
            }
        }
    }
    let mut by_text: HashMap<String, (usize, bool)> = HashMap::default();
    for (id, &(_, allocations, is_own)) in (0..).map(StrId).zip(&found).filter(|(_, f)| f.1 != 0) {
        // Files of different folders with the same name share an entry.
        if let Some(text) = readable_text(units::basename(&snapshot.strings.path(id))) {
            let entry = by_text.entry(text).or_default();
            *entry = (entry.0.max(allocations), entry.1 || is_own);
        }
    }
    let name = |(text, (allocations, is_own)): (String, (usize, bool))| {
        let lower = text.to_lowercase();
        Name { text, lower, is_own, allocations }
    };
    let mut names: Vec<Name> = by_text.into_iter().map(name).collect();
    names.sort_by(|a, b| {
        (b.is_own, b.allocations).cmp(&(a.is_own, a.allocations)).then_with(|| a.text.cmp(&b.text))
    });
    names.truncate(MAX_NAMES);
    names
}
