//! The rest of a step that failed, on recordings of whole programs that are cut where a smaller device would have had no memory
//! left: what is projected against what was recorded.

#![allow(clippy::print_stdout, reason = "the tests that are run by hand print tables")]

use crate::support::{json, load_bytes, pickles_in, root, sample, stdout, stem};
use oomscope_analysis::{Attribution, Phase, UserRules};
use oomscope_export::cut::{CutOptions, DeviceRange, cut};
use oomscope_model::{Action, Bytes, DeviceId, Event, EventIx, Moment, Recording, Snapshot};
use oomscope_program::projection::{Projection, Unprojected};
use oomscope_program::{Computation, Run};
use oomscope_remedies::{Trust, predict_all};
use oomscope_simulator::{Device, Reach, Subject, Until};
use oomscope_snapshot::load::{Input, Progress, load};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The devices that recordings are cut for, in percent of what was reserved at most.
const CAPACITIES: [u64; 8] = [97, 90, 80, 70, 60, 50, 40, 30];

/// A recording, cut where a device would have had no memory left.
struct Case {
    name: String,
    percent: u64,
    /// Whether an iteration was complete before the cut.
    has_earlier: bool,
    /// What the program was doing.
    phase: Phase,
    /// The most bytes in use up to the end of the step.
    truth: Bytes,
    projected: Result<Bytes, Unprojected>,
    /// Where the next step is projected, too, by how much the most bytes up to its end are off.
    next: Option<f64>,
    /// Whether the iteration that was followed was the first.
    is_like_first: bool,
    /// What the last iteration needed, larger by what this one needs more so far.
    naive: Bytes,
}

impl Case {
    fn error(&self, bytes: Bytes) -> f64 {
        (bytes - self.truth).as_f64() / self.truth.max(Bytes(1)).as_f64()
    }
}

/// A smaller device, and the request that fails there.
struct Failing {
    percent: u64,
    capacity: u64,
    event: EventIx,
}

/// Smaller devices on which different requests of a recording fail.
fn failing(recording: &Recording) -> Vec<Failing> {
    let subject = Subject::new(recording);
    let on = |capacity_bytes: Option<u64>| {
        let device = Device { capacity_bytes, allowed_bytes: None, ..subject.device() };
        subject.simulate(subject.recorded_settings(), &device)
    };
    let peak = on(None).peak_reserved_bytes();
    let mut seen = BTreeSet::new();
    let devices = CAPACITIES.into_iter().map(|percent| (percent, peak / 100 * percent));
    let fails = devices.filter_map(|(percent, capacity)| match on(Some(capacity)).reach {
        Reach::Oom(event) => Some(Failing { percent, capacity, event }),
        Reach::End | Reach::RecordedOom(_) => None,
    });
    fails.filter(|failing| seen.insert(failing.event)).collect()
}

/// The first events of a device, and a request that failed, as a recording of its own.
fn cut_at(recording: &Recording, event: EventIx) -> Arc<Snapshot> {
    let snapshot = recording.snapshot();
    let failed = recording.events.get(event);
    let bytes = (failed.size.max(Bytes(1)) + Bytes(511)) / 512 * 512;
    let oom =
        Event { action: Action::Oom, addr: None, size: bytes, device_free: Some(Bytes::ZERO), ..failed };
    // The state after the last event is that of the recording; after another, it is found anew.
    let dump = Event { action: Action::Snapshot, ..oom };
    let failing = recording.continued(event.0, &[oom, dump]);
    let ranges = Recording::all(snapshot).map(|other| {
        if other.device == recording.device {
            DeviceRange { recording: failing.clone(), events: 0..event.0 + 1, matches: None }
        } else {
            // When which of its events was is not always known.
            DeviceRange { events: 0..other.events.len() as u32, recording: other, matches: None }
        }
    });
    let ranges: Vec<DeviceRange> = ranges.collect();
    let mut pickle = Vec::new();
    cut(snapshot, &ranges, CutOptions::default()).write(&mut pickle).expect("writing to memory");
    load_bytes(&pickle).expect("the cut loads")
}

fn cases(path: &Path) -> Vec<Case> {
    let snapshot = load(&Input::File(path.to_owned()), &Progress::default()).expect("the recording loads");
    Recording::all(&Arc::new(snapshot)).flat_map(|recording| cases_of(path, &recording)).collect()
}

