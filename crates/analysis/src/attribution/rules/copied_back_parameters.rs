//! Copies of parameters that were made before a backward and take their place after it: `p.data = state["old_p"]`.

use crate::attribution::claims::Claims;
use crate::attribution::facts::{Activity, CodePart, StackTrait};
use crate::attribution::thresholds::{MAX_COMPARED, MIN_LAYERS};
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, Bytes, EventIx, StackId};

/// Blocks of sizes that parameters have, each line's in the order in which it makes them.
pub(super) struct ParameterCopies {
    by_line: HashMap<StackId, Vec<AllocId>>,
    /// By size, every such block as its line and its index among the blocks of that line.
    by_size: HashMap<Bytes, Vec<(StackId, usize)>>,
    /// The first event of each backward.
    backwards: Vec<u32>,
}

impl ParameterCopies {
    /// Find the blocks that may be copies.
    pub(super) fn of(view: &View<'_>, claims: &Claims, parameters: &[AllocId]) -> Self {
        let backwards = view.device.activities.starts_of(Activity::Backward);
        let mut out = Self { by_line: HashMap::default(), by_size: HashMap::default(), backwards };
        if !parameters.iter().any(|&id| view.free_event(id).is_some()) {
            return out;
        }
        let sizes: HashSet<Bytes> = parameters.iter().map(|&id| view.size(id)).collect();
        for (id, made) in view.new_ids() {
            let (stack, size) = (view.stack(id), view.size(id));
            let facts = view.facts_of(stack);
            let is_own = match facts.part {
                CodePart::Main => true,
                CodePart::Step => facts.has(StackTrait::InOwnOptimizer),
                _ => false,
            };
            let may_be_copy = is_own && sizes.contains(&size) && may_be_mistaken(claims, id);
            if may_be_copy && out.outlives_backward(view, id, made) {
                let line = out.by_line.entry(stack).or_default();
                out.by_size.entry(size).or_default().push((stack, line.len()));
                line.push(id);
            }
        }
        out
    }

    /// Whether an allocation is still live after the start of the next backward.
    fn outlives_backward(&self, view: &View<'_>, id: AllocId, made: EventIx) -> bool {
        let next = self.backwards.partition_point(|&backward| backward <= made.0);
        self.backwards.get(next).is_some_and(|&next| view.is_live_until(id, next + 1))
    }

    /// Parameters which one line frees in a row, each with the copy that takes its place.
    pub(super) fn copied_back(
        &self,
        view: &View<'_>,
        claims: &Claims,
        parameters: &[AllocId],
    ) -> Vec<(AllocId, AllocId)> {
        if self.by_line.is_empty() {
            return Vec::new();
        }
        let mut freed: Vec<(EventIx, AllocId)> =
            parameters.iter().filter_map(|&id| Some((view.free_event(id)?, id))).collect();
        freed.sort_unstable();
        let stack = |event: EventIx| view.timeline.events.stack(event);
        let rows = freed.chunk_by(|a, b| stack(a.0) != StackId::EMPTY && stack(a.0) == stack(b.0));
        let rows = rows.filter(|row| MIN_LAYERS <= row.len());
        let pairs = |row: &[(EventIx, AllocId)]| {
            let copies = self.copies_of_row(view, claims, row)?;
            Some(row.iter().map(|&(_, old)| old).zip(copies.iter().copied()).collect::<Vec<_>>())
        };
        rows.filter_map(pairs).flatten().collect()
    }

    /// The blocks that one line made in the order of a row, before the last backward, and that stay after it.
    fn copies_of_row(
        &self,
        view: &View<'_>,
        claims: &Claims,
        row: &[(EventIx, AllocId)],
    ) -> Option<&[AllocId]> {
        let (first, last) = (row.first()?, row.last()?);
        let before = self.backwards.partition_point(|&start| start < first.0.0);
        let backward = before.checked_sub(1).and_then(|at| self.backwards.get(at)).copied()?;
        let is_made_before = |id: AllocId| view.alloc_event(id).is_some_and(|made| made.0 < backward);
        let candidates = self.by_size.get(&view.size(first.1))?;
        let until = candidates.partition_point(|&(stack, at)| {
            let id = self.by_line.get(&stack).and_then(|line| line.get(at));
            id.is_some_and(|&id| is_made_before(id))
        });
        let rows = candidates
            .get(..until)?
            .iter()
            .rev()
            .filter_map(|&(stack, at)| self.by_line.get(&stack)?.get(at..at + row.len()));
        // The latest first: earlier ones are copies of earlier iterations.
        rows.take(MAX_COMPARED).find(|copies| {
            copies.iter().zip(row).all(|(&copy, &(freed, old))| {
                view.size(copy) == view.size(old)
                    && !claims.is(copy, Category::Parameter)
                    && is_made_before(copy)
                    && view.free_event(copy).is_none_or(|end| freed < end && last.0 < end)
            })
        })
    }
}

/// Whether the verdict on a block may be mistaken for one on a parameter.
pub(super) fn may_be_mistaken(claims: &Claims, id: AllocId) -> bool {
    let rule = claims.verdict(id).rule;
    RuleId::ReplacesParameter.rule().refines.contains(&rule)
}
