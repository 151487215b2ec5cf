//! A filter made ready for one device.

use super::allocation_terms::{AllocationCheck, AllocationRow};
use super::common_terms::PoolIs;
use super::conditions::{Conditions, Device};
use super::matches::Matches;
use super::query::Filter;
use crate::segments::pools::PoolPlaces;
use crate::{Attribution, UserRules};
use oomscope_model::{AllocId, Moment, Recording, Timeline};
use rayon::prelude::*;

/// A [`Filter`] with its tables for one timeline.
#[derive(Debug)]
pub struct Prepared {
    conditions: Conditions<AllocationCheck>,
}

impl Prepared {
    /// Fill the tables; categories, iterations and phases, if the filter asks for any, are found first.
    pub fn new(filter: &Filter, recording: &Recording, rules: &UserRules) -> Self {
        let found = filter.needs_attribution().then(|| Attribution::of(recording, rules));
        Self::with_attribution(filter, recording, &found.unwrap_or_default())
    }

    /// Fill the tables, with an attribution that is known already.
    pub fn with_attribution(
        filter: &Filter,
        recording: &Recording,
        Attribution { categories, phases, .. }: &Attribution,
    ) -> Self {
        let conditions = Conditions::new(
            &filter.terms,
            Device { recording, phases, in_pools },
            |test, notes| test.check(recording, categories, notes),
            |test| test.missing(recording),
        );
        Self { conditions }
    }

    /// Reasons why parts of the query hold for nothing: what they ask for was not recorded.
    pub fn notes(&self) -> &[String] {
        self.conditions.notes()
    }

    /// The allocations that match while the cursor is at a moment.
    pub fn matches(&self, timeline: &Timeline, cursor: Moment) -> Matches {
        let lifetimes = &timeline.lifetimes;
        let holds = |id: AllocId| self.conditions.hold(&AllocationRow { timeline, id, cursor });
        if let Some(moment) = self.only_live_at(cursor) {
            let live = lifetimes.live_at(moment).filter(|&id| holds(id));
            return Matches::from_ids(lifetimes.len(), live);
        }
        Matches::from_test(lifetimes.len(), holds)
    }

    /// A moment at which all matches are live, if the terms say one.
    fn only_live_at(&self, cursor: Moment) -> Option<Moment> {
        let moment_of = |check: &AllocationCheck| match check {
            AllocationCheck::Live(moments) if moments.len() == 1 => moments.first().copied(),
            AllocationCheck::Awaiting => Some(None),
            _ => None,
        };
        let moment = self.conditions.required().find_map(moment_of)?;
        Some(moment.unwrap_or(cursor))
    }
}

impl Matches {
    /// The allocations of a recording that a filter lets through while the cursor is at a moment.
    /// Where the cursor moves, keep the [`Prepared`] instead.
    pub fn compute(filter: &Filter, recording: &Recording, cursor: Moment) -> Self {
        Prepared::new(filter, recording, &UserRules::default()).matches(recording, cursor)
    }
}

/// By allocation, whether it is in one of the pools: those of the memory where events do not say.
fn in_pools(pools: &[PoolIs], timeline: &Timeline) -> Vec<bool> {
    let places = PoolPlaces::new(timeline);
    let ids = (0..timeline.lifetimes.len() as u32).into_par_iter().map(AllocId);
    let pool = |id| places.pool_of(&timeline.allocation(id));
    ids.map(|id| pool(id).is_some_and(|pool| PoolIs::any(pools, pool))).collect()
}