fn cases_of(path: &Path, recording: &Recording) -> Vec<Case> {
    if !recording.ooms.is_empty() || !recording.has_history() || recording.device == DeviceId::HOST {
        return Vec::new();
    }
    let attribution = Attribution::of(recording, &UserRules::default());
    let mut out = Vec::new();
    for Failing { percent, event, .. } in failing(recording) {
        let iterations = &attribution.phases.iterations.list;
        let step = iterations.iter().find(|step| step.start <= event && Moment(event.0) < step.end);
        // Whether the last iteration was recorded to its end is not known.
        let Some(step) = step.filter(|step| Some(*step) != iterations.last()) else { continue };
        let cut = cut_at(recording, event);
        let Some(of_cut) = Recording::of_device(&cut, recording.device) else { continue };
        let of_cut_attribution = Attribution::of(&of_cut, &UserRules::default());
        let run = Run { recording: &of_cut, attribution: &of_cut_attribution };
        let projection = Projection::of(&Computation::of(run));
        let is_call = projection.as_ref().is_ok_and(|projection| projection.course.until == Until::Call);
        let call_end =
            attribution.phases.calls.iter().find(|call| event < call.event).map(|next| next.event.0);
        let end = if is_call { call_end.unwrap_or(recording.events.len() as u32) } else { step.end.0 };
        let truth = recording.active.peak_in(0..end as usize + 1).map_or(Bytes::ZERO, |(_, bytes)| bytes);
        let at = of_cut.active.at(Moment(event.0)) + recording.events.size(event);
        let before = iterations.iter().rev().find(|other| other.end.0 <= step.start.0);
        let naive = before.map_or(at, |before| {
            let offset = (event.0 - step.start.0).min(before.end.0 - before.start.0 - 1);
            let then = recording.active.at(Moment(before.start.0 + offset + 1)).max(Bytes(1));
            at.max(Bytes((before.peak_bytes.as_f64() * (at.as_f64() / then.as_f64())) as i64))
        });
        let after = iterations.iter().find(|other| step.end.0 <= other.start.0);
        let after = after.filter(|after| Some(*after) != iterations.last());
        let next = projection
            .as_ref()
            .ok()
            .filter(|projection| projection.course.of_step < projection.course.events);
        let next = next.zip(after).and_then(|(projection, after)| {
            let (_, truth) = recording.active.peak_in(0..after.end.0 as usize + 1)?;
            Some(projection.recording.active.peak().1.as_f64() / truth.max(Bytes(1)).as_f64() - 1.0)
        });
        out.push(Case {
            name: stem(path),
            percent,
            next,
            has_earlier: before.is_some(),
            phase: of_cut_attribution.phases.phase_at(Moment::after(event)),
            truth,
            is_like_first: projection
                .as_ref()
                .is_ok_and(|projection| projection.course.like().is_none_or(|like| like.moments.0.is_none())),
            projected: projection.map(|projection| {
                let end = (projection.course.from.0 + projection.course.of_step) as usize;
                projection.recording.active.peak_in(0..end + 1).map_or(Bytes::ZERO, |(_, bytes)| bytes)
            }),
            naive,
        });
    }
    out
}

/// How many of some errors are at most so large, in percent.
fn within(errors: &[f64], most: f64) -> f64 {
    100.0 * errors.iter().filter(|error| error.abs() <= most).count() as f64 / errors.len().max(1) as f64
}

