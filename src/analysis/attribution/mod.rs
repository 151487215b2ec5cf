//! What every allocation is for, and what the program was doing.
//!
//! Facts are read once: what each stack says, what went on at each event, what was declared. From them comes the structure,
//! phases and iterations. Then rules make claims, family by family, strongest evidence first. An open allocation goes
//! to the first family that claims it; after that, only a rule that refines the verdict, by the table of [`RULES`], replaces it.

mod basis;
mod because;
mod categories;
mod category;
mod claims;
mod facts;
mod knowledge;
mod rule;
mod rules;
mod structure;
#[cfg(test)]
mod tests;
mod user_rules;
mod view;

pub(in crate::analysis) use facts::Announced;
#[cfg(test)]
pub(crate) use facts::fixture;

pub use basis::Basis;
pub use because::Because;
pub use categories::{Categories, CategoryBytes};
pub use category::Category;
pub use claims::{Blocks, Claim, Verdict};
pub use facts::Facts;
pub use rule::{Channel, EvidenceKind, RULES, Rule, RuleId, Stratum};
pub use structure::{Iteration, Iterations, ModelCall, Phase, PhaseBasis, PhaseStart, Phases, Position};
pub use user_rules::{UserRules, UserRulesError};

use crate::model::{AllocId, DeviceId, Snapshot, Timeline};
use claims::Claims;
use std::sync::Arc;
use structure::LiveMemory;
use view::View;

/// Categories, iterations and phases of one device, found together.
#[derive(Debug, Default)]
pub struct Attribution {
    /// What each allocation is for.
    pub categories: Categories,
    /// Iterations and phases.
    pub phases: Phases,
}

impl Attribution {
    /// Find everything for one device. For several devices of a file, [`of_device`](Self::of_device) shares its [`Facts`].
    pub fn of(snapshot: &Snapshot, timeline: &Timeline, rules: &UserRules) -> Self {
        Self::of_device(&Facts::of(snapshot, rules), snapshot, timeline)
    }

    /// Find everything for a device of a file whose facts are known.
    pub fn of_device(facts: &Facts, snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self::find(facts, snapshot, timeline, None).0
    }

    /// All that rules said of one allocation, in the order in which they were asked.
    pub fn explain(
        facts: &Facts,
        snapshot: &Snapshot,
        timeline: &Timeline,
        id: AllocId,
    ) -> (Self, Vec<Claim>) {
        Self::find(facts, snapshot, timeline, Some(id))
    }

    fn find(
        facts: &Facts,
        snapshot: &Snapshot,
        timeline: &Timeline,
        watched: Option<AllocId>,
    ) -> (Self, Vec<Claim>) {
        let flow = facts.flow(timeline);
        let announced = Announced::of(snapshot, timeline);
        let mut phases = Phases::from_flow(snapshot, timeline, facts, &announced);
        let view = View::new(snapshot, timeline, facts, &phases, &announced);
        let mut claims = Claims::open(timeline.lifetimes.len(), watched);
        for find in rules::FAMILIES {
            find(&view, &mut claims);
        }
        let (verdicts, grounds, log) = claims.into_parts();
        let categories = Categories::new(verdicts, grounds, Arc::clone(&facts.places));
        phases.look_at_the_start(timeline, &facts.places, &categories);
        phases.count_announced(timeline, &announced, &categories);
        let ends = announced.ends();
        let steps = if flow.acts.has_stacks { &flow.steps.all } else { &ends };
        phases.count_from_first_step(timeline, steps, &categories);
        phases.look_at_the_end(|| LiveMemory::of(timeline, &facts.places, &categories).phase());
        if timeline.device == DeviceId::HOST {
            phases.forget();
        }
        (Self { categories, phases }, log)
    }
}
