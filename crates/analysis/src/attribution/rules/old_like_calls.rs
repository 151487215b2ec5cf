//! Blocks that are older than the recording, and as large as those that calls of models make within it.

use crate::attribution::claims::{Claims, Verdict};
use crate::attribution::thresholds::{MIN_AGREEING, MISSING_PART};
use crate::attribution::view::{CountBySize, View};
use crate::attribution::{Category, RuleId};
use foldhash::HashMap;
use oomscope_model::{AllocId, Bytes, EventIx};
use std::collections::BTreeMap;

/// Claim the blocks of an earlier call whose graph or results something still refers to. Returns whether they are that.
pub(super) fn claim(view: &View<'_>, ids: &[AllocId], claims: &mut Claims) -> bool {
    let categories = categories_of_calls(view, claims);
    let category = |id: AllocId| categories.get(&view.size(id)).copied();
    let all_bytes = view.bytes(ids.iter().copied());
    let activations = ids.iter().copied().filter(|&id| category(id) == Some(Category::Activation));
    let explained_bytes = view.bytes(activations);
    if explained_bytes == 0 || explained_bytes < least_bytes(all_bytes) {
        return false;
    }
    for &id in ids {
        if let Some(category) = category(id) {
            claims.claim(id, Verdict::new(category, RuleId::LikeThisCall));
        }
    }
    true
}

/// How many of some bytes must be as large as blocks that calls of models make, or are given, within the recording: an earlier
/// call of the same model leaves nearly all of the same sizes; other data, few of them.
fn least_bytes(all_bytes: Bytes) -> Bytes {
    all_bytes / 100 * (100 - 100 / MISSING_PART as i64)
}

/// The category of each size of block that calls make, or are given. Made ones come first.
fn categories_of_calls(view: &View<'_>, claims: &Claims) -> HashMap<Bytes, Category> {
    let mut out = HashMap::default();
    for (id, _) in view.new_ids() {
        match claims.verdict(id).category {
            Category::Activation => out.insert(view.size(id), Category::Activation),
            Category::Input => Some(*out.entry(view.size(id)).or_insert(Category::Input)),
            _ => None,
        };
    }
    out
}

/// Whether there are as many blocks of each size as one and the same number of calls keeps: parameters have sizes of
/// activations only by chance.
pub(super) fn are_whole_calls(view: &View<'_>, ids: &[AllocId], claims: &Claims) -> bool {
    let old: BTreeMap<_, _> = view.count_by_size(ids.iter().copied()).into_iter().collect();
    let kept = kept_by_calls(view, claims);
    let calls = view.device.calls.iter().filter(|call| call.trains).count().max(1);
    // By the number of calls that would have kept as many: how many sizes say so, and their bytes.
    let mut by_calls: BTreeMap<usize, (usize, Bytes)> = BTreeMap::new();
    let mut all_bytes = Bytes::ZERO;
    for (size, count) in old {
        let bytes = size * (count as i64);
        all_bytes += bytes;
        if let Some(&of_calls) = kept.get(&size) {
            let rounded = (count * calls + of_calls / 2) / of_calls;
            let (sizes, total) = by_calls.entry(rounded).or_default();
            *sizes += 1;
            *total += bytes;
        }
    }
    let agreeing = by_calls.into_iter().filter(|&(calls, (sizes, _))| 0 < calls && MIN_AGREEING <= sizes);
    let most_bytes = agreeing.map(|(_, (_, bytes))| bytes).max().unwrap_or_default();
    least_bytes(all_bytes) <= most_bytes
}

/// How many activations of each size outlive the calls of the recording.
fn kept_by_calls(view: &View<'_>, claims: &Claims) -> CountBySize {
    let is_kept = |&(id, made): &(AllocId, EventIx)| {
        let call = view.device.call_at(made.0).filter(|call| view.is_live_until(id, call.end));
        call.is_some() && claims.is(id, Category::Activation)
    };
    view.count_by_size(view.new_ids().filter(is_kept).map(|(id, _)| id))
}