fn print_table(cases: &[Case]) {
    for has_earlier in [true, false] {
        let of: Vec<&Case> = cases.iter().filter(|case| case.has_earlier == has_earlier).collect();
        let programs: BTreeSet<&str> = of.iter().map(|case| case.name.as_str()).collect();
        let title = if has_earlier { "with an earlier iteration" } else { "in the first iteration" };
        println!("{title}: {} cuts of {} programs", of.len(), programs.len());
        let naive: Vec<f64> = of.iter().map(|case| case.error(case.naive)).collect();
        let stated = of.iter().filter_map(|case| Some(case.error(case.projected.ok()?)));
        let stated: Vec<f64> = stated.collect();
        for (what, errors) in [("naive", &naive), ("projected", &stated)] {
            println!(
                "  {what}: {} stated, {:.1} % within 5 %, {:.1} % within 10 %",
                errors.len(),
                within(errors, 0.05),
                within(errors, 0.10)
            );
        }
        let next: Vec<f64> = of.iter().filter_map(|case| case.next).collect();
        println!(
            "  up to the end of the next step: {} stated, {:.1} % within 5 %, {:.1} % within 10 %",
            next.len(),
            within(&next, 0.05),
            within(&next, 0.10)
        );
        let phases: BTreeSet<&str> = of.iter().map(|case| case.phase.key()).collect();
        for phase in phases {
            let of = of.iter().filter(|case| case.phase.key() == phase);
            let all = of.clone().count();
            let stated: Vec<f64> = of.filter_map(|case| Some(case.error(case.projected.ok()?))).collect();
            println!(
                "    in {phase}: {} of {all} stated, {:.1} % within 5 %, {:.1} % within 10 %",
                stated.len(),
                within(&stated, 0.05),
                within(&stated, 0.10)
            );
        }
        for is_first in [true, false] {
            let of = of.iter().filter(|case| case.is_like_first == is_first);
            let mut errors: Vec<f64> =
                of.filter_map(|case| Some(case.error(case.projected.ok()?).abs())).collect();
            errors.sort_by(f64::total_cmp);
            let at = |part: usize| 100.0 * errors.get(errors.len() * part / 100).copied().unwrap_or(0.0);
            println!(
                "    like {}: {} stated, half within {:.1} %, 95 of 100 within {:.1} %",
                if is_first { "the first iteration" } else { "another iteration" },
                errors.len(),
                at(50),
                at(95)
            );
        }
        let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
        for reason in of.iter().filter_map(|case| case.projected.err()) {
            *reasons.entry(format!("{reason:?}")).or_default() += 1;
        }
        println!("  not projected: {reasons:?}");
    }
}

/// The recordings to cut.
fn cut_files() -> Vec<PathBuf> {
    let corpus = || root().join("tests/corpus").display().to_string();
    let folders = std::env::var("OOMSCOPE_CUTS").unwrap_or_else(|_| corpus());
    folders.split(':').flat_map(|folder| pickles_in(Path::new(folder), true)).collect()
}

#[test]
#[ignore = "takes minutes; OOMSCOPE_CUTS names folders with recordings, OOMSCOPE_CUTS_DETAILS=1 prints what is off"]
fn projections_of_many_cuts() {
    let files = cut_files();
    use rayon::prelude::*;
    let mut all: Vec<Case> = files.par_iter().flat_map_iter(|path| cases(path)).collect();
    print_table(&all);
    if std::env::var_os("OOMSCOPE_CUTS_DETAILS").is_some() {
        all.sort_by(|a, b| (&a.name, a.percent).cmp(&(&b.name, b.percent)));
        for case in &all {
            let projected = match case.projected {
                Ok(bytes) => {
                    let of = if case.is_like_first { "the first" } else { "another" };
                    let next =
                        case.next.map_or(String::new(), |next| format!("next {:+.1} % ", 100.0 * next));
                    format!("{:+.1} % {next}like {of}", 100.0 * case.error(bytes))
                }
                Err(reason) => format!("{reason:?}"),
            };
            println!(
                "{} {} {} {} {:.1} MiB projected {projected} naive {:+.1} %",
                case.name,
                case.percent,
                if case.has_earlier { "later" } else { "first" },
                case.phase.key(),
                case.truth.as_f64() / 1048576.0,
                100.0 * case.error(case.naive)
            );
        }
    }
}

/// What was said of a remedy for a cut recording, and what its program needed when it was really applied.
struct Applied {
    name: String,
    percent: u64,
    remedy: String,
    /// Whether an earlier iteration shows how the step went on, rather than the structure of the program.
    has_like: bool,
    /// Whether it was said to fit.
    fits: bool,
    /// Whether it did; `None` where that depends on where blocks lie.
    did: Option<bool>,
    /// How far the peak of what is requested was off, and how far it was said to be at most.
    error: f64,
    stated: f64,
}

/// The peaks of a program with a remedy, as PyTorch counted them: requested, allocated, reserved.
fn measured(path: &Path, remedy: &str) -> Option<[u64; 3]> {
    let truth = path.with_file_name(format!("{}@{remedy}.truth.json", stem(path)));
    let truth: serde_json::Value = serde_json::from_slice(&std::fs::read(truth).ok()?).ok()?;
    let peak = |key: &str| truth["peak"][key].as_u64();
    Some([peak("requested")?, peak("allocated")?, peak("reserved")?])
}

