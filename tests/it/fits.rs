//! What fits does so by one rule, whoever says it: no request fails, and all that is reserved, before the first event too, lies
//! within the capacity.

use crate::support::{json, pickles_in, root, sample, shared, skipped};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_model::{Bytes, DeviceId, Moment, Recording, Timeline};
use oomscope_program::projection::Projection;
use oomscope_program::{Run, Workload};
use oomscope_remedies::{Predictions, Scene, Wanted, predict};
use oomscope_simulator::{Device, Outcome, Settings, Subject, Until, margin_bytes, smallest_capacity};
use oomscope_snapshot::load::{Input, Progress, load};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The setting that is tried beside the recorded ones.
const SETTING: &str = "expandable_segments";

/// The smallest capacity is searched for in recordings with fewer events than these.
const SEARCHED_EVENTS: usize = 10_000;

fn recordings() -> Vec<PathBuf> {
    let mut files = pickles_in(&root().join("sample_snapshots"), false);
    files.extend(pickles_in(&root().join("tests/corpus"), false));
    for folder in ["programs", "real", "public", "rig"] {
        match shared(folder) {
            Some(folder) => files.extend(pickles_in(&folder, true)),
            None => skipped("no recordings in ../shared; only those of the repository were simulated"),
        }
    }
    files
}

/// Every device of every recording that has a trace to simulate.
fn check_all(check: impl Fn(&Path, &Recording) -> Vec<String> + Sync) {
    let checked = |path: &PathBuf| {
        let snapshot = load(&Input::File(path.clone()), &Progress::default()).expect("the recording loads");
        let all = Recording::all(&Arc::new(snapshot));
        let simulated = all.filter(|one| one.device != DeviceId::HOST && !one.events.is_empty());
        simulated.flat_map(|recording| check(path, &recording)).collect::<Vec<_>>()
    };
    let problems: Vec<String> = recordings().par_iter().flat_map_iter(checked).collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Capacities around all that decides, in order.
fn capacities(subject: &Subject, timeline: &Timeline) -> Vec<u64> {
    let peak = timeline.reserved.peak().1.as_u64();
    let first = timeline.reserved.at(Moment::START).as_u64();
    let mut all = [2, 4, 6, 7, 10].map(|eighths| peak / 8 * eighths).to_vec();
    all.extend([first.saturating_sub(1), first, peak]);
    if timeline.events.len() < SEARCHED_EVENTS {
        all.extend(smallest_capacity(subject, subject.recorded_settings()).map(|(_, bytes)| bytes));
    }
    all.retain(|&bytes| 0 < bytes);
    all.sort_unstable();
    all.dedup();
    all
}

fn on(capacity: u64, subject: &Subject) -> Device {
    subject.device().with_capacity(i64::try_from(capacity).ok().map(Bytes))
}

fn problem_of(outcome: &Outcome, capacity: u64) -> Option<&'static str> {
    let margin = outcome.margin_bytes().expect("there is a capacity");
    match (outcome.fits(), outcome.limit_bytes == Some(capacity)) {
        (true, true) if margin != margin_bytes(capacity, outcome.peak_reserved_bytes()) => {
            Some("what is to spare is not the capacity less the peak of what is reserved")
        }
        (fits, _) if fits != (0 <= margin) => Some("what fits is not what has bytes to spare"),
        (true, _) if outcome.oom.is_some() => Some("it fits although a request fails"),
        _ => None,
    }
}

#[test]
fn what_fits_has_room_for_all_that_is_reserved_and_more_memory_is_never_worse() {
    check_all(|path, recording| {
        let subject = Subject::new(recording);
        let settings = subject.recorded_settings();
        let (mut problems, mut fitted) = (Vec::new(), None);
        for capacity in capacities(&subject, recording) {
            let outcome = subject.simulate(settings, &on(capacity, &subject));
            let place = format!("{} · {} · {capacity}", path.display(), recording.device);
            problems.extend(problem_of(&outcome, capacity).map(|why| format!("{place}: {why}")));
            if let Some(smaller) = fitted.filter(|_| !outcome.fits()) {
                problems.push(format!("{place}: does not fit, but {smaller} does"));
            }
            if outcome.fits() {
                fitted = fitted.or(Some(capacity));
            }
        }
        problems
    });
}

