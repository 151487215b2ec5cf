//! The remedies that a report quotes: of all that were simulated, the two that say most.

use super::clean::Clean;
use crate::fits::fit_words;
use crate::position::turn_text;
use crate::remedies::remedy_json;
use crate::stated_error::{stated_error, to_spare};
use oomscope_diagnosis::FindingId;
use oomscope_program::projection::Turn;
use oomscope_remedies::{Attributed, Effort, Part, Precondition, Prediction, Predictions, is_worth_showing};
use oomscope_units as units;
use serde_json::Value;

/// Remedies that are quoted, at most; `oomscope fixes` has all.
const MAX_QUOTED: usize = 2;

/// A quoted remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct RemedyText {
    /// The id, or ids joined by `+`.
    pub id: String,
    /// What to do, and the peak that is predicted.
    pub text: String,
    /// What to write.
    pub code: String,
    /// What to do, in a few words.
    pub title: String,
    /// What that would give, in a few words: `would fit (3.09 GiB of 4.11 GiB)`.
    pub outcome: String,
    /// Whether it changes nothing but the allocator's settings.
    pub is_setting: bool,
    /// Whether it fits, for good; `None` if that is not known.
    pub(super) fits: Option<bool>,
    /// Whether it was simulated beyond what was recorded.
    is_projected: bool,
    /// As `oomscope fixes` has it.
    pub(super) record: Value,
}

/// The heading of some remedies.
pub fn simulated_heading(remedies: &[&RemedyText]) -> &'static str {
    if remedies.iter().any(|remedy| remedy.is_projected) {
        "Simulated to the end of the step that failed, which is projected"
    } else {
        "Simulated with the recorded requests"
    }
}

impl RemedyText {
    /// The same, with the names that its lines have made fit to be shown.
    pub(super) fn cleaned(mut self, clean: Clean) -> Self {
        self.text = clean.prose(&self.text);
        let preconditions = self.record.get_mut("preconditions").and_then(Value::as_array_mut);
        for line in preconditions.into_iter().flatten().filter_map(|one| one.get_mut("line")) {
            if let Some(text) = line.as_str() {
                *line = Value::from(clean.text(text));
            }
        }
        self
    }
}

/// The first plan, and the next that is a single change: where something is enough, what is not says nothing, and neither does what is needless.
///
/// Without plans, the single remedies that lower the peak most, of which one with the same results comes first: another optimizer or
/// type of numbers is no small step, and what crosses the bus comes after all others. A graph that an evaluation keeps is of no use to anyone, so keeping none comes before what has
/// a price, such as checkpoints. What only puts off a leak is no remedy for it, whatever fits for now: there, what removes it counts
/// alone. `verdict` is the kind of the verdict.
pub fn quoted(predictions: &Predictions, verdict: FindingId) -> Vec<RemedyText> {
    let is_leak = verdict == FindingId::Leak;
    let has = |remedy: &Prediction, parts: &[Part]| remedy.parts.iter().any(|part| parts.contains(part));
    let mut all: Vec<&Prediction> = predictions.remedies.iter().collect();
    all.sort_by_key(|remedy| remedy.price.crosses_bus());
    let mut chosen: Vec<&Prediction> = Vec::new();
    if is_leak {
        all.retain(|remedy| has(remedy, &[Part::Leak, Part::Evaluation]) && !has(remedy, &[Part::Settings]));
    } else if !predictions.plans.is_empty() {
        all.clear();
        let mut plans = predictions.plans.iter().filter_map(|&plan| predictions.remedies.get(plan));
        chosen.extend(plans.next());
        // Several changes at once take much room; `oomscope fixes` has them.
        chosen.extend(plans.filter(|plan| plan.parts.len() == 1).take(MAX_QUOTED - 1));
    }
    let keeps_results = |remedy: &&Prediction| remedy.effort < Effort::Results;
    // What surely applies comes before what has a condition.
    let same_results = all
        .iter()
        .copied()
        .filter(|remedy| is_quotable(predictions, remedy) && keeps_results(remedy))
        .min_by_key(|remedy| remedy.is_conditional);
    let no_graph = all
        .iter()
        .copied()
        .find(|remedy| is_quotable(predictions, remedy) && has(remedy, &[Part::Evaluation]));
    for remedy in no_graph.into_iter().chain(same_results).chain(all) {
        // Each must say something new, about another part of the program.
        let is_new = chosen.iter().all(|known| !has(known, &remedy.parts));
        if chosen.len() < MAX_QUOTED && is_new && is_quotable(predictions, remedy) {
            chosen.push(remedy);
        }
    }
    chosen.into_iter().map(|remedy| remedy_text(predictions, remedy)).collect()
}

