//! Parameters that were not made as parts of modules, found by the gradients that they have.

use super::assign::Scene;
use super::verdicts::Verdicts;
use super::{Category, Reason};
use crate::analysis::flow::{Act, Part};
use crate::model::{AllocId, Origin, StackId};
use foldhash::HashMap;

/// How many blocks of each size.
pub(super) type Sizes = HashMap<i64, usize>;

/// Blocks of which this many per size class stand for a copy of a model.
const MIN_COPY: usize = 4;

/// Look again at what was made before the first backward, outside of modules.
pub(super) fn adopt_parameters(scene: &Scene<'_>, verdicts: &mut Verdicts) {
    let backward = scene.flow.acts.runs.iter().find(|run| run.act == Act::Backward).map(|run| run.start);
    let limit = backward.or_else(|| scene.flow.calls.first().map(|call| call.start));
    let Some(limit) = limit else { return };
    let mut wanted = backward.map(|_| gradients(scene, verdicts)).unwrap_or_default();
    let mut known = Sizes::default();
    for id in scene.ids() {
        let verdict = verdicts.get(id);
        let is_old = scene.timeline.lifetimes.origin(id) == Origin::Before && verdict.0 == Category::Unknown;
        if is_old && let Some(count) = wanted.get_mut(&scene.size(id)) {
            *count = count.saturating_sub(1);
        }
        if verdict.0 == Category::Parameter && scene.gone(id).is_none_or(|gone| limit <= gone.0) {
            let size = scene.size(id);
            *known.entry(size).or_default() += 1;
            if let Some(count) = wanted.get_mut(&size) {
                *count = count.saturating_sub(1);
            }
        }
    }
    let early: Vec<AllocId> = early(scene, verdicts, limit);
    let inits = known.is_empty() && !scene.flow.calls.is_empty();
    let copies = early.iter().filter(|&&id| known.contains_key(&scene.size(id))).count();
    let is_copy = MIN_COPY <= copies && early.len() / 2 < copies;
    for id in early {
        let (size, place) = (scene.size(id), scene.places.get(scene.stack(id)));
        let left = wanted.get_mut(&size).filter(|left| 0 < **left);
        let verdict = if let Some(left) = left {
            *left -= 1;
            (Category::Parameter, Reason::HasGradient)
        } else if place.on_set_device || (place.in_init && inits) {
            (Category::Parameter, Reason::ModuleInit)
        } else if is_copy && known.contains_key(&size) {
            (Category::Other, Reason::CopyOfParameters)
        } else {
            continue;
        };
        verdicts.set(id, verdict);
    }
}

/// Sizes of the gradients that stay after a backward: for each size, the most at a time.
pub(super) fn gradients(scene: &Scene<'_>, verdicts: &Verdicts) -> Sizes {
    let mut changes: Vec<(u32, bool, i64)> = Vec::new();
    let mut run = 0;
    let runs = &scene.flow.acts.runs;
    // Of a backward under way it is not known what stays; another before it told that.
    let mut has_told = false;
    let under_way = runs.last().filter(|run| run.act == Act::Backward).map_or(u32::MAX, |run| run.start);
    for id in scene.ids().skip(scene.timeline.lifetimes.initial_count()) {
        let Some(start) = scene.timeline.lifetimes.start(id).event() else { continue };
        if !verdicts.is(id, Category::Gradient) {
            continue;
        }
        while runs.get(run).is_some_and(|run| run.end <= start.0) {
            run += 1;
        }
        let end = runs.get(run).map_or(0, |run| run.end);
        let gone = scene.gone(id);
        let is_ended = start.0 < under_way;
        if (is_ended || !has_told) && gone.is_none_or(|gone| end <= gone.0) {
            has_told |= is_ended;
            changes.push((start.0, true, scene.size(id)));
            changes.extend(gone.map(|gone| (gone.0, false, scene.size(id))));
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
fn early(scene: &Scene<'_>, verdicts: &Verdicts, limit: u32) -> Vec<AllocId> {
    scene
        .ids()
        .skip(scene.timeline.lifetimes.initial_count())
        .take_while(|&id| scene.timeline.lifetimes.start(id).event().is_some_and(|start| start.0 < limit))
        .filter(|&id| {
            let part = scene.places.get(scene.stack(id)).part;
            let (category, reason) = verdicts.get(id);
            let is_open = matches!(part, Part::Main | Part::Restore)
                && matches!(category, Category::Input | Category::Other | Category::Temporary)
                && !reason.is_declared()
                && reason != Reason::BeforeCall;
            is_open && scene.gone(id).is_none_or(|gone| limit <= gone.0)
        })
        .collect()
}

/// Key/value caches that are set up beforehand: in a recording without training, one line in an
/// `__init__` makes equal blocks, one or two for each layer, after the parameters.
pub(super) fn adopt_caches(scene: &Scene<'_>, verdicts: &mut Verdicts) {
    let trains = scene.flow.acts.runs.iter().any(|run| run.act == Act::Backward);
    if trains || scene.flow.calls.is_empty() {
        return;
    }
    let last_parameter =
        scene.ids().rev().find(|id| verdicts.get(*id).1 == Reason::ModuleLoad && scene.gone(*id).is_none());
    let mut lines: HashMap<(StackId, i64), Vec<AllocId>> = HashMap::default();
    for id in scene.ids().skip(last_parameter.map_or(0, |id| id.index() + 1)) {
        let stack = scene.stack(id);
        let place = scene.places.get(stack);
        let is_open = matches!(verdicts.get(id).0, Category::Input | Category::Other);
        if is_open && place.in_init && place.part == Part::Main {
            lines.entry((stack, scene.size(id))).or_default().push(id);
        }
    }
    for id in lines.into_values().filter(|ids| MIN_COPY <= ids.len()).flatten() {
        verdicts.set(id, (Category::KvCache, Reason::CacheBlocks));
    }
}
