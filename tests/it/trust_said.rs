//! Where the figures of a recording are not those of the program, every answer says so: 37 changes of meaning, each through
//! every command and format.

use crate::answers::Says::{Key, Notice, Refuses, Words};
use crate::answers::{ANSWERS, Says, address, text, words};
use crate::changes::{CHANGES, Recorded};
use crate::support::{load_bytes, run, sample};
use oomscope_model::{Bytes, DeviceId, Moment, Snapshot, Timeline, Trust};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// The words by which documents say why figures are not known.
const MARKS: [&str; 11] = [
    "the recording starts",
    "starts late",
    "no history",
    "only the end is known",
    "no allocations were recorded",
    "final state is missing",
    "contradicts itself",
    "events of segments are missing",
    "segment events are missing",
    "could not be used",
    "does not tell",
];

/// The figures of each kind, as the model has them.
fn figures(timeline: &Timeline) -> [Vec<Bytes>; 5] {
    let end = Moment(timeline.events.len() as u32);
    // Moments that every view shows: failed requests, and the end.
    let moments = || timeline.ooms.iter().map(|oom| Moment::after(oom.event)).chain([end]);
    [
        moments().flat_map(|m| [timeline.active.at(m), timeline.allocated.at(m)]).collect(),
        vec![timeline.active.peak().1, timeline.allocated.peak().1],
        moments().map(|m| timeline.reserved.at(m)).collect(),
        vec![timeline.reserved.peak().1],
        timeline.ooms.iter().map(|oom| oom.requested).collect(),
    ]
}

fn device(snapshot: &Snapshot) -> Option<&Timeline> {
    snapshot.timeline(DeviceId(0))
}

/// Whether all figures of the device are those of the whole file. One that is another and counts as known is a problem.
fn are_true(name: &str, changed: &Snapshot, whole: &Timeline, problems: &mut Vec<String>) -> bool {
    // All that it had is another device's.
    let Some(timeline) = device(changed) else { return false };
    let kinds = timeline.trust.kinds().into_iter().zip(figures(timeline).into_iter().zip(figures(whole)));
    let mut are_true = true;
    for ((kind, trust), (figures, truth)) in kinds {
        // Failed requests have a kind of their own.
        let is_of_moments = ["in_use", "reserved"].contains(&kind);
        let shared = if is_of_moments { figures.len().min(truth.len()) } else { usize::MAX };
        let is_true = figures.iter().take(shared).eq(truth.iter().take(shared));
        are_true &= is_true;
        if !is_true && trust.is_known() {
            problems.push(format!("{name}: {kind} is {figures:?}, not {truth:?}, and counts as known"));
        }
        if let (Trust::AtLeast(why), true) = (trust, truth < figures && kind.starts_with("peak")) {
            problems.push(format!("{name}: {kind} is {figures:?}, more than {truth:?}: {why:?}"));
        }
    }
    are_true
}

fn is_marked(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Whether a document has the key that says it.
fn has_key(value: &Value) -> bool {
    let is_word = |value: &Value| ["at_least", "unknown"].iter().any(|word| value == word);
    match value {
        Value::Array(items) => items.iter().any(has_key),
        Value::Object(map) => {
            let trust = map.get("trust");
            let kinds = trust.and_then(Value::as_object);
            trust.is_some_and(is_word)
                || kinds.is_some_and(|kinds| kinds.values().any(is_word))
                || map.values().any(has_key)
        }
        _ => false,
    }
}

/// Whether an output says that figures are not known, in the way that it should.
fn says(how: Says, output: &Output) -> bool {
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    match how {
        Words => is_marked(&out),
        Key => {
            let rows = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
            rows.flatten().any(|row| has_key(&row))
        }
        Notice => is_marked(&errors),
        Refuses => output.status.code() != Some(0) || is_marked(&out),
    }
}

/// Hold the answers about all changes to the truth: those whose numbers `picks`, by change and answer.
fn hold(picks: impl Fn(usize, usize) -> bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole_file = sample("frag_oom.pickle");
    let recorded = load_bytes(&std::fs::read(&whole_file).expect("the sample can be read"));
    let recorded = recorded.expect("the sample can be loaded");
    let whole = Recorded::sample();
    let truth = load_bytes(&whole.pickle()).expect("the whole file can be loaded");
    let truth = device(&truth).expect("the sample has the device");
    assert_eq!(figures(truth), figures(device(&recorded).expect("the sample has the device")));
    assert!(truth.trust.whys().is_empty(), "a whole file is known");
    let mut problems = Vec::new();
    for (number, (name, change)) in CHANGES.iter().enumerate() {
        let mut changed = whole.clone();
        change(&mut changed);
        let pickle = changed.pickle();
        let snapshot = load_bytes(&pickle).expect("the changed file can be loaded");
        if are_true(name, &snapshot, truth, &mut problems) {
            continue;
        }
        let path = folder.path().join("changed.pickle");
        std::fs::write(&path, pickle).expect("a temporary file");
        let files = [path.to_string_lossy(), whole_file.to_string_lossy()];
        problems.extend(silent(name, [&files[0], &files[1]], folder.path(), |answer| picks(number, answer)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// The answers about a changed file that do not say what they should.
fn silent(name: &str, [path, whole]: [&str; 2], out: &Path, picks: impl Fn(usize) -> bool) -> Vec<String> {
    let picked: Vec<_> = (0..).zip(ANSWERS).filter(|(at, _)| picks(*at)).map(|(_, answer)| answer).collect();
    let asks_address = picked.iter().any(|(_, command)| command.contains("ADDRESS"));
    let address = if asks_address { address(path) } else { None };
    let mut silent = Vec::new();
    for (how, command) in picked {
        if command.contains("ADDRESS") && address.is_none() {
            continue;
        }
        let output = run(words(command, [path, whole, address.as_deref().unwrap_or_default()], out));
        let errors = text(&output.stderr);
        // A command that refuses states no figure.
        let refuses = output.status.code() == Some(1) && output.stdout.is_empty();
        if errors.contains("panicked") || !(refuses || says(how, &output)) {
            let out: String = text(&output.stdout).chars().take(400).collect();
            silent.push(format!("{name}: {how:?} {command}\n{out}\n{errors}"));
        }
    }
    silent
}

#[test]
fn a_tenth_of_all_answers_about_changed_recordings_is_true_or_says_that_it_is_not() {
    hold(|change, answer| (change + answer) % 10 == 0);
}

#[test]
#[ignore = "minutes: .ci/release runs it"]
fn every_answer_about_a_changed_recording_is_true_or_says_that_it_is_not() {
    hold(|_, _| true);
}
