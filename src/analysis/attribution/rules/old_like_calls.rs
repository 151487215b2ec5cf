//! Blocks that are older than the recording and as large as what calls of models make within it.

use super::{Category, Claims, RuleId, Verdict, View};
use crate::model::AllocId;
use foldhash::HashMap;
use std::collections::BTreeMap;

/// Of the bytes that nothing else explains, this share must be as large as what calls of models make, or are given, within the
/// recording. An earlier call of the same model leaves nearly all of the same sizes; other data, few of them.
const LIKE_CALLS_PERCENT: i64 = 80;

/// Fewer sizes agree by chance.
const MIN_SIZES: usize = 3;

/// Claim what an earlier call made, whose graph or results something still refers to. Whether they are that.
pub(super) fn settle(view: &View<'_>, ids: &[AllocId], claims: &mut Claims) -> bool {
    let made = made(view, claims);
    let alike = |id: AllocId| made.get(&view.size(id)).copied();
    let bytes =
        |of: &mut dyn Iterator<Item = AllocId>| of.fold(0_i64, |sum, id| sum.saturating_add(view.size(id)));
    let all = bytes(&mut ids.iter().copied());
    let activations = |id: &AllocId| alike(*id) == Some(Category::Activation);
    let explained = bytes(&mut ids.iter().copied().filter(activations));
    if explained == 0 || explained < all / 100 * LIKE_CALLS_PERCENT {
        return false;
    }
    for &id in ids {
        if let Some(category) = alike(id) {
            claims.claim(id, Verdict::new(category, RuleId::LikeThisCall));
        }
    }
    true
}

/// Whether there are as many of each size as some calls make: parameters have sizes of activations only by chance.
pub(super) fn are_whole_calls(view: &View<'_>, ids: &[AllocId], claims: &Claims) -> bool {
    let mut old: BTreeMap<i64, usize> = BTreeMap::new();
    for &id in ids {
        *old.entry(view.size(id)).or_default() += 1;
    }
    let mut kept: HashMap<i64, usize> = HashMap::default();
    for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
        let outlives = |end: u32| view.gone(id).is_none_or(|gone| end <= gone.0);
        let start = view.timeline.lifetimes.start(id).event().map_or(0, |start| start.0);
        let call = view.flow.call_at(start).filter(|call| outlives(call.end));
        if call.is_some() && claims.is(id, Category::Activation) {
            *kept.entry(view.size(id)).or_default() += 1;
        }
    }
    let calls = view.flow.calls.iter().filter(|call| call.trains).count().max(1);
    let mut by_calls: BTreeMap<usize, (usize, i64)> = BTreeMap::new();
    let mut all = 0i64;
    for (size, count) in old {
        let bytes = size.saturating_mul(count as i64);
        all = all.saturating_add(bytes);
        if let Some(&of_calls) = kept.get(&size) {
            let (sizes, total) = by_calls.entry((count * calls + of_calls / 2) / of_calls).or_default();
            *sizes += 1;
            *total = total.saturating_add(bytes);
        }
    }
    let agree = by_calls.into_iter().filter(|&(calls, (sizes, _))| 0 < calls && MIN_SIZES <= sizes);
    let most = agree.map(|(_, (_, bytes))| bytes).max();
    all / 100 * LIKE_CALLS_PERCENT <= most.unwrap_or(0)
}

/// The sizes of what calls make, and of what they are given.
fn made(view: &View<'_>, claims: &Claims) -> HashMap<i64, Category> {
    let mut out = HashMap::default();
    for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
        match claims.get(id).category {
            Category::Activation => out.insert(view.size(id), Category::Activation),
            Category::Input => Some(*out.entry(view.size(id)).or_insert(Category::Input)),
            _ => None,
        };
    }
    out
}
