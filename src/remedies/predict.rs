//! Which remedies are tried, alone and together, and what is said of them.

use super::activations;
use super::best;
use super::errors;
use super::least::Least;
use super::offer::{Combination, Offer, Part, is_conditional, price};
use super::outcome::{Attributed, Figures, Prediction, Predictions, Trust};
use super::registry::{FAMILIES, Family};
use super::scene::Scene;
use super::settings;
use super::tried::Tried;
use super::validator::{self, Failed, Recorded};
use super::wanted::Wanted;
use crate::simulator::Program;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Told how many remedies have been tried, and of how many. If it returns false, those that are still to come are left out.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Try the remedies that apply, or those of them that are wanted. Without a wish, the best are tried in pairs, too.
pub fn predict(scene: &Scene<'_>, wanted: &[Wanted], progress: Progress<'_>) -> Predictions {
    let program = Program::recorded(scene.run.timeline);
    let (offers, baseline) =
        rayon::join(|| offers(scene, &program, wanted), || Tried::recorded(scene, &program));
    let recorded = Recorded { scene, program: &program, baseline: &baseline };
    let (singles, mut not_offered) = combinations(&offers, wanted);
    let pairs_to_come = if wanted.is_empty() { best::MAX_PAIRS } else { 0 };
    let trials =
        Trials { recorded, done: AtomicUsize::new(0), total: singles.len() + pairs_to_come, progress };
    let asked: Vec<String> = singles.iter().map(|combination| ids_of(combination)).collect();
    let mut all = trials.run(singles);
    let mut without_effect = Vec::new();
    if wanted.is_empty() {
        let pairs = best::pairs(&recorded, &all);
        all.extend(trials.run(pairs));
        without_effect = fold(&recorded, &mut all);
    } else {
        let is_gone = |id: &String| all.iter().all(|(combination, _)| ids_of(combination) != *id);
        not_offered.extend(asked.into_iter().filter(is_gone));
    }
    // What grows with each iteration fills the memory with any batch.
    let has_largest = wanted.is_empty() && baseline.growth.is_none();
    let largest_batch = has_largest.then(|| activations::largest_batch(scene, baseline.figures)).flatten();
    progress(trials.total, trials.total);
    Predictions { largest_batch, without_effect, ..predictions(&recorded, all, not_offered) }
}

/// Try only the remedies that save most and, if the program does not fit, settings and pairs: for recordings of which few
/// answers are wanted soon.
pub(super) fn predict_best(scene: &Scene<'_>, progress: Progress<'_>) -> Predictions {
    let program = Program::recorded(scene.run.timeline);
    let (offers, baseline) =
        rayon::join(|| offers(scene, &program, &[]), || Tried::recorded(scene, &program));
    let recorded = Recorded { scene, program: &program, baseline: &baseline };
    let (settings, others): (Vec<&Offer<'_>>, Vec<&Offer<'_>>) =
        offers.iter().filter(|offer| !offer.is_bound).partition(|offer| offer.part == Part::Settings);
    let estimate = |offer| (vec![offer], Tried::estimated(&program, &baseline, &[offer]));
    let mut estimated: Vec<(Combination<'_, '_>, Tried)> = others.into_par_iter().map(estimate).collect();
    estimated.sort_by_key(|(_, tried)| tried.figures.peak_requested);
    let mut wanted: Vec<Combination<'_, '_>> = Vec::new();
    if baseline.fits() == Some(false) {
        wanted.extend(settings.into_iter().map(|offer| vec![offer]));
        wanted.extend(best::pairs(&recorded, &estimated));
    }
    wanted.extend(estimated.into_iter().take(best::BEST).map(|(combination, _)| combination));
    let trials = Trials { recorded, done: AtomicUsize::new(0), total: wanted.len(), progress };
    predictions(&recorded, trials.run(wanted), Vec::new())
}

