//! Parameters that were not made as parts of modules, found by the gradients that they have.

use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::{Act, Part};
use crate::model::{AllocId, Origin, StackId};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// How many blocks of each size.
pub(super) type Sizes = HashMap<i64, usize>;

/// Fewer equal blocks of one line may be anything.
const MIN_EQUAL: usize = 4;

/// Look again at what was made before the first backward, outside of modules.
pub(super) fn find_parameters(view: &View<'_>, claims: &mut Claims) {
    let backward = view.flow.acts.runs.iter().find(|run| run.act == Act::Backward).map(|run| run.start);
    let limit = backward.or_else(|| view.flow.calls.first().map(|call| call.start));
    let Some(limit) = limit else { return };
    let mut wanted = backward.map(|_| gradients(view, claims)).unwrap_or_default();
    let trained = wanted.clone();
    let mut has_known = false;
    for id in view.ids() {
        let verdict = claims.get(id);
        let is_old =
            view.timeline.lifetimes.origin(id) == Origin::Before && verdict.category == Category::Unknown;
        if is_old && let Some(count) = wanted.get_mut(&view.size(id)) {
            *count = count.saturating_sub(1);
        }
        if verdict.category == Category::Parameter && view.gone(id).is_none_or(|gone| limit <= gone.0) {
            has_known = true;
            if let Some(count) = wanted.get_mut(&view.size(id)) {
                *count = count.saturating_sub(1);
            }
        }
    }
    let early: Vec<AllocId> = early(view, claims, limit);
    let inits = !has_known && !view.flow.calls.is_empty();
    for id in early {
        let (size, place) = (view.size(id), view.places.get(view.stack(id)));
        let left = wanted.get_mut(&size).filter(|left| 0 < **left);
        if let Some(left) = left {
            *left -= 1;
            let gradients = trained.get(&size).copied().unwrap_or_default();
            let blocks = Blocks { alike: gradients, known: gradients, known_as: Category::Gradient };
            claims.claim_of(id, Verdict::new(Category::Parameter, RuleId::HasGradient), size, blocks);
        } else if place.on_set_device || (place.in_init && inits) {
            claims.claim(id, Verdict::new(Category::Parameter, RuleId::InitOnDevice));
        }
    }
}

/// Sizes of the gradients that stay after a backward: for each size, the most at a time.
pub(super) fn gradients(view: &View<'_>, claims: &Claims) -> Sizes {
    let mut changes: Vec<(u32, bool, i64)> = Vec::new();
    let backwards = &view.flow.backward_spans;
    // Of a backward under way it is not known what stays; another before it told that.
    let mut has_told = false;
    let under_way = backwards.cut_from(&view.timeline.ooms).unwrap_or(u32::MAX);
    for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
        let Some(start) = view.timeline.lifetimes.start(id).event() else { continue };
        if !claims.is(id, Category::Gradient) {
            continue;
        }
        let gone = view.gone(id);
        let is_ended = start.0 < under_way;
        let stays = gone.is_none_or(|gone| backwards.end_after(start.0) <= gone.0);
        if (is_ended || !has_told) && stays {
            has_told |= is_ended;
            changes.push((start.0, true, view.size(id)));
            changes.extend(gone.map(|gone| (gone.0, false, view.size(id))));
        }
    }
    changes.sort_unstable();
    let (mut most, mut now) = (Sizes::default(), Sizes::default());
    for (_, comes, size) in changes {
        let count = now.entry(size).or_default();
        *count = if comes { *count + 1 } else { count.saturating_sub(1) };
        let top = most.entry(size).or_default();
        *top = (*top).max(*count);
    }
    most
}

/// What the program's own code made before the limit and kept beyond it.
fn early(view: &View<'_>, claims: &Claims, limit: u32) -> Vec<AllocId> {
    view.ids()
        .skip(view.timeline.lifetimes.initial_count())
        .take_while(|&id| view.timeline.lifetimes.start(id).event().is_some_and(|start| start.0 < limit))
        .filter(|&id| {
            let part = view.places.get(view.stack(id)).part;
            let Verdict { category, rule } = claims.get(id);
            let is_open = matches!(part, Part::Main | Part::Restore)
                && (rule == RuleId::Nothing
                    || matches!(category, Category::Input | Category::Other | Category::Temporary))
                && !matches!(rule, RuleId::InputOfCall | RuleId::InputLikeOthers);
            is_open && view.gone(id).is_none_or(|gone| limit <= gone.0)
        })
        .collect()
}

/// Key/value caches that are set up beforehand: in a recording without training, one line in an
/// `__init__` makes equal blocks, one or two for each layer, after the parameters.
pub(super) fn find_caches(view: &View<'_>, claims: &mut Claims) {
    let trains = view.flow.acts.runs.iter().any(|run| run.act == Act::Backward);
    if trains || view.flow.calls.is_empty() {
        return;
    }
    let last_parameter =
        view.ids().rev().find(|id| claims.is_by(*id, RuleId::ModuleLoad) && view.gone(*id).is_none());
    let mut lines: BTreeMap<(StackId, i64), Vec<AllocId>> = BTreeMap::new();
    for id in view.ids().skip(last_parameter.map_or(0, |id| id.index() + 1)) {
        let stack = view.stack(id);
        let place = view.places.get(stack);
        let Verdict { category, rule } = claims.get(id);
        let is_open = rule == RuleId::Nothing || matches!(category, Category::Input | Category::Other);
        if is_open && place.in_init && place.part == Part::Main {
            lines.entry((stack, view.size(id))).or_default().push(id);
        }
    }
    let mut by_size: BTreeMap<i64, Vec<AllocId>> = BTreeMap::new();
    for ((_, size), ids) in lines.into_iter().filter(|(_, ids)| MIN_EQUAL <= ids.len()) {
        by_size.entry(size).or_default().extend(ids);
    }
    for (size, ids) in by_size {
        let blocks = Blocks { alike: ids.len(), known: ids.len(), known_as: Category::KvCache };
        for id in ids {
            claims.claim_of(id, Verdict::new(Category::KvCache, RuleId::EqualBlocks), size, blocks);
        }
    }
}