fn applied_to(path: &Path) -> Vec<Applied> {
    let snapshot = load(&Input::File(path.to_owned()), &Progress::default()).expect("the recording loads");
    let main = Recording::main(&Arc::new(snapshot));
    let Some(recording) = main.filter(|recording| recording.ooms.is_empty()) else { return Vec::new() };
    let mut out = Vec::new();
    for Failing { percent, capacity, event } in failing(&recording) {
        let cut = cut_at(&recording, event);
        let Some(of_cut) = Recording::of_device(&cut, recording.device) else { continue };
        let attribution = Attribution::of(&of_cut, &UserRules::default());
        let Some(said) = predict_all(&of_cut, &attribution, i64::try_from(capacity).ok().map(Bytes)) else {
            continue;
        };
        let Ok(course) = said.projected else { continue };
        for remedy in said.remedies.iter().filter(|remedy| remedy.basis == Trust::Simulated) {
            let Some([requested, allocated, reserved]) = measured(path, &remedy.id) else { continue };
            let did = if reserved <= capacity { Some(true) } else { (capacity < allocated).then_some(false) };
            out.push(Applied {
                name: stem(path),
                percent,
                remedy: remedy.id.clone(),
                has_like: course.like().is_some(),
                fits: remedy.fits == Some(true) && remedy.fits_until_turn.is_none(),
                did,
                error: remedy.figures.peak_requested as f64 / requested.max(1) as f64 - 1.0,
                stated: remedy.error.unwrap_or(0.0),
            });
        }
    }
    out
}

#[test]
fn a_first_step_on_several_devices_is_not_projected() {
    let path = root().join("tests/corpus/two_gpu_manual.pickle.gz");
    let is_first = |case: &Case| !case.has_earlier && case.projected.is_err();
    let reasons: BTreeSet<String> = cases(&path)
        .iter()
        .filter(|case| is_first(case))
        .map(|case| format!("{:?}", case.projected))
        .collect();
    assert_eq!(reasons, BTreeSet::from(["Err(SeveralDevices)".to_owned()]));
}

#[test]
fn a_first_step_takes_what_it_took_on_a_device_where_it_fits() {
    // What PyTorch counted in the same program, with its batch and with a quarter of it, of `requested_bytes`; each of four
    // quarters but the first runs beside the gradients of those before, which have the sizes of the parameters.
    let (whole, quarter, parameters) = (13_640_862_120, 4_596_771_120, 527_364_096);
    let found = json(["fixes", &sample("first_step.pickle.gz").display().to_string(), "--format", "json"]);
    let projection = &found["projection"];
    assert_eq!((&projection["basis"], &projection["stage"]), (&"structure".into(), &"block".into()));
    assert_eq!((&projection["block"], &projection["blocks"]), (&15.into(), &16.into()));
    assert_eq!((&projection["until"], &projection["assumes"]), (&"next_step".into(), &"adam".into()));
    let summed = projection["summed_bytes"].as_u64().expect("bytes");
    assert!(summed.abs_diff(parameters) <= parameters / 1000, "{summed} instead of {parameters}");
    let is_near = |found: &serde_json::Value, truth: u64| {
        let found = found["peak_requested"].as_u64().expect("bytes");
        assert!(found.abs_diff(truth) <= truth / 50, "{found} instead of {truth}");
    };
    is_near(&found["baseline"], whole);
    let remedies = found["remedies"].as_array().expect("a list");
    let of_quarter = remedies.iter().find(|remedy| remedy["id"] == "quarter-batch").expect("it applies");
    is_near(of_quarter, quarter + parameters);
    assert_eq!(found["least"], "quarter-batch");
    let report = stdout(["report", &sample("first_step.pickle.gz").display().to_string()]);
    assert!(!report.contains("past the request"), "{report}");
}

