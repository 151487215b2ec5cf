//! The events of one device that a query lets through.

use super::common_terms::PoolIs;
use super::conditions::{Conditions, Device};
use super::event_terms::{EventCheck, EventRow};
use super::query::EventQuery;
use crate::segments::pools::PoolPlaces;
use crate::{Attribution, EventMatches, EventSet, Phases, UserRules};
use oomscope_model::{EventIx, Recording, Timeline};
use rayon::prelude::*;

/// Events that one task looks at.
const CHUNK: usize = 1 << 16;

/// An [`EventQuery`] with its tables for one timeline.
#[derive(Debug)]
pub struct EventSearch {
    conditions: Conditions<EventCheck>,
}

impl EventSearch {
    /// Fill the tables; iterations and phases, if the query asks for any, are found first.
    pub fn new(query: &EventQuery, recording: &Recording) -> Self {
        let find = || Attribution::of(recording, &UserRules::default()).phases;
        let phases = query.needs_attribution().then(find).unwrap_or_default();
        Self::with_phases(query, recording, &phases)
    }

    /// Fill the tables, with iterations and phases that are known already.
    pub fn with_phases(query: &EventQuery, recording: &Recording, phases: &Phases) -> Self {
        let conditions = Conditions::new(
            &query.terms,
            Device { recording, phases, in_pools },
            |test, notes| test.check(recording.snapshot(), notes),
            |_| None,
        );
        Self { conditions }
    }

    /// Reasons why parts of the query hold for nothing: what they ask for was not recorded.
    pub fn notes(&self) -> &[String] {
        self.conditions.notes()
    }

    /// The events that match, of all or of some.
    pub fn matches(&self, timeline: &Timeline, among: Option<&EventSet>) -> EventMatches {
        let events = &timeline.events;
        let holds = |ix: &EventIx| {
            among.is_none_or(|among| among.contains(*ix))
                && self.conditions.hold(&EventRow { events, ix: *ix })
        };
        let matching = |chunk: usize| -> Vec<EventIx> {
            let rows = chunk * CHUNK..events.len().min((chunk + 1) * CHUNK);
            (rows.start as u32..rows.end as u32).map(EventIx).filter(holds).collect()
        };
        let found: Vec<_> = (0..events.len().div_ceil(CHUNK)).into_par_iter().map(matching).collect();
        EventMatches::new(found.concat())
    }
}

/// By event, whether the memory that it is about is in one of the pools.
fn in_pools(pools: &[PoolIs], timeline: &Timeline) -> Vec<bool> {
    let places = PoolPlaces::new(timeline);
    let events = (0..timeline.events.len() as u32).into_par_iter().map(EventIx);
    let pool = |ix| places.pool_of_event(ix, &timeline.events);
    events.map(|ix| pool(ix).is_some_and(|pool| PoolIs::any(pools, pool))).collect()
}
