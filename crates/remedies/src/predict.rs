//! Which remedies are tried, alone and together, and what is said of them.

use super::activations;
use super::best;
use super::errors;
use super::offer::{Asked, Combination, Offer, Part, effort, is_conditional, price};
use super::outcome::{Attributed, Figures, Prediction, Predictions, Trust};
use super::plans::{self, Enough, Plans};
use super::registry::{FAMILIES, Family};
use super::scene::Scene;
use super::settings;
use super::trials::{Progress, Trials};
use super::tried::Tried;
use super::validator::{self, Failed, Recorded};
use super::wanted::{Wanted, Wish};
use oomscope_simulator::Program;
use rayon::prelude::*;

/// In recordings with more events than these, only the best remedies are replayed, unless all are wished for.
const MANY_EVENTS: usize = 1_000_000;

/// Try the remedies that apply, or those of them that are wished for. Where nothing else is wished for, the best are tried in pairs,
/// too, and plans are searched for a program that does not fit.
pub fn predict(scene: &Scene<'_>, wish: &Wish, progress: Progress<'_>) -> Predictions {
    if !wish.all && wish.only.is_empty() && MANY_EVENTS < scene.run.recording.events.len() {
        return predict_best(scene, wish, progress);
    }
    let wanted = wish.only.as_slice();
    let program = Program::recorded(scene.run.recording);
    let (offers, baseline) =
        rayon::join(|| Offers::of(scene, &program, wish), || Tried::recorded(scene, &program));
    let recorded = Recorded { scene, program: &program, baseline: &baseline };
    let (singles, mut not_offered) = combinations(&offers, wanted);
    let pairs_to_come = if wanted.is_empty() { best::MAX_PAIRS } else { 0 };
    let trials = Trials::new(recorded, singles.len() + pairs_to_come, progress);
    let asked: Vec<String> = singles.iter().map(|combination| ids_of(combination)).collect();
    // What grows with each iteration fills the memory with any batch.
    let has_largest = wanted.is_empty() && baseline.growth.is_none();
    let ((mut all, largest_batch), enough) = rayon::join(
        || {
            rayon::join(
                || trials.run(singles),
                || {
                    has_largest
                        .then(|| activations::largest_batch(scene, &program, baseline.figures))
                        .flatten()
                },
            )
        },
        || Enough::of_unfit(recorded),
    );
    let mut without_effect = Vec::new();
    if wanted.is_empty() {
        let pairs = best::pairs(&recorded, &all);
        all.extend(trials.run(pairs));
        if let Some(enough) = &enough {
            all.extend(plans::search(&trials, enough, &offers.rungs, &all));
        }
        without_effect = fold(&recorded, &mut all);
    } else {
        let is_gone = |id: &String| all.iter().all(|(combination, _)| ids_of(combination) != *id);
        not_offered.extend(asked.into_iter().filter(is_gone));
        all.extend(lowest_of_wanted(&trials, &offers, wanted, &mut not_offered));
    }
    trials.finish();
    Predictions { largest_batch, without_effect, ..predictions(&recorded, enough.as_ref(), all, not_offered) }
}

/// Try only the remedies that save most and, if the program does not fit, settings and pairs: for recordings of which few answers are
/// wanted soon. No degrees and no further combinations are searched.
fn predict_best(scene: &Scene<'_>, wish: &Wish, progress: Progress<'_>) -> Predictions {
    let program = Program::recorded(scene.run.recording);
    let (offers, baseline) =
        rayon::join(|| Offers::of(scene, &program, wish), || Tried::recorded(scene, &program));
    let recorded = Recorded { scene, program: &program, baseline: &baseline };
    let (settings, others): (Vec<&Offer<'_>>, Vec<&Offer<'_>>) =
        offers.alone.iter().filter(|offer| !offer.is_bound).partition(|offer| offer.part == Part::Settings);
    let estimate = |offer| (vec![offer], Tried::estimated(&program, &baseline, &[offer]));
    let mut estimated: Vec<(Combination<'_, '_>, Tried)> = others.into_par_iter().map(estimate).collect();
    estimated.sort_by_key(|(_, tried)| tried.figures.peak_requested);
    let mut wanted: Vec<Combination<'_, '_>> = Vec::new();
    if baseline.fits() == Some(false) {
        // A program needs at least what it requests: of what is more than there is, nothing has to be replayed. Settings change no
        // request, and two remedies together mostly save less than each alone adds up to.
        let limit = baseline.limit_bytes.unwrap_or(u64::MAX);
        let may_fit = |requested: u64| requested <= limit;
        let settings = settings.into_iter().filter(|_| may_fit(baseline.figures.peak_requested));
        wanted.extend(settings.map(|offer| vec![offer]));
        let profile = |offer: &&Offer<'_>| {
            let alone = estimated.iter().find(|(other, _)| other[0].place == offer.place);
            alone.map_or(&baseline.profile, |(_, tried)| &tried.profile)
        };
        let together =
            |pair: &Combination<'_, '_>| baseline.profile.with_all(pair.iter().map(profile)).peak_bytes();
        wanted.extend(best::pairs(&recorded, &estimated).into_iter().filter(|pair| may_fit(together(pair))));
    }
    wanted.extend(estimated.into_iter().take(best::BEST).map(|(combination, _)| combination));
    let trials = Trials::new(recorded, wanted.len(), progress);
    let (all, enough) = rayon::join(|| trials.run(wanted), || Enough::of_unfit(recorded));
    predictions(&recorded, enough.as_ref(), all, Vec::new())
}