#[test]
fn later_stages_take_what_they_took_on_a_device_where_they_fit() {
    // What PyTorch counted in the same program, of `requested_bytes`.
    let whole = 17_878_643_880u64;
    let found = json(["fixes", &sample("wider_blocks.pickle.gz").display().to_string(), "--format", "json"]);
    let projection = &found["projection"];
    assert_eq!((&projection["block"], &projection["blocks"]), (&9.into(), &17.into()));
    assert_eq!((&projection["gets_wider"], &projection["until"]), (&true.into(), &"next_step".into()));
    let peak = found["baseline"]["peak_requested"].as_u64().expect("bytes");
    assert!(peak.abs_diff(whole) <= whole / 50, "{peak} instead of {whole}");
}

#[test]
fn a_call_of_a_model_takes_what_it_took_on_a_device_where_it_fits() {
    let whole = 6_078_859_264u64;
    let path = sample("long_batch.pickle.gz").display().to_string();
    let found = json(["fixes", &path, "--format", "json"]);
    let peak = found["baseline"]["peak_requested"].as_u64().expect("bytes");
    assert!(peak.abs_diff(whole) <= whole / 100, "{peak} instead of {whole}");
    let report = stdout(["report", &path]);
    assert!(!report.contains("backward pass that never comes"), "it runs without gradients:\n{report}");
}

#[test]
fn the_rest_of_most_steps_that_failed_is_as_it_was() {
    use rayon::prelude::*;
    let files = pickles_in(&root().join("tests/corpus"), false);
    let all: Vec<Case> = files.par_iter().flat_map_iter(|path| cases(path)).collect();
    let later = all.iter().filter(|case| case.has_earlier);
    let stated: Vec<f64> = later.clone().filter_map(|case| Some(case.error(case.projected.ok()?))).collect();
    let naive: Vec<f64> = later.map(|case| case.error(case.naive)).collect();
    assert!(60 <= stated.len(), "{} are projected", stated.len());
    assert!(80.0 <= within(&stated, 0.05) && 97.0 <= within(&stated, 0.10), "{stated:?}");
    assert!(within(&naive, 0.10) < 50.0, "it is no harder than to repeat the last iteration");
    // Most of these programs are as odd as programs get.
    let first = all.iter().filter(|case| !case.has_earlier);
    let stated: Vec<f64> = first.filter_map(|case| Some(case.error(case.projected.ok()?))).collect();
    assert!(100 <= stated.len() && 50.0 <= within(&stated, 0.10), "{stated:?}");
}

fn print_applied(all: &[&Applied]) {
    let errors: Vec<f64> = all.iter().map(|one| one.error).collect();
    println!(
        "  {} remedies applied, {:.1} % within 5 %, {:.1} % within 10 %",
        all.len(),
        within(&errors, 0.05),
        within(&errors, 0.10)
    );
    let covered = all.iter().filter(|one| one.error.abs() <= one.stated).count();
    let mut widths: Vec<f64> = all.iter().map(|one| one.stated).collect();
    widths.sort_by(f64::total_cmp);
    println!(
        "  {:.1} % within the stated error, which is {:.1} % in the middle",
        100.0 * covered as f64 / all.len().max(1) as f64,
        100.0 * widths.get(widths.len() / 2).copied().unwrap_or(0.0)
    );
    for said in [true, false] {
        let of: Vec<bool> = all.iter().filter(|one| one.fits == said).filter_map(|one| one.did).collect();
        let right = of.iter().filter(|&&did| did == said).count();
        println!("  said to {}fit: {right} of {} right", if said { "" } else { "not " }, of.len());
    }
}

#[test]
#[ignore = "takes minutes; OOMSCOPE_CUTS names folders with recordings of the zoo"]
fn remedies_of_many_cuts() {
    use rayon::prelude::*;
    let mut all: Vec<Applied> = cut_files().par_iter().flat_map_iter(|path| applied_to(path)).collect();
    for has_like in [true, false] {
        println!("{}", if has_like { "like an earlier iteration" } else { "from the structure" });
        print_applied(&all.iter().filter(|one| one.has_like == has_like).collect::<Vec<_>>());
    }
    if std::env::var_os("OOMSCOPE_CUTS_DETAILS").is_some() {
        all.retain(|one| one.did.is_some_and(|did| did != one.fits) || 0.05 < one.error.abs());
        for Applied { name, percent, remedy, fits, did, error, .. } in &all {
            println!("{name} {percent} {remedy} said {fits} did {did:?} off {:+.1} %", 100.0 * error);
        }
    }
}
