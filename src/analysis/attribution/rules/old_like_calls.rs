//! Blocks that are older than the recording and as large as what calls of models make within it.

use super::{Category, Claims, RuleId, Verdict, View};
use crate::model::AllocId;
use foldhash::HashMap;

/// Of the bytes that nothing else explains, this share must be as large as what calls of models make, or are given, within the
/// recording. An earlier call of the same model leaves nearly all of the same sizes; other data, few of them.
const LIKE_CALLS_PERCENT: i64 = 80;

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
