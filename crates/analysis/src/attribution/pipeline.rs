//! The whole way from a recording to categories and phases.

use super::categories::Categories;
use super::claims::{Claim, Claims};
use super::facts::{Announced, Facts};
use super::rules;
use super::structure::Phases;
use super::user_rules::UserRules;
use super::view::View;
use oomscope_model::{AllocId, Snapshot, StackId, Timeline};
use std::sync::Arc;

/// Categories, iterations and phases of one device, found together.
#[derive(Debug, Default)]
pub struct Attribution {
    /// The category of each allocation.
    pub categories: Categories,
    /// Iterations and phases.
    pub phases: Phases,
    /// What its stacks say, for the same program on another timeline.
    facts: Facts,
}

impl Attribution {
    /// Find everything for one device. For several devices of a file, [`of_device`](Self::of_device) shares its [`Facts`].
    pub fn of(snapshot: &Snapshot, timeline: &Timeline, rules: &UserRules) -> Self {
        Self::of_device(&Facts::of(snapshot, rules), snapshot, timeline)
    }

    /// Find everything for a timeline with the stacks of the same file, such as one that goes on.
    #[must_use]
    pub fn of_other(&self, snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self::run(&self.facts.of_other(), snapshot, timeline, None).0
    }

    /// Find everything for a timeline that goes on from a stack, with the stacks of the same file and unseen ones.
    #[must_use]
    pub fn of_continued(&self, snapshot: &Snapshot, timeline: &Timeline, from: StackId) -> Self {
        Self::run(&self.facts.of_continued(from), snapshot, timeline, None).0
    }

    /// Find everything for a device of a file whose facts are known.
    pub fn of_device(facts: &Facts, snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self::run(facts, snapshot, timeline, None).0
    }

    /// Find everything, and return all claims that rules make for one allocation, in the order in which they are asked.
    pub fn explain(
        facts: &Facts,
        snapshot: &Snapshot,
        timeline: &Timeline,
        id: AllocId,
    ) -> (Self, Vec<Claim>) {
        Self::run(facts, snapshot, timeline, Some(id))
    }

    fn run(
        facts: &Facts,
        snapshot: &Snapshot,
        timeline: &Timeline,
        watched: Option<AllocId>,
    ) -> (Self, Vec<Claim>) {
        let announced = Announced::of(snapshot, timeline);
        let phases = Phases::of(snapshot, timeline, facts, &announced);
        let view = View::new(snapshot, timeline, facts, &phases, &announced);
        let mut claims = Claims::of(timeline, watched);
        for claim in rules::FAMILIES {
            claim(&view, &mut claims);
        }
        let (verdicts, evidence, log) = claims.into_parts();
        let categories = Categories::new(verdicts, evidence, Arc::clone(&facts.stacks));
        let phases = phases.completed(timeline, facts, &announced, &categories);
        (Self { categories, phases, facts: facts.of_other() }, log)
    }
}