/// What was simulated for the remedy with an id.
pub(super) fn simulated(predictions: &Predictions, id: &str) -> Option<RemedyText> {
    let found = predictions.remedies.iter().find(|remedy| remedy.id == id);
    found.map(|remedy| remedy_text(predictions, remedy))
}

/// Whether a prediction that can be trusted lowers the peak, by one change.
fn is_quotable(predictions: &Predictions, remedy: &Prediction) -> bool {
    remedy.parts.len() == 1
        && remedy.figures.peak_requested < predictions.baseline.peak_requested
        && is_worth_showing(predictions.baseline, remedy)
}

/// Whether it fits, if that is known, else the lower peak.
fn outcome(predictions: &Predictions, remedy: &Prediction) -> String {
    let would_fit = fit_words(predictions.until).would_fit;
    if let Some(last) = remedy.fits_until_turn {
        return fails_again(last);
    }
    match (remedy.fits, predictions.capacity, remedy.margin) {
        (Some(true), Some(capacity), _) => {
            format!("{would_fit} ({} of {})", bytes(remedy.figures.peak_reserved), bytes(capacity))
        }
        (Some(true), None, _) => would_fit.to_owned(),
        (Some(false), _, Some(margin)) => {
            format!("would still lack {}", units::bytes(margin.abs()))
        }
        _ => at_the_peak(predictions, remedy),
    }
}

/// When the program would fail again, as what grows goes on to.
fn fails_again(last: Turn) -> String {
    let next = Turn { number: last.number.saturating_add(1), ..last };
    format!("would fail again at about {}", turn_text(next))
}

/// The peak of what is requested, with it and without.
fn at_the_peak(predictions: &Predictions, remedy: &Prediction) -> String {
    let [before, after] = [predictions.baseline, remedy.figures].map(|figures| bytes(figures.peak_requested));
    format!("{after} at the peak instead of {before}")
}

fn bytes(bytes: u64) -> String {
    units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX))
}

