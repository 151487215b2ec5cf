//! Tensors that take the place of parameters: `p.data = p.data * m + q.data * (1 - m)`.

use super::copied_back_parameters::{ParameterCopies, may_be_mistaken};
use crate::attribution::claims::Claims;
use crate::attribution::facts::CodePart;
use crate::attribution::thresholds::{MIN_AGREEING, NEARBY_EVENTS};
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, Moment, StackId};
use std::collections::BTreeMap;

/// If a parameter is freed just after the program's own code has made a block of its size
/// that stays, that block is the parameter from then on; and so is the block that takes its place.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let is_parameter = |id: &AllocId| claims.is(*id, Category::Parameter);
    let mut open: Vec<AllocId> = view.ids().filter(is_parameter).collect();
    let copies = ParameterCopies::of(view, claims, &open);
    // Each round follows the parameters that the round before found.
    while !open.is_empty() {
        let replaced = replaced_in_place(view, claims, &open);
        open.retain(|id| !replaced.contains_key(id));
        let mut pairs = copies.copied_back(view, claims, &open);
        pairs.extend(replaced);
        for &(old, new) in &pairs {
            let verdict = RuleId::ReplacesParameter.verdict();
            claims.claim_replacement(new, verdict, old);
        }
        open = pairs.into_iter().map(|(_, new)| new).collect();
    }
}

/// Parameters with the blocks that were made just before they were freed, and took their place.
fn replaced_in_place(view: &View<'_>, claims: &Claims, open: &[AllocId]) -> BTreeMap<AllocId, AllocId> {
    let mut in_a_row: HashMap<StackId, usize> = HashMap::default();
    let mut found = Vec::new();
    for &id in open {
        let Some(successor) = successor(view, claims, id) else { continue };
        let stack = view.stack(successor);
        *in_a_row.entry(stack).or_default() += 1;
        found.push((id, successor, stack));
    }
    let is_sure = |stack| {
        let are_many = in_a_row.get(&stack).is_some_and(|&count| MIN_AGREEING <= count);
        view.facts_of(stack).part == CodePart::Main || are_many
    };
    let mut taken: HashSet<AllocId> = HashSet::default();
    let sure = found.into_iter().filter(|&(_, successor, stack)| is_sure(stack) && taken.insert(successor));
    sure.map(|(id, successor, _)| (id, successor)).collect()
}

/// The last block of a parameter's size that was made just before the parameter was freed, and stays: between the two lie the
/// temporaries of one expression.
fn successor(view: &View<'_>, claims: &Claims, id: AllocId) -> Option<AllocId> {
    let lifetimes = &view.timeline.lifetimes;
    let (freed, size) = (view.free_event(id)?, view.size(id));
    let window = Moment(freed.0.saturating_sub(NEARBY_EVENTS));
    let stays = |other| {
        let end = view.free_event(other);
        end.is_none_or(|end| freed.0.saturating_add(NEARBY_EVENTS) < end.0)
    };
    let is_of_line = |other| {
        let stack = view.stack(other);
        match view.facts_of(stack).part {
            CodePart::Main => true,
            // Within models and steps, much else is as large: there, the line itself has to free the parameter.
            CodePart::Call | CodePart::Step => stack == view.timeline.events.stack(freed),
            _ => false,
        }
    };
    lifetimes
        .started_between(window, Moment(freed.0))
        .filter(|&other| id < other && view.size(other) == size && may_be_mistaken(claims, other))
        .filter(|&other| is_of_line(other) && stays(other))
        .last()
}
