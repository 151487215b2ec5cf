//! Copies of parameters that were made before a backward and take their place after it: `p.data = state["old_p"]`.

use super::{Category, Claims, RuleId, View};
use crate::analysis::attribution::facts::{Act, Part};
use crate::model::{AllocId, EventIx, StackId};
use foldhash::{HashMap, HashSet};

/// Fewer in a row may be chance.
const MIN_IN_A_ROW: usize = 4;

/// Blocks of sizes that parameters have, each line's in the order in which it makes them.
pub(super) struct Copies {
    by_line: HashMap<StackId, Vec<AllocId>>,
    /// Of the first parameters of a row, by their size: lines and places within what they make.
    by_size: HashMap<i64, Vec<(StackId, usize)>>,
    /// Where each backward starts.
    backwards: Vec<u32>,
}

impl Copies {
    /// Find what may be copies.
    pub(super) fn of(view: &View<'_>, claims: &Claims, parameters: &[AllocId]) -> Self {
        let sizes: HashSet<i64> = parameters.iter().map(|&id| view.size(id)).collect();
        let mut by_line: HashMap<StackId, Vec<AllocId>> = HashMap::default();
        let mut by_size: HashMap<i64, Vec<(StackId, usize)>> = HashMap::default();
        let backwards = view.flow.acts.runs.iter().filter(|run| run.act == Act::Backward);
        let backwards: Vec<u32> = backwards.map(|run| run.start).collect();
        if !parameters.iter().any(|&id| view.gone(id).is_some()) {
            return Self { by_line, by_size, backwards };
        }
        let outlives_one = |id: AllocId| {
            let start = view.timeline.lifetimes.start(id).event().map_or(0, |start| start.0);
            let next = backwards.get(backwards.partition_point(|&backward| backward <= start));
            next.is_some_and(|&next| view.gone(id).is_none_or(|gone| next < gone.0))
        };
        for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
            let (stack, size) = (view.stack(id), view.size(id));
            let place = view.places.get(stack);
            let is_own = place.part == Part::Main || (place.part == Part::Step && place.own_step);
            if is_own && sizes.contains(&size) && may_be_mistaken(claims, id) && outlives_one(id) {
                let line = by_line.entry(stack).or_default();
                by_size.entry(size).or_default().push((stack, line.len()));
                line.push(id);
            }
        }
        Self { by_line, by_size, backwards }
    }

    /// Parameters which one line gives back in a row, each with the copy that takes its place.
    pub(super) fn put_in_place(
        &self,
        view: &View<'_>,
        claims: &Claims,
        parameters: &[AllocId],
    ) -> Vec<(AllocId, AllocId)> {
        if self.by_line.is_empty() {
            return Vec::new();
        }
        let mut gone: Vec<(EventIx, AllocId)> =
            parameters.iter().filter_map(|&id| Some((view.gone(id)?, id))).collect();
        gone.sort_unstable();
        let stack = |event: EventIx| view.timeline.events.stack(event);
        let rows = gone.chunk_by(|a, b| stack(a.0) != StackId::EMPTY && stack(a.0) == stack(b.0));
        let rows = rows.filter(|row| MIN_IN_A_ROW <= row.len());
        let pairs = |row: &[(EventIx, AllocId)]| {
            let copies = self.of_row(view, claims, row)?;
            Some(row.iter().map(|&(_, old)| old).zip(copies.iter().copied()).collect::<Vec<_>>())
        };
        rows.filter_map(pairs).flatten().collect()
    }

    /// What one line made in the order of a row, before the last backward, and what stays after it.
    fn of_row(&self, view: &View<'_>, claims: &Claims, row: &[(EventIx, AllocId)]) -> Option<&[AllocId]> {
        let (first, last) = (row.first()?, row.last()?);
        let before = self.backwards.partition_point(|&start| start < first.0.0);
        let backward = before.checked_sub(1).and_then(|at| self.backwards.get(at)).copied()?;
        let start = |id: AllocId| view.timeline.lifetimes.start(id).event();
        let candidates = self.by_size.get(&view.size(first.1))?;
        let until = candidates.partition_point(|&(stack, at)| {
            let id = self.by_line.get(&stack).and_then(|line| line.get(at));
            id.and_then(|&id| start(id)).is_some_and(|start| start.0 < backward)
        });
        let rows = candidates
            .get(..until)?
            .iter()
            .rev()
            .filter_map(|&(stack, at)| self.by_line.get(&stack)?.get(at..at + row.len()));
        rows.take(MOST_TRIED).find(|copies| {
            copies.iter().zip(row).all(|(&copy, &(gone, old))| {
                view.size(copy) == view.size(old)
                    && !claims.is(copy, Category::Parameter)
                    && start(copy).is_some_and(|start| start.0 < backward)
                    && view.gone(copy).is_none_or(|end| gone < end && last.0 < end)
            })
        })
    }
}

/// So many blocks of the size of the first are looked at.
const MOST_TRIED: usize = 64;

/// Whether what a block is called may be mistaken.
pub(super) fn may_be_mistaken(claims: &Claims, id: AllocId) -> bool {
    let rule = claims.get(id).rule;
    RuleId::ReplacesParameter.rule().refines.contains(&rule)
}