fn remedy_text(predictions: &Predictions, remedy: &Prediction) -> RemedyText {
    let (before, after) = (predictions.baseline, remedy.figures);
    let figures = if before.peak_requested == after.peak_requested {
        format!("{} reserved instead of {}", bytes(after.peak_reserved), bytes(before.peak_reserved))
    } else {
        at_the_peak(predictions, remedy)
    };
    let again = remedy.fits_until_turn.map(|last| format!("; {}", fails_again(last)));
    let fits = match (remedy.fits, remedy.margin) {
        _ if again.is_some() => again.unwrap_or_default(),
        (Some(true), Some(margin)) => {
            let spare = to_spare(margin, after.peak_reserved, remedy.error);
            format!("; it {}, {spare}", fit_words(predictions.until).fits)
        }
        (Some(false), Some(margin)) => format!("; still {} too much", units::bytes(margin.abs())),
        _ => String::new(),
    };
    let error = remedy.error.filter(|&error| 0.0 < error);
    let error = error.map_or_else(String::new, |error| format!(" ({})", stated_error(error)));
    let inferred = match remedy.attribution {
        Attributed::Seen => "",
        Attributed::Inferred => " What is changed is inferred.",
    };
    let because: Vec<String> = remedy.preconditions.iter().map(Precondition::text).collect();
    let because = because.join("; ");
    RemedyText {
        id: remedy.id.clone(),
        text: format!(
            "{} ({}): {figures}{error}{fits}.{inferred} It applies because {because}.",
            units::capitalised(&remedy.title),
            remedy.id
        ),
        code: remedy.code.clone(),
        title: remedy.title.clone(),
        outcome: outcome(predictions, remedy),
        is_setting: remedy.parts == [Part::Settings],
        fits: remedy.fits.filter(|&fits| !fits || remedy.fits_until_turn.is_none()),
        is_projected: predictions.projected.is_ok(),
        record: remedy_json(remedy, predictions.until),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_program::projection::Unprojected;
    use oomscope_remedies::{Figures, Trust};
    use oomscope_simulator::Profile;
    use oomscope_simulator::Until;

    fn remedy(id: &str, peak: u64, basis: Trust) -> Prediction {
        let mut remedy = crate::remedies::fixture::prediction(id);
        let parts = [
            ("half-batch", Part::Batch),
            ("sgd", Part::Optimizer),
            ("detach", Part::Leak),
            ("eval-no-grad", Part::Evaluation),
        ];
        remedy.parts.extend(parts.into_iter().filter(|(name, _)| id.contains(name)).map(|(_, part)| part));
        remedy.figures = Figures { peak_requested: peak << 30, ..Figures::default() };
        remedy.basis = basis;
        remedy.effort = if id.contains("sgd") { Effort::Results } else { Effort::Lines };
        remedy
    }

    fn ids(remedies: Vec<Prediction>, plans: &[usize], verdict: FindingId) -> Vec<String> {
        let baseline = Figures { peak_requested: 10 << 30, ..Figures::default() };
        let predictions = Predictions {
            baseline,
            curve: Profile::default(),
            moments: 1,
            until: Until::End,
            projected: Err(Unprojected::Complete),
            fits: None,
            margin: None,
            capacity: None,
            remedies,
            largest_batch: None,
            best: Vec::new(),
            plans: plans.to_vec(),
            postpones: None,
            without_effect: Vec::new(),
            not_offered: Vec::new(),
        };
        let id = |remedy: RemedyText| remedy.record["id"].as_str().unwrap_or_default().to_owned();
        quoted(&predictions, verdict).into_iter().map(id).collect()
    }

    #[test]
    fn plans_come_first_and_without_any_what_says_something_new() {
        let all = || {
            vec![
                remedy("half-batch+sgd", 2, Trust::Simulated),
                remedy("shard-8", 3, Trust::Bound),
                remedy("half-batch", 5, Trust::Simulated),
                remedy("detach", 8, Trust::Simulated),
                remedy("sgd", 9, Trust::Simulated),
                remedy("adamw-fused", 10, Trust::Simulated),
            ]
        };
        assert_eq!(ids(all(), &[], FindingId::Capacity), ["half-batch", "detach"]);
        assert_eq!(ids(all(), &[0, 3, 2], FindingId::Capacity), ["half-batch+sgd", "detach"]);
        assert_eq!(ids(all(), &[3], FindingId::Capacity), ["detach"], "what is needless says nothing");
        assert_eq!(ids(all(), &[0], FindingId::Leak), ["detach"]);
        assert_eq!(
            ids(vec![remedy("adamw-fused", 10, Trust::Simulated)], &[], FindingId::Nothing),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_graph_that_nobody_uses_goes_before_what_has_a_price() {
        let all = ["half-batch", "eval-no-grad"].into_iter().zip([4, 5]);
        let all = all.map(|(id, peak)| remedy(id, peak, Trust::Simulated)).collect();
        assert_eq!(ids(all, &[], FindingId::Nothing), ["eval-no-grad", "half-batch"]);
    }
}
