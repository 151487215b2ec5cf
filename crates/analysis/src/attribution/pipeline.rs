//! The whole way from a recording to categories and phases.

use super::categories::Categories;
use super::claims::{Claim, Claims};
use super::facts::{Announced, Facts};
use super::rules;
use super::structure::Phases;
use super::user_rules::UserRules;
use super::view::View;
use oomscope_model::{AllocId, Recording, StackId};
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
    pub fn of(recording: &Recording, rules: &UserRules) -> Self {
        Self::of_device(&Facts::of(recording.snapshot(), rules), recording)
    }

    /// Find everything for another recording of the same file, such as one that goes on.
    #[must_use]
    pub fn of_other(&self, recording: &Recording) -> Self {
        Self::run(&self.facts.of_other(), recording, None).0
    }

    /// Find everything for a recording of the same file that goes on from a stack, with its stacks and unseen ones.
    #[must_use]
    pub fn of_continued(&self, recording: &Recording, from: StackId) -> Self {
        Self::run(&self.facts.of_continued(from), recording, None).0
    }

    /// Find everything for a device of a file whose facts are known.
    pub fn of_device(facts: &Facts, recording: &Recording) -> Self {
        Self::run(facts, recording, None).0
    }

    /// Find everything, and return all claims that rules make for one allocation, in the order in which they are asked.
    pub fn explain(facts: &Facts, recording: &Recording, id: AllocId) -> (Self, Vec<Claim>) {
        Self::run(facts, recording, Some(id))
    }

    fn run(facts: &Facts, recording: &Recording, watched: Option<AllocId>) -> (Self, Vec<Claim>) {
        let announced = Announced::of(recording);
        let phases = Phases::of(recording, facts, &announced);
        let view = View::new(recording, facts, &phases, &announced);
        let mut claims = Claims::of(recording, watched);
        for claim in rules::FAMILIES {
            claim(&view, &mut claims);
        }
        let (verdicts, evidence, log) = claims.into_parts();
        let categories = Categories::new(verdicts, evidence, Arc::clone(&facts.stacks));
        let phases = phases.completed(recording, facts, &announced, &categories);
        (Self { categories, phases, facts: facts.of_other() }, log)
    }
}
