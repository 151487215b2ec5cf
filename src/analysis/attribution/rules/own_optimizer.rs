//! Optimizers that a program writes itself: where neither stacks nor announcements show another, the buffers that it keeps
//! for its parameters are its state.

use super::copied_back_parameters::may_be_mistaken;
use crate::analysis::attribution::claims::{Blocks, Claims, Verdict};
use crate::analysis::attribution::facts::{Activity, Part};
use crate::analysis::attribution::thresholds::MIN_AGREEING_SIZES;
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, EventIx, StackId};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The blocks of a line of the program's own, all as large as parameters.
struct Line {
    blocks: Vec<(AllocId, EventIx)>,
    sizes: BTreeSet<i64>,
}

/// Claim the state, and the parameters that take the place of others. Those are written last, from the state.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    if view.stacks.show_optimizer() || !view.announced.steps.is_empty() {
        return;
    }
    let parameters: Vec<AllocId> = view.ids().filter(|&id| claims.is(id, Category::Parameter)).collect();
    let mut known: HashMap<i64, usize> = HashMap::default();
    for &id in &parameters {
        *known.entry(view.size(id)).or_default() += 1;
    }
    let lines = lines_per_parameter(view, &known);
    let Some(first) = first_step(view, &lines, parameters.len()) else { return };
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
    let are_replaced = parameters.iter().any(|&id| view.free_event(id).is_some_and(|freed| first < freed.0));
    let last = lines.values().filter_map(writes).max().filter(|_| are_replaced);
    let mut found = Vec::new();
    for line in lines.values() {
        let is_last = last.is_some() && writes(line) == last;
        for &(id, made) in line.blocks.iter().filter(|&&(id, made)| is_open(id) && is_kept(id, made)) {
            found.push((id, is_last && first <= made.0, line.blocks.len()));
        }
    }
    for (id, is_parameter, alike) in found {
        let size = view.size(id);
        let (category, rule) = if is_parameter {
            (Category::Parameter, RuleId::WrittenByOwnStep)
        } else {
            (Category::OptimizerState, RuleId::KeptByOwnStep)
        };
        let blocks = Blocks {
            alike,
            known: known.get(&size).copied().unwrap_or_default(),
            known_as: Category::Parameter,
        };
        claims.claim_with_blocks(id, Verdict::new(category, rule), size, blocks);
    }
}

/// The lines all of whose blocks are as large as parameters, in several sizes.
fn lines_per_parameter(view: &View<'_>, known: &HashMap<i64, usize>) -> BTreeMap<StackId, Line> {
    let mut lines: BTreeMap<StackId, Line> = BTreeMap::new();
    for (id, made) in view.new_ids() {
        let stack = view.timeline.events.stack(made);
        if view.facts_of(stack).part == Part::Main {
            let new = || Line { blocks: Vec::new(), sizes: BTreeSet::new() };
            let line = lines.entry(stack).or_insert_with(new);
            line.blocks.push((id, made));
            line.sizes.insert(view.size(id));
        }
    }
    lines.retain(|_, line| {
        MIN_AGREEING_SIZES <= line.sizes.len() && line.sizes.iter().all(|size| known.contains_key(size))
    });
    lines
}

/// The first event at which the program writes parameters: after a backward, or, where there is none, between calls of what
/// it optimizes, again and again.
fn first_step(view: &View<'_>, lines: &BTreeMap<StackId, Line>, parameters: usize) -> Option<u32> {
    let backward = view.device.backward_spans.first_event();
    let begins = backward.or_else(|| view.device.calls.first().map(|call| call.start))?;
    let writes = |line: &&Line| backward.is_some() || parameters < line.blocks.len();
    let made = lines.values().filter(writes).flat_map(|line| &line.blocks).map(|&(_, made)| made.0);
    made.filter(|&made| begins < made).min()
}

/// The first events of everything but the program's own code.
fn ends_of_steps(view: &View<'_>) -> Vec<u32> {
    let runs = view.device.activities.runs.iter();
    let others = runs.filter(|run| !matches!(run.activity, Activity::Main | Activity::Aside));
    others.map(|run| run.start).collect()
}