/// Of what is wanted with a remedy that has many degrees, the lowest that is enough. What none is enough for is not offered.
fn lowest_of_wanted<'o, 'a>(
    trials: &Trials<'_, '_>,
    offers: &'o Offers<'a>,
    wanted: &[Wanted],
    not_offered: &mut Vec<String>,
) -> Vec<(Combination<'o, 'a>, Tried)> {
    let mut found = Vec::new();
    for wanted in wanted {
        let has = |offer: &&Offer<'_>| wanted.parts.contains(&offer.id);
        let rungs: Vec<&'o Offer<'a>> = offers.rungs.iter().filter(has).collect();
        let others: Vec<&'o Offer<'a>> = offers.alone.iter().filter(has).collect();
        if let Some(one) = plans::lowest(trials, &others, &rungs) {
            not_offered.retain(|id| *id != wanted.to_string());
            found.push(one);
        }
    }
    found
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
    enough: Option<&Enough<'_, '_>>,
    mut all: Vec<(Combination<'_, '_>, Tried)>,
    not_offered: Vec<String>,
) -> Predictions {
    let Recorded { scene, baseline, .. } = *recorded;
    all.sort_by_key(|(combination, tried)| {
        let Figures { peak_requested, peak_allocated, peak_reserved } = tried.figures;
        (peak_requested, peak_reserved, peak_allocated, combination.len())
    });
    let chosen = enough.map(|enough| Plans::of(recorded, enough, &all));
    let chosen = chosen.unwrap_or_default();
    let remedies: Vec<Prediction> = all.iter().map(|one| prediction(recorded, one)).collect();
    let plans = &chosen.enough;
    let best = if plans.is_empty() { best::few(baseline, &remedies) } else { plans.clone() };
    let postpones = chosen.postponed(&best, &remedies);
    Predictions {
        best,
        baseline: baseline.figures,
        curve: baseline.profile.clone(),
        moments: scene.run.recording.events.len() as u32 + 1,
        until: scene.subject.until(),
        projected: scene.projected,
        fits: baseline.fits(),
        margin: baseline.margin,
        capacity: baseline.limit_bytes,
        remedies,
        plans: chosen.enough,
        postpones,
        largest_batch: None,
        without_effect: Vec::new(),
        not_offered,
    }
}

/// What is offered for a recording.
struct Offers<'a> {
    /// What is tried alone.
    alone: Vec<Offer<'a>>,
    /// What is tried only where less is not enough: the degrees of each remedy that has many, the lowest first.
    rungs: Vec<Offer<'a>>,
}

impl<'a> Offers<'a> {
    /// All offers that apply and are not too dear, with the settings that are wished for besides.
    fn of(scene: &'a Scene<'_>, program: &Program<'_>, wish: &Wish) -> Self {
        let Wish { only, allowed, .. } = wish;
        let is_asked =
            |family: &&Family| only.is_empty() || only.iter().any(|wanted| wanted.is_of(family.ids));
        let families: Vec<&Family> = FAMILIES.iter().filter(is_asked).collect();
        scene.workload().prepare();
        let all: Vec<Offer<'a>> =
            families.into_par_iter().map(|family| (family.offers)(scene)).flatten_iter().collect();
        let mut all = validator::applicable(scene, program, all);
        for id in only.iter().flat_map(|wanted| &wanted.parts) {
            if let Some((name, value)) = settings::parse(id)
                && all.iter().all(|offer| offer.id != *id)
            {
                all.push(settings::offer(scene.subject.recorded_settings().variable, name, value));
            }
        }
        all.retain(|offer| allowed.covers(&offer.price));
        for (place, offer) in all.iter_mut().enumerate() {
            offer.place = place;
        }
        // What has one degree is tried as it is where it is asked for.
        let is_only = |offer: &Offer<'_>| {
            let has_id = |other: &&Offer<'_>| other.id == offer.id;
            !only.is_empty() && all.iter().filter(has_id).count() == 1
        };
        let is_rung: Vec<bool> =
            all.iter().map(|offer| offer.asked == Asked::IfNeeded && !is_only(offer)).collect();
        let (rungs, alone): (Vec<_>, Vec<_>) =
            all.into_iter().zip(is_rung).partition(|(_, is_rung)| *is_rung);
        let [rungs, alone] = [rungs, alone].map(|all| all.into_iter().map(|(offer, _)| offer).collect());
        Self { alone, rungs }
    }
}

/// What to try: each offer alone or, if some are wanted, these. Also the ids of those that cannot be tried.
fn combinations<'o, 'a>(
    offers: &'o Offers<'a>,
    wanted: &[Wanted],
) -> (Vec<Combination<'o, 'a>>, Vec<String>) {
    if wanted.is_empty() {
        return (offers.alone.iter().map(|offer| vec![offer]).collect(), Vec::new());
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for wanted in wanted {
        let parts: Combination<'o, 'a> =
            offers.alone.iter().filter(|offer| wanted.parts.contains(&offer.id)).collect();
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
        curve: tried.profile.clone(),
        reserved: tried.reserved.clone(),
        fits: tried.fits(),
        fits_until_turn: tried.fits_until_turn(),
        margin: tried.margin,
        basis: if is_bound { Trust::Bound } else { Trust::Simulated },
        attribution: if has(&|offer| offer.is_inferred) { Attributed::Inferred } else { Attributed::Seen },
        error: recorded.error(combination).filter(|_| !is_bound),
        is_conditional: is_conditional(combination),
        preconditions: combination.iter().map(|offer| offer.precondition.clone()).collect(),
        parts: combination.iter().map(|offer| offer.part).collect(),
        effort: effort(combination),
        price: price(combination),
        code: join(|offer| offer.code.clone(), "\n"),
        cost: join(|offer| offer.cost.clone(), "; "),
        note: join(|offer| offer.note.clone(), " "),
    }
}
