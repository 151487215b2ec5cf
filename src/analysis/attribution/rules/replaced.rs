//! Tensors that take the place of parameters: `p.data = p.data * m + q.data * (1 - m)`.

use super::replaced_copies::{Copies, may_be_mistaken};
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Part;
use crate::model::{AllocId, Moment, StackId};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// What takes the place of a parameter was made so few events before that was given back.
const WINDOW_EVENTS: u32 = 8;

/// Within models and steps, fewer parameters in a row that a line gives back for its own blocks may be chance.
const MIN_IN_A_ROW: usize = 3;

/// Where a parameter is given back just after the program's own code has made a block of its size
/// that stays, that block is the parameter from then on; and so is what takes its place.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let is_parameter = |id: &AllocId| claims.is(*id, Category::Parameter);
    let mut open: Vec<AllocId> = view.ids().filter(is_parameter).collect();
    let copies = Copies::of(view, claims, &open);
    while !open.is_empty() {
        let found = near(view, claims, &open);
        open.retain(|id| !found.contains_key(id));
        let mut pairs = copies.put_in_place(view, claims, &open);
        pairs.extend(found);
        for &(old, new) in &pairs {
            let verdict = Verdict::new(Category::Parameter, RuleId::ReplacesParameter);
            claims.claim_in_place_of(new, verdict, old);
        }
        open = pairs.into_iter().map(|(_, new)| new).collect();
    }
}

/// The blocks that were made just before others went, and took their place.
fn near(view: &View<'_>, claims: &Claims, open: &[AllocId]) -> BTreeMap<AllocId, AllocId> {
    let mut in_a_row: HashMap<StackId, usize> = HashMap::default();
    let mut found = Vec::new();
    for &id in open {
        let Some(successor) = successor(view, claims, id) else { continue };
        let stack = view.stack(successor);
        *in_a_row.entry(stack).or_default() += 1;
        found.push((id, successor, stack));
    }
    let is_sure = |stack| {
        let many = in_a_row.get(&stack).is_some_and(|&count| MIN_IN_A_ROW <= count);
        view.places.get(stack).part == Part::Main || many
    };
    let mut taken: HashSet<AllocId> = HashSet::default();
    let sure = found.into_iter().filter(|&(_, successor, stack)| is_sure(stack) && taken.insert(successor));
    sure.map(|(id, successor, _)| (id, successor)).collect()
}

/// The block that takes the place of another.
fn successor(view: &View<'_>, claims: &Claims, id: AllocId) -> Option<AllocId> {
    let lifetimes = &view.timeline.lifetimes;
    let (gone, size) = (view.gone(id)?, view.size(id));
    let first = lifetimes.first_after(Moment(gone.0.saturating_sub(WINDOW_EVENTS)))?;
    (first.0..lifetimes.len() as u32)
        .map(AllocId)
        .take_while(|&other| lifetimes.start(other).event().is_some_and(|start| start.0 < gone.0))
        .filter(|&other| id < other && view.size(other) == size && may_be_mistaken(claims, other))
        .filter(|&other| {
            let stack = view.stack(other);
            // Within models and steps, much else is as large: there, the line itself gives the other back.
            match view.places.get(stack).part {
                Part::Main => true,
                Part::Call | Part::Step => stack == view.timeline.events.stack(gone),
                _ => false,
            }
        })
        .filter(|&other| view.gone(other).is_none_or(|end| gone.0.saturating_add(WINDOW_EVENTS) < end.0))
        .last()
}
