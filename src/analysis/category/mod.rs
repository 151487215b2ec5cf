//! What every allocation is for.
//!
//! Labels come first: the user's own rules, the recorded category, annotations. Nothing that is found
//! replaces them ([`verdicts`]). Then come private pools and the stack; then, one after the other, passes
//! over structure, which may replace what earlier ones found: lifetime, repetition, and sizes that pair
//! with those of the parameters. `docs/attribution.md` has them all.

mod alone;
mod announced_steps;
mod assign;
mod bare;
#[cfg(test)]
mod bare_tests;
mod buckets;
mod caches;
mod cut_step;
#[cfg(test)]
mod declared_tests;
#[cfg(test)]
mod early_tests;
mod explicit;
mod gone;
#[cfg(test)]
mod gone_tests;
mod heirs;
#[cfg(test)]
mod heirs_tests;
mod kind;
mod layout;
mod main_code;
mod old;
mod pairing;
mod reason;
mod renewed;
mod rounds;
mod rules;
mod stackless;
mod swapped;
#[cfg(test)]
mod tests;
mod unrecorded;
mod verdicts;
mod without_modules;
mod workspaces;

pub use kind::Category;
pub use reason::Reason;
pub use rules::{Rules, RulesError};

use super::announced::Announced;
use super::flow::{Flow, Places};
use super::phases::{LiveMemory, Phases};
use crate::model::{AllocId, DeviceId, Moment, Snapshot, Timeline};

/// A category and why.
pub(in crate::analysis) type Verdict = (Category, Reason);

/// The categories of all allocations of one device.
#[derive(Debug, Default)]
pub struct Categories {
    verdicts: Vec<Verdict>,
}

impl Categories {
    /// Classify every allocation of a device.
    pub fn of(snapshot: &Snapshot, timeline: &Timeline, rules: &Rules) -> Self {
        Attribution::of(snapshot, timeline, rules).categories
    }

    /// The category of an allocation.
    #[inline]
    pub fn get(&self, id: AllocId) -> Category {
        self.verdict(id).0
    }

    /// Which rule decided.
    pub fn reason(&self, id: AllocId) -> Reason {
        self.verdict(id).1
    }

    fn verdict(&self, id: AllocId) -> Verdict {
        self.verdicts.get(id.index()).copied().unwrap_or((Category::Unknown, Reason::Nothing))
    }

    /// The categories that occur, in the order of [`Category::ALL`].
    pub fn present(&self) -> Vec<Category> {
        let mut is_there = [false; Category::ALL.len()];
        for verdict in &self.verdicts {
            is_there[verdict.0 as usize] = true;
        }
        Category::ALL.into_iter().filter(|&category| is_there[category as usize]).collect()
    }

    /// Requested bytes of what is live at a moment, by category in the order of
    /// [`Category::ALL`]; categories without bytes are left out.
    pub fn bytes_at(&self, timeline: &Timeline, moment: Moment) -> Vec<(Category, i64)> {
        let mut totals = [0i64; Category::ALL.len()];
        for id in timeline.lifetimes.live_at(moment) {
            let total = &mut totals[self.get(id) as usize];
            *total = total.saturating_add(timeline.lifetimes.size(id, &timeline.events));
        }
        Category::ALL.into_iter().zip(totals).filter(|&(_, bytes)| bytes != 0).collect()
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
    /// Find everything for a device.
    pub fn of(snapshot: &Snapshot, timeline: &Timeline, rules: &Rules) -> Self {
        let places = Places::of(snapshot);
        let flow = Flow::of(timeline, &places);
        let announced = Announced::of(snapshot, timeline);
        let mut phases = Phases::from_flow(snapshot, timeline, &places, &flow, &announced);
        let verdicts = assign::assign(snapshot, timeline, rules, &places, &flow, &phases, &announced);
        let categories = Categories { verdicts: verdicts.into_inner() };
        phases.look_at_the_start(timeline, &places, &categories);
        phases.count_announced(timeline, &announced, &categories);
        let ends = announced.ends();
        let steps = if flow.acts.has_stacks { &flow.steps.all } else { &ends };
        phases.count_from_first_step(timeline, steps, &categories);
        phases.look_at_the_end(|| LiveMemory::of(timeline, &places, &categories).phase());
        if timeline.device == DeviceId::HOST {
            phases.forget();
        }
        Self { categories, phases }
    }
}
