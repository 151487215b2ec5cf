//! The passes that left activations, from the call of a model to the next: how often each module ran in them.

use super::call_path::Place;
use super::calls::CallCounter;
use super::live::{Live, MODULE_COLUMNS, add};
use super::places::Places;
use super::reach::{Reached, Turns, reach};
use super::real::RealModules;
use super::tree::{NodeIx, Tree};
use crate::{Category, ModelCall};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes, EventIx, Moment, Timeline};
use std::ops::Range;

/// Passes before the last that are followed, too.
const PASSES_BEFORE: usize = 2;

/// Calls of modules in the passes that left activations.
#[derive(Debug, Default)]
pub(super) struct PassCalls {
    /// How often the code of each module ran in the last pass that called it.
    calls: HashMap<NodeIx, u32>,
    /// Activations of each module by call.
    by_call: HashMap<NodeIx, Vec<Bytes>>,
    /// The module of the program that each live activation was made in, as far as its stack and its turn tell.
    pub(super) reached: HashMap<AllocId, Reached>,
}

impl PassCalls {
    /// How often a module ran in the last pass that called it; 0 if none did.
    pub(super) fn of(&self, node: NodeIx) -> u32 {
        self.calls.get(&node).copied().unwrap_or(0)
    }

    /// The activations of each call of a module, if it is the outermost that ran several times.
    pub(super) fn activations(&self, node: NodeIx) -> &[Bytes] {
        self.by_call.get(&node).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, node: NodeIx, call: u32, size: Bytes) {
        let by_call = self.by_call.entry(node).or_default();
        let at = call.saturating_sub(1) as usize;
        by_call.resize(by_call.len().max(at + 1), Bytes::ZERO);
        add(&mut by_call[at], size);
    }
}

/// Follow the passes that left some of the live activations.
pub(super) fn follow_passes(
    timeline: &Timeline,
    calls: &[ModelCall],
    places: &mut Places<'_>,
    modules: &RealModules<'_>,
    live: &[Live],
) -> PassCalls {
    let is_activation = |live: &&Live| MODULE_COLUMNS[live.column] == Category::Activation;
    let mut activations = live.iter().filter(is_activation).peekable();
    let (mut counted, mut numbered) = (CallCounter::default(), CallCounter::default());
    let mut out = PassCalls::default();
    while let Some(first) = activations.peek() {
        let pass = pass_of(timeline, calls, first.id);
        if !pass.contains(&first.id.0) {
            // It is older than the recording, whose passes are unknown.
            activations.next();
            continue;
        }
        follow_pass(timeline, places, &mut counted, pass.clone(), |_, _, _, _| ());
        out.calls.extend(counted.of_pass());
        // Following the pass again takes less memory than keeping the numbers of all calls would.
        // One that is not over tells less than those before it.
        let is_last = pass.end as usize == timeline.lifetimes.len();
        let before = if is_last { passes_before(timeline, calls, first.id) } else { Vec::new() };
        let mut earlier: HashMap<NodeIx, u32> = HashMap::default();
        for before in &before {
            follow_pass(timeline, places, &mut numbered, before.clone(), |_, _, _, _| ());
            for (node, calls) in numbered.of_pass() {
                let most = earlier.entry(node).or_default();
                *most = calls.max(*most);
            }
        }
        let is_open = is_last && before.is_empty();
        let calls = |node| counted.calls(node).max(earlier.get(&node).copied().unwrap_or_default());
        follow_pass(timeline, places, &mut numbered, pass.clone(), |tree, id, path, numbers| {
            let Some(live) = activations.next_if(|live| live.id == id) else { return };
            let reached = reach(modules, tree, path, Some(&Turns { numbers, calls: &calls, is_open }));
            out.reached.extend(reached.map(|reached| (id, reached)));
            let known = reached.map_or(0, |reached| reached.steps);
            let mut rest = path.iter().zip(numbers).skip(known);
            // Below one of a list, numbers go on through all of its entries.
            let is_one = reached.is_none_or(|reached| reached.runs == 1);
            let repeated = rest.find(|(node, _)| is_one && 1 < counted.calls(**node));
            if let Some((&node, &number)) = repeated {
                out.add(node, number, live.size);
            }
        });
        while activations.next_if(|live| live.id.0 < pass.end).is_some() {}
    }
    out
}

/// The passes right before one, at most as many as tell a training from an evaluation between.
fn passes_before(timeline: &Timeline, calls: &[ModelCall], id: AllocId) -> Vec<Range<u32>> {
    let mut out: Vec<Range<u32>> = Vec::new();
    let mut first = pass_of(timeline, calls, id).start;
    while let Some(before) = first.checked_sub(1).filter(|_| out.len() < PASSES_BEFORE) {
        let pass = pass_of(timeline, calls, AllocId(before));
        if !pass.contains(&before) {
            break;
        }
        first = pass.start;
        out.push(pass);
    }
    out
}

/// The allocations from the call of a model to the next, around one of them.
fn pass_of(timeline: &Timeline, calls: &[ModelCall], id: AllocId) -> Range<u32> {
    let lifetimes = &timeline.lifetimes;
    let Some(event) = lifetimes.start(id).event() else { return 0..0 };
    let after = calls.partition_point(|call| call.event <= event);
    let end = lifetimes.len() as u32;
    // The moment before an event has its number.
    let first_from = |event: EventIx| lifetimes.first_after(Moment(event.0)).map_or(end, |id| id.0);
    let from = after.checked_sub(1).map(|at| first_from(calls[at].event));
    let to = calls.get(after).map(|call| first_from(call.event));
    from.unwrap_or(lifetimes.initial_count() as u32)..to.unwrap_or(end)
}

/// Follow all allocations of a pass. `see` is given each of them, with the path of modules that it lies in and the number of
/// the call of each; both are empty outside of modules.
fn follow_pass(
    timeline: &Timeline,
    places: &mut Places<'_>,
    counter: &mut CallCounter,
    pass: Range<u32>,
    mut see: impl FnMut(&Tree, AllocId, &[NodeIx], &[u32]),
) {
    counter.start_pass();
    let mut numbers = Vec::new();
    for id in pass.map(AllocId) {
        let stack = timeline.stack(id);
        places.read(stack);
        numbers.clear();
        if let Some(Place::Called(path)) = places.known(stack) {
            counter.follow(&places.tree, path, places.first_alike(stack), &mut numbers);
            see(&places.tree, id, path, &numbers);
        } else {
            see(&places.tree, id, &[], &[]);
        }
    }
}