#[test]
fn remedies_and_simulations_agree_on_what_fits() {
    check_all(|path, recording| {
        let subject = Subject::new(recording);
        let attribution = Attribution::of(recording, &UserRules::default());
        let peak = recording.reserved.peak().1.as_u64();
        let capacities = [peak / 2, peak, peak * 2].into_iter().filter(|&bytes| 0 < bytes);
        let at = |capacity| of_both(recording, &subject, &attribution, capacity);
        let problems = capacities.filter_map(|capacity| Some((capacity, at(capacity)?)));
        problems.map(|(capacity, why)| format!("{} · {capacity}: {why}", path.display())).collect()
    });
}

/// What remedies and a simulation say differently on a device of some capacity, as recorded and with another setting.
fn of_both(
    recording: &Recording,
    subject: &Subject,
    attribution: &Attribution,
    capacity: u64,
) -> Option<String> {
    let device = on(capacity, subject);
    let wanted = [format!("set:{SETTING}=True"), "offload-state".to_owned(), "shard-2".to_owned()];
    let wanted: Vec<Wanted> = wanted.iter().map(|id| Wanted::parse(id).expect("it is known")).collect();
    let workload = Workload::of(Run { recording, attribution });
    let found: Predictions =
        Scene::with_whole_step(&workload, subject, i64::try_from(capacity).ok().map(Bytes), |scene| {
            predict(scene, &wanted.into(), &|_, _| true)
        });
    let whole = Projection::of(&workload.computation).ok().map(|projection| projection.requests(subject));
    let subject = whole.as_ref().unwrap_or(subject);
    let mut changed: Settings = subject.recorded_settings().clone();
    changed.set(SETTING, "True").expect("the setting is valid");
    let recorded = subject.simulate(subject.recorded_settings(), &device);
    let simulated = subject.simulate(&changed, &device);
    // Of what does not fit, remedies know how much is missing to the end of the step, a simulation how much to go on.
    let is_same = |(fits, margin): (Option<bool>, Option<Bytes>), outcome: &Outcome| {
        fits == Some(outcome.fits())
            && if outcome.fits() {
                margin == outcome.margin_bytes()
            } else {
                margin <= outcome.margin_bytes()
            }
    };
    if !is_same((found.fits, found.margin), &recorded) || found.until != recorded.until {
        return Some("the recorded program fits otherwise".to_owned());
    }
    for remedy in &found.remedies {
        let is_setting = remedy.id.starts_with("set:");
        if is_setting && !is_same((remedy.fits, remedy.margin), &simulated) {
            return Some(format!("{} fits otherwise", remedy.id));
        }
        let spare = found.capacity.map(|capacity| margin_bytes(capacity, remedy.figures.peak_reserved));
        let fits = remedy.fits == Some(true);
        if fits != (Some(Bytes::ZERO) <= remedy.margin) || fits && remedy.margin != spare {
            return Some(format!("{} has other bytes to spare than the capacity leaves", remedy.id));
        }
    }
    None
}

#[test]
fn what_was_reserved_before_the_first_event_counts() {
    let file = root().join("tests/corpus/blind_adam.pickle.gz").display().to_string();
    let whole = json(["fixes", &file, "--format", "json"]);
    let peak = whole["baseline"]["peak_reserved"].as_u64().expect("something is reserved");
    let half = (peak / 2).to_string();
    for command in ["fixes", "simulate"] {
        let found = json([command, &file, "--capacity", &half, "--format", "json"]);
        let outcome = if command == "fixes" { &found["baseline"] } else { &found["results"][0] };
        assert_eq!(outcome["fits"], false, "{command}");
        assert!(outcome["margin"].as_i64().is_some_and(|margin| margin < 0), "{command}");
    }
}

#[test]
fn answers_say_how_far_they_reach() {
    let until = |name: &str, command: &str, args: &[&str]| {
        let file = sample(name).display().to_string();
        let found = json([&[command, &file, "--format", "json"], args].concat());
        let outcome = if command == "fixes" { &found["baseline"] } else { &found["results"][0] };
        outcome["fits_until"].as_str().map(str::to_owned)
    };
    for command in ["fixes", "simulate"] {
        let keys = [Until::FailedRequest, Until::End, Until::Step];
        let [failed, end, step] = keys.map(|until| Some(until.key().to_owned()));
        assert_eq!(until("frag_oom.pickle", command, &["--capacity", "80GiB"]), step);
        assert_eq!(until("annotated.pickle", command, &["--capacity", "80GiB"]), end);
        assert_eq!(until("two_devices_oom.pickle", command, &["--capacity", "80GiB"]), failed);
    }
}
