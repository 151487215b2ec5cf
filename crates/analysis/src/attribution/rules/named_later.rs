//! Blocks of earlier iterations that were the same tensor as one that the program has at the end: a step replaces it.
//!
//! A name is that of what lies at an address at the end. What an iteration makes anew, such as gradients, has one in the last
//! iteration alone. The same requests of another iteration that lived as long are the same tensors, one after the other.

use crate::attribution::RuleId;
use crate::attribution::claims::{Claims, Verdict};
use crate::attribution::view::View;
use oomscope_model::{AllocId, Bytes, Moment, StackId};
use std::collections::BTreeMap;
use std::ops::Range;

/// What is the same in each iteration for one tensor.
type Request = (StackId, Bytes);

/// Claim what was named in a later iteration.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    for (before, later) in carried_back(view, claims) {
        let category = claims.verdict(later).category;
        claims.name_as(before, later);
        if !claims.is(before, category) {
            claims.claim(before, Verdict::new(category, RuleId::NamedLater));
        }
    }
}

/// The allocations of an iteration.
#[derive(Clone)]
struct Round {
    ids: Range<u32>,
    end: Moment,
}

impl Round {
    /// The moment at which this many of its allocations are made; its end if it has fewer.
    fn moment(&self, view: &View<'_>, progress: u32) -> Moment {
        let last = self.ids.start.saturating_add(progress.saturating_sub(1));
        if last < self.ids.end { view.timeline.lifetimes.start(AllocId(last)) } else { self.end }
    }

    /// The allocations of some requests, in their order.
    fn of(&self, view: &View<'_>, is_wanted: impl Fn(&Request) -> bool) -> BTreeMap<Request, Vec<AllocId>> {
        let mut out: BTreeMap<Request, Vec<AllocId>> = BTreeMap::new();
        for id in self.ids.clone().map(AllocId) {
            let request = (view.stack(id), view.size(id));
            if is_wanted(&request) {
                out.entry(request).or_default().push(id);
            }
        }
        out
    }
}

/// When the program frees an allocation; a moment after all events if it does not.
fn freed(view: &View<'_>, id: AllocId) -> u32 {
    view.free_event(id).map_or(u32::MAX, |event| event.0)
}

/// As many of the same request as outlive all others, and live up to a moment; `None` if that does not tell which they are.
fn outliving(view: &View<'_>, all: &[AllocId], count: usize, moment: Moment) -> Option<Vec<AllocId>> {
    let mut by_end = all.to_vec();
    by_end.sort_by_key(|&id| freed(view, id));
    let (others, longest) = by_end.split_at(by_end.len().checked_sub(count)?);
    let first_end = freed(view, *longest.first()?);
    let is_clear = others.last().is_none_or(|&other| freed(view, other) < first_end);
    // What lives at the end is the tensor that it is called then.
    let are_gone = longest.iter().all(|&id| view.free_event(id).is_some());
    let mut found = longest.to_vec();
    found.sort_unstable();
    (is_clear && are_gone && moment.0 <= first_end).then_some(found)
}

fn rounds(view: &View<'_>) -> Vec<Round> {
    let lifetimes = &view.timeline.lifetimes;
    let end = lifetimes.len() as u32;
    let first = |moment: Moment| lifetimes.first_after(moment).map_or(end, |id| id.0);
    let round = |start: u32, end: Moment| Round { ids: first(Moment(start))..first(end), end };
    view.course.iterations.list.iter().map(|of| round(of.start.0, of.end)).collect()
}

/// Blocks of earlier iterations, each with the one that has its name: one of the last iteration that made something that is named.
fn carried_back(view: &View<'_>, claims: &Claims) -> Vec<(AllocId, AllocId)> {
    let is_named = |id: &AllocId| claims.is_by(*id, RuleId::Named) && view.alloc_event(*id).is_some();
    let mut named: Vec<AllocId> = view.labels.noted_ids().filter(is_named).collect();
    named.sort_unstable();
    let rounds = rounds(view);
    let has_named = |round: &Round| {
        let from = named.partition_point(|id| id.0 < round.ids.start);
        named.get(from).is_some_and(|id| round.ids.contains(&id.0))
    };
    let Some(at) = rounds.iter().rposition(has_named) else { return Vec::new() };
    let (round, before) = (&rounds[at], &rounds[..at]);
    let mut out = Vec::new();
    let mut wanted: BTreeMap<Request, Vec<AllocId>> = BTreeMap::default();
    for id in named.into_iter().filter(|id| round.ids.contains(&id.0)) {
        wanted.entry((view.stack(id), view.size(id))).or_default().push(id);
    }
    // What else is kept of the same request may be the tensor of any of the names.
    let mut here = round.of(view, |request| wanted.contains_key(request));
    for ids in here.values_mut() {
        ids.retain(|&id| round.end.0 <= freed(view, id));
    }
    wanted.retain(|request, ids| here.get(request) == Some(ids));
    let progress = round.ids.end - round.ids.start;
    for earlier in before {
        let at = earlier.moment(view, progress);
        for (request, all) in earlier.of(view, |request| wanted.contains_key(request)) {
            let later = &wanted[&request];
            let found = outliving(view, &all, later.len(), at);
            out.extend(found.into_iter().flatten().zip(later.iter().copied()));
        }
    }
    out
}

#[cfg(test)]
#[path = "named_later_tests.rs"]
mod tests;
