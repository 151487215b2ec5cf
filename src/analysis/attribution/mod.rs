//! What every allocation is for, and what the program was doing.
//!
//! Facts are read once: what each stack says, what went on at each event, what was declared. From them comes the structure,
//! phases and iterations. Then rules make claims, family by family, strongest evidence first. A claim decides what is
//! open, and replaces another verdict only where the table of [`RULES`] says so: no order of calls decides anything.

mod basis;
mod because;
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
pub use category::Category;
pub use claims::{Blocks, Claim, Verdict};
pub use facts::Facts;
pub use rule::{Channel, EvidenceKind, RULES, Rule, RuleId, Stratum};
pub use structure::{Iteration, Iterations, ModelCall, Phase, PhaseBasis, PhaseStart, Phases, Position};
pub use user_rules::{UserRules, UserRulesError};

use crate::model::{AllocId, DeviceId, Moment, Snapshot, Timeline};
use claims::{Claims, Grounds};
use facts::Places;
use std::sync::Arc;
use structure::LiveMemory;
use view::View;

/// The categories of all allocations of one device.
#[derive(Debug, Default)]
pub struct Categories {
    verdicts: Vec<Verdict>,
    grounds: Grounds,
    places: Arc<Places>,
}

/// Bytes of one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryBytes {
    /// The category.
    pub category: Category,
    /// Requested bytes of all its allocations.
    pub bytes: i64,
    /// Those of them whose category is only inferred: see [`Basis::Inferred`].
    pub inferred_bytes: i64,
    /// How many allocations there are.
    pub count: usize,
}

impl Categories {
    /// Classify every allocation of a device.
    pub fn of(snapshot: &Snapshot, timeline: &Timeline, rules: &UserRules) -> Self {
        Attribution::of(snapshot, timeline, rules).categories
    }

    /// The category of an allocation.
    #[inline]
    pub fn get(&self, id: AllocId) -> Category {
        self.verdict(id).category
    }

    /// Which rule decided.
    pub fn rule(&self, id: AllocId) -> RuleId {
        self.verdict(id).rule
    }

    /// What the category rests on.
    #[inline]
    pub fn basis(&self, id: AllocId) -> Basis {
        self.verdict(id).basis()
    }

    /// The category of an allocation, and the rule that decided.
    #[inline]
    pub fn verdict(&self, id: AllocId) -> Verdict {
        self.verdicts.get(id.index()).copied().unwrap_or(Verdict::OPEN)
    }

    /// The categories that occur, in the order of [`Category::ALL`].
    pub fn present(&self) -> Vec<Category> {
        let mut is_there = [false; Category::ALL.len()];
        for verdict in &self.verdicts {
            is_there[verdict.category as usize] = true;
        }
        Category::ALL.into_iter().filter(|&category| is_there[category as usize]).collect()
    }

    /// Whether any category is only inferred.
    pub fn has_inferred(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.basis() == Basis::Inferred)
    }

    /// What is live at a moment, by category in the order of [`Category::ALL`]; categories without bytes are left out.
    pub fn bytes_at(&self, timeline: &Timeline, moment: Moment) -> Vec<CategoryBytes> {
        let live = timeline.lifetimes.live_at(moment);
        self.bytes_of(live.map(|id| (id, timeline.lifetimes.size(id, &timeline.events))))
    }

    /// The same of some allocations with their sizes.
    pub fn bytes_of(&self, allocations: impl Iterator<Item = (AllocId, i64)>) -> Vec<CategoryBytes> {
        let mut totals =
            Category::ALL.map(|category| CategoryBytes { category, bytes: 0, inferred_bytes: 0, count: 0 });
        for (id, size) in allocations {
            let verdict = self.verdict(id);
            let total = &mut totals[verdict.category as usize];
            total.count += 1;
            total.bytes = total.bytes.saturating_add(size);
            if verdict.basis() == Basis::Inferred {
                total.inferred_bytes = total.inferred_bytes.saturating_add(size);
            }
        }
        totals.into_iter().filter(|total| total.bytes != 0).collect()
    }
}

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
        let categories = Categories { verdicts, grounds, places: Arc::clone(&facts.places) };
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
