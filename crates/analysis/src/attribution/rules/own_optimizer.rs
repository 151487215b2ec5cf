//! Optimizers that a program writes itself: where neither stacks nor announcements show another, the buffers that it keeps
//! for its parameters are its state.

use super::copied_back_parameters::may_be_mistaken;
use super::function_blocks::{Fate, FunctionBlock, function_blocks};
use super::gradient_sizes::lasting_gradients;
use super::parameter_sweeps::swept_parameters;
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::Activity;
use crate::attribution::thresholds::{ADAM_BLOCKS, MIN_AGREEING};
use crate::attribution::view::{CountBySize, View};
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, Bytes, EventIx, StackId};
use std::collections::{BTreeMap, BTreeSet};

/// The blocks of a line of the program's own, all as large as parameters.
struct Line {
    blocks: Vec<(AllocId, EventIx)>,
    sizes: BTreeSet<Bytes>,
}

impl Line {
    /// Whether it keeps more for each parameter than any state is: directions that are tried, or copies of candidates.
    fn keeps_trials(&self, view: &View<'_>, known: &CountBySize) -> bool {
        let kept = self.blocks.iter().filter(|&&(id, _)| view.is_live_at_end(id)).count();
        let parameters: usize = self.sizes.iter().filter_map(|size| known.get(size)).sum();
        ADAM_BLOCKS * parameters <= kept
    }
}

/// Claim the state, and the parameters that take the place of others. Those are written last, from the state.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    if view.stacks.show_optimizer() || !view.announced.steps.is_empty() {
        return;
    }
    let parameters: Vec<AllocId> = view.ids().filter(|&id| claims.is(id, Category::Parameter)).collect();
    let mut known = view.count_by_size(parameters.iter().copied());
    // Parameters that are older than the recording are known by their gradients, or by what goes through them.
    let old_kept: Vec<AllocId> = view.old_ids().filter(|&id| view.is_live_at_end(id)).collect();
    let swept = swept_parameters(view, &view.blocks_by_size(&old_kept));
    for (size, count) in lasting_gradients(view, claims).into_iter().chain(swept) {
        known.entry(size).or_insert(count);
    }
    let lines = lines_per_parameter(view, &known);
    let Some(first) = first_step(view, &lines, &parameters) else { return };
    let ends = ends_of_steps(view);
    let is_kept = |id: AllocId, made: EventIx| {
        let end = ends.get(ends.partition_point(|&end| end <= made.0));
        view.is_live_until(id, end.copied().unwrap_or(view.timeline.events.len() as u32))
    };
    let is_open = |id: AllocId| claims.verdict(id).is_open() || may_be_mistaken(claims, id);
    let writes = |line: &Line| {
        let written = line.blocks.iter().filter(|&&(id, made)| first <= made.0 && is_kept(id, made));
        written.map(|&(_, made)| made).next()
    };
    // Parameters that are updated in place are never given back.
    let is_replaced = |&id: &AllocId| view.free_event(id).is_some_and(|freed| first < freed.0);
    let mut old = view.old_ids().filter(|&id| known.contains_key(&view.size(id))).peekable();
    let are_replaced = parameters.iter().any(is_replaced)
        || (parameters.is_empty() && old.peek().is_some() && old.all(|id| view.free_event(id).is_some()));
    let last = lines.values().filter_map(writes).max().filter(|_| are_replaced);
    let mut found = Vec::new();
    for line in lines.values() {
        let is_last = last.is_some() && writes(line) == last;
        let kept_as =
            if line.keeps_trials(view, &known) { Category::Temporary } else { Category::OptimizerState };
        for &(id, made) in line.blocks.iter().filter(|&&(id, made)| is_open(id) && is_kept(id, made)) {
            let verdict = if is_last && first <= made.0 {
                RuleId::WrittenByOwnStep.verdict()
            } else {
                Verdict::new(kept_as, RuleId::KeptByOwnStep)
            };
            found.push((id, verdict, line.blocks.len()));
        }
    }
    for (id, verdict, alike) in found {
        let size = view.size(id);
        let blocks = Blocks {
            alike,
            known: known.get(&size).copied().unwrap_or_default(),
            known_as: Category::Parameter,
        };
        claims.claim_with_blocks(id, verdict, size, blocks);
    }
}

/// The lines all of whose blocks are as large as parameters, in several sizes, scratch aside.
fn lines_per_parameter(view: &View<'_>, known: &CountBySize) -> BTreeMap<StackId, Line> {
    let mut lines: BTreeMap<StackId, Line> = BTreeMap::new();
    let is_other = |block: &FunctionBlock| !known.contains_key(&view.size(block.id));
    for block in function_blocks(view).iter().filter(|&block| block.fate != Fate::Scratch || !is_other(block))
    {
        let new = || Line { blocks: Vec::new(), sizes: BTreeSet::new() };
        let line = lines.entry(view.stack(block.id)).or_insert_with(new);
        line.blocks.push((block.id, block.made));
        line.sizes.insert(view.size(block.id));
    }
    lines.retain(|_, line| {
        MIN_AGREEING <= line.sizes.len() && line.sizes.iter().all(|size| known.contains_key(size))
    });
    lines
}

/// The first event at which the program writes parameters: after a backward, or, where there is none, again and again once
/// what it optimizes has been called, or made if that are functions that call no module.
fn first_step(view: &View<'_>, lines: &BTreeMap<StackId, Line>, parameters: &[AllocId]) -> Option<u32> {
    let backward = view.device.backward_spans.first_event();
    let call = || view.device.calls.first().map(|call| call.start);
    let last_made = || parameters.iter().filter_map(|&id| view.alloc_event(id)).map(|made| made.0).max();
    let is_late = || view.old_ids().next().map(|_| 0);
    let begins = backward.or_else(call).or_else(last_made).or_else(is_late)?;
    let writes = |line: &&Line| backward.is_some() || parameters.len() < line.blocks.len();
    let made = lines.values().filter(writes).flat_map(|line| &line.blocks).map(|&(_, made)| made.0);
    made.filter(|&made| begins < made).min()
}

/// The first events of everything but the program's own code.
fn ends_of_steps(view: &View<'_>) -> Vec<u32> {
    let runs = view.device.activities.runs.iter();
    let others = runs.filter(|run| !matches!(run.activity, Activity::Main | Activity::Aside));
    others.map(|run| run.start).collect()
}
