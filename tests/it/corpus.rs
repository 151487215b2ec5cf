//! The rules of categories on small recordings that are part of the project, of programs in many styles: each rule decides
//! something in one of them, and what is stated is right.

use crate::support::{pickles_in, root, stem};
use oomscope_analysis::{Attribution, Channel, RuleId, UserRules};
use oomscope_model::{AllocId, Moment, Recording};
use oomscope_snapshot::load::{Input, Progress, load};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Of the bytes of a recording, no more than this share may be stated wrongly.
const MOST_WRONG: f64 = 0.02;

/// Of all bytes whose category is stated, and of all labelled bytes, these shares must be right.
const WANTED_PRECISION: f64 = 0.99;
const WANTED_COVERAGE: f64 = 0.94;

/// Recordings of which more is wrong, and why.
const MISTAKEN: [(&str, &str); 9] = [
    ("barlow_lars", "temporaries of an optimizer of the program's own, in a step that failed"),
    (
        "beam_search",
        "the program repeats the encoder's output for each beam, which reads like an input of the decoder",
    ),
    (
        "ensemble_vmap",
        "state that the program makes before the first step, as large as parameters that have gradients",
    ),
    ("gpipe", "the program hands activations from stage to stage itself"),
    ("kfold", "no stacks, and the data are on the device before the model"),
    ("kv_oom_observer", "pages of a cache that the program made for the request under way"),
    ("master_bf16", "no stacks, and gradients have buffers that are made before anything is trained"),
    ("style_stdin", "an image that is optimised, and another of its size that is not"),
    ("uncached_amp_26", "no stacks, and a library's workspace is made in a forward"),
];

/// Rules that decide nothing in any of the recordings: `declared.rs`, `named.rs` and tests beside the rules show them at work.
const SILENT: [RuleId; 13] = [
    RuleId::UserRule,
    RuleId::Recorded,
    RuleId::Metadata,
    RuleId::Named,
    RuleId::UnfinishedStepDrops,
    RuleId::Perturbed,
    RuleId::StackOnly,
    RuleId::NamedLater,
    RuleId::WorkspaceSize,
    RuleId::OldBucket,
    RuleId::GoneInStep,
    RuleId::OneNumber,
    RuleId::Implausible,
];

/// What one recording shows: bytes stated rightly, and stated wrongly by rule; and every rule that decided.
#[derive(Debug, Default)]
struct Judged {
    right: i64,
    wrong: BTreeMap<RuleId, i64>,
    unknown: i64,
    rules: BTreeSet<RuleId>,
}

/// Whether a recording holds what a rule may need.
fn has(recording: &Recording, channel: Channel) -> bool {
    let snapshot = recording.snapshot();
    match channel {
        Channel::Stacks => 1 < snapshot.stacks.len(),
        Channel::Events => !recording.events.is_empty(),
        Channel::Announced => !snapshot.annotations.is_empty(),
        Channel::Segments => !recording.segments.segments.is_empty(),
    }
}

fn judge(pickle: &Path) -> Judged {
    let truth = pickle.with_file_name(format!("{}.truth.json", stem(pickle)));
    let truth: Value =
        std::fs::read(truth).map_or(Value::Null, |text| serde_json::from_slice(&text).expect("JSON"));
    let snapshot = load(&Input::File(pickle.to_owned()), &Progress::default()).expect("the recording loads");
    let all = Recording::all(&Arc::new(snapshot));
    let mut out = Judged::default();
    for recording in all.filter(|recording| 0 <= recording.device.0) {
        let found = Attribution::of(&recording, &UserRules::default()).categories;
        let rules: BTreeSet<RuleId> =
            (0..recording.lifetimes.len() as u32).map(|id| found.rule(AllocId(id))).collect();
        for rule in &rules {
            let lacks = |channel: &&Channel| !has(&recording, **channel);
            assert_eq!(rule.rule().needs.iter().find(lacks), None, "{rule:?} in {}", pickle.display());
        }
        out.rules.extend(rules);
        let device = usize::try_from(recording.device.0).expect("a device");
        for id in recording.lifetimes.live_at(Moment(recording.events.len() as u32)) {
            let key = format!("{:#x}", recording.lifetimes.addr(id, &recording.events));
            let Some(wanted) = truth["labels"][device][&key].as_str() else { continue };
            let also = truth["labels_also"][device][&key].as_array();
            let (given, size) = (found.get(id).key(), recording.lifetimes.size(id, &recording.events).0);
            if given == wanted || also.is_some_and(|also| also.iter().any(|other| other == given)) {
                out.right += size;
            } else if given == "unknown" {
                out.unknown += size;
            } else {
                *out.wrong.entry(found.rule(id)).or_default() += size;
            }
        }
    }
    out
}

#[test]
fn what_is_stated_of_programs_in_many_styles_is_right_and_every_rule_decides_something() {
    let mut seen = BTreeSet::new();
    let (mut right, mut wrong, mut unknown, mut report) = (0, 0, 0, String::new());
    let mut bad = Vec::new();
    let corpus = pickles_in(&root().join("tests/corpus"), false);
    for pickle in corpus.iter().chain(&pickles_in(&root().join("sample_snapshots"), false)) {
        let judged = judge(pickle);
        seen.extend(judged.rules);
        if !corpus.contains(pickle) {
            continue;
        }
        let of_file = judged.wrong.values().sum::<i64>();
        let all = judged.right + of_file + judged.unknown;
        let (name, share) = (stem(pickle), of_file as f64 / all.max(1) as f64);
        if MOST_WRONG < share {
            let by: Vec<String> =
                judged.wrong.iter().map(|(rule, bytes)| format!("{} {bytes}", rule.rule().id)).collect();
            writeln!(report, "{name}: {:.1} % wrong: {}", share * 100.0, by.join(", ")).expect("text");
            if !MISTAKEN.iter().any(|(known, _)| *known == name) {
                bad.push(name);
            }
        }
        right += judged.right;
        wrong += of_file;
        unknown += judged.unknown;
    }
    let precision = right as f64 / (right + wrong) as f64;
    let coverage = right as f64 / (right + wrong + unknown) as f64;
    writeln!(report, "precision {:.2} %, coverage {:.2} %", precision * 100.0, coverage * 100.0)
        .expect("text");
    println!("{report}");
    assert!(bad.is_empty(), "{bad:?}\n{report}");
    assert!(WANTED_PRECISION <= precision && WANTED_COVERAGE <= coverage, "{report}");
    let silent: Vec<RuleId> = RuleId::ALL.into_iter().filter(|rule| !seen.contains(rule)).collect();
    assert_eq!(silent, SILENT, "rules that decide nothing in any recording, and those that may");
}