/// The ids of offers that are tried at once.
fn ids_of(combination: &[&Offer<'_>]) -> String {
    combination.iter().map(|offer| offer.id.as_str()).collect::<Vec<&str>>().join("+")
}

/// Take out what changes nothing, and name it, unless its figures are too uncertain to say so.
fn fold(recorded: &Recorded<'_, '_>, all: &mut Vec<(Combination<'_, '_>, Tried)>) -> Vec<String> {
    let idle = all.extract_if(.., |one| recorded.fails(Failed::Folded, one));
    let is_wide = |combination: &[&Offer<'_>]| {
        recorded.error(combination).is_some_and(|error| !errors::is_narrow(Some(error)))
    };
    idle.filter(|(combination, _)| combination.len() == 1 && !is_wide(combination))
        .map(|(combination, _)| ids_of(&combination))
        .collect()
}

/// What was tried, best first.
fn predictions(
    recorded: &Recorded<'_, '_>,
    mut all: Vec<(Combination<'_, '_>, Tried)>,
    not_offered: Vec<String>,
) -> Predictions {
    let Recorded { scene, baseline, .. } = *recorded;
    all.sort_by_key(|(combination, tried)| {
        let Figures { peak_requested, peak_allocated, peak_reserved } = tried.figures;
        (peak_requested, peak_reserved, peak_allocated, combination.len())
    });
    let Least { least, postpones } =
        if baseline.fits() == Some(false) { Least::of(recorded, &all) } else { Least::default() };
    let remedies: Vec<Prediction> = all.iter().map(|one| prediction(recorded, one)).collect();
    Predictions {
        best: best::few(baseline, &remedies, least),
        baseline: baseline.figures,
        until: scene.subject.until(),
        projected: scene.projected,
        fits: baseline.fits(),
        margin: baseline.margin,
        capacity: baseline.limit_bytes,
        remedies,
        least,
        postpones,
        largest_batch: None,
        without_effect: Vec::new(),
        not_offered,
    }
}

/// Trials of many combinations.
struct Trials<'s, 'r> {
    recorded: Recorded<'s, 'r>,
    done: AtomicUsize,
    total: usize,
    progress: Progress<'s>,
}

impl Trials<'_, '_> {
    /// Try combinations, in parallel. The outcomes are in the same order.
    fn run<'o, 'a>(&self, combinations: Vec<Combination<'o, 'a>>) -> Vec<(Combination<'o, 'a>, Tried)> {
        let Recorded { scene, program, baseline } = self.recorded;
        let attempt = |combination: Combination<'o, 'a>| {
            if !(self.progress)(self.done.load(Ordering::Relaxed), self.total) {
                return None;
            }
            let tried = Tried::of(scene, program, baseline, &combination);
            (self.progress)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.total);
            Some((combination, tried))
        };
        let is_seen = |one: &(Combination<'o, 'a>, Tried)| !self.recorded.fails(Failed::Dropped, one);
        combinations.into_par_iter().filter_map(attempt).filter(is_seen).collect()
    }
}

/// All offers that apply, with the settings that are wanted besides.
fn offers<'a>(scene: &'a Scene<'_>, program: &Program<'_>, wanted: &[Wanted]) -> Vec<Offer<'a>> {
    let is_asked =
        |family: &&Family| wanted.is_empty() || wanted.iter().any(|wanted| wanted.is_of(family.ids));
    let families: Vec<&Family> = FAMILIES.iter().filter(is_asked).collect();
    let all: Vec<Offer<'a>> =
        families.into_par_iter().map(|family| (family.offers)(scene)).flatten_iter().collect();
    let mut all = validator::applicable(scene, program, all);
    for id in wanted.iter().flat_map(|wanted| &wanted.parts) {
        if let Some((name, value)) = settings::parse(id)
            && all.iter().all(|offer| offer.id != *id)
        {
            all.push(settings::offer(scene.subject.recorded_settings().variable, name, value));
        }
    }
    all
}

/// What to try: each offer alone or, if some are wanted, these. Also the ids of those that cannot be tried.
fn combinations<'o, 'a>(
    offers: &'o [Offer<'a>],
    wanted: &[Wanted],
) -> (Vec<Combination<'o, 'a>>, Vec<String>) {
    if wanted.is_empty() {
        return (offers.iter().map(|offer| vec![offer]).collect(), Vec::new());
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for wanted in wanted {
        let parts: Combination<'o, 'a> =
            offers.iter().filter(|offer| wanted.parts.contains(&offer.id)).collect();
        let is_whole = wanted.parts.iter().all(|id| parts.iter().any(|offer| offer.id == *id));
        if is_whole { found.push(parts) } else { missing.push(wanted.to_string()) }
    }
    (found, missing)
}

fn prediction(recorded: &Recorded<'_, '_>, one: &(Combination<'_, '_>, Tried)) -> Prediction {
    let (combination, tried) = one;
    let join = |part: fn(&Offer<'_>) -> String, between: &str| {
        let parts = combination.iter().map(|offer| part(offer)).filter(|part| !part.is_empty());
        parts.collect::<Vec<String>>().join(between)
    };
    let has = |property: &dyn Fn(&Offer<'_>) -> bool| combination.iter().any(|offer| property(offer));
    let is_bound = recorded.fails(Failed::Bound, one);
    Prediction {
        id: ids_of(combination),
        title: join(|offer| offer.title.clone(), "; "),
        figures: tried.figures,
        fits: tried.fits(),
        fits_until_iteration: tried.fits_until_iteration(),
        margin: tried.margin,
        basis: if is_bound { Trust::Bound } else { Trust::Simulated },
        attribution: if has(&|offer| offer.is_inferred) { Attributed::Inferred } else { Attributed::Seen },
        error: recorded.error(combination).filter(|_| !is_bound),
        is_conditional: is_conditional(combination),
        preconditions: combination.iter().map(|offer| offer.precondition.clone()).collect(),
        parts: combination.iter().map(|offer| offer.part).collect(),
        effort: price(combination),
        code: join(|offer| offer.code.clone(), "\n"),
        cost: join(|offer| offer.cost.clone(), "; "),
        note: join(|offer| offer.note.clone(), " "),
    }
}
