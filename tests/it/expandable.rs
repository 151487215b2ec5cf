//! Expandable segments are advised only where a file does not show that they were asked for.

use crate::free_memory::{failing, in_pieces, report};
use crate::support::json;
use serde_json::{Value, json};
use std::path::Path;

const MIB: i64 = 1 << 20;

/// A recording with free memory in pieces, under some settings.
fn recording(settings: &Value) -> Value {
    let (events, segments) = in_pieces();
    failing(events, 1000 * MIB, &segments, settings)
}

/// Whether anything in a document advises the setting.
fn advises(document: &Value) -> bool {
    let text = document.to_string();
    ["expandable_segments:True", "expandable_segments=True"].iter().any(|words| text.contains(words))
}

/// The report without the settings that it quotes from the file.
fn advice_in(report: &Value) -> Value {
    json!([report["findings"], report["remedies"]])
}

/// What a command answers about a recording.
fn answer(recording: &Value, args: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("oom.json");
    std::fs::write(&path, recording.to_string()).expect("it can be written");
    let args = args.iter().map(Path::new);
    json(args.chain([path.as_path(), Path::new("--format"), Path::new("json")]))
}

/// The settings that `simulate --sweep` tries, and the remedies.
fn tried(recording: &Value) -> [Value; 2] {
    let mut sweep = answer(recording, &["simulate", "--sweep"]);
    sweep["settings"] = Value::Null;
    [sweep, remedies(recording)]
}

/// The remedies that were tried, also those without an effect on so short a recording.
fn remedies(recording: &Value) -> Value {
    let all = answer(recording, &["remedies"]);
    json!([all["remedies"], all["without_effect"]])
}

#[test]
fn where_nobody_asked_for_them_they_are_advised_and_tried() {
    let recording = recording(&json!({}));
    assert!(advises(&advice_in(&report(&recording))));
    for list in tried(&recording) {
        assert!(advises(&list), "{list}");
    }
}

#[test]
fn where_they_were_asked_for_in_vain_the_report_says_so() {
    for settings in [
        json!({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": false}),
        json!({"PYTORCH_ALLOC_CONF": "max_split_size_mb:64,expandable_segments: true"}),
        json!({"expandable_segments": true}),
    ] {
        let recording = recording(&settings);
        let report = report(&recording);
        let verdict = &report["findings"][0];
        assert_eq!(verdict["id"], "fragmentation", "{settings}");
        assert!(!advises(&advice_in(&report)), "{settings}: {report}");
        let said = verdict["explanation"].to_string();
        assert!(
            said.contains("expandable_segments was asked for, but is not in effect"),
            "{settings}: {said}"
        );
        let remedies = remedies(&recording).to_string();
        assert!(!remedies.contains("expandable_segments"), "{settings}: {remedies}");
    }
}

#[test]
fn where_they_are_in_effect_they_are_not_advised() {
    let mut recording = recording(&json!({}));
    for segment in recording["segments"].as_array_mut().expect("segments") {
        segment["is_expandable"] = true.into();
    }
    for event in recording["device_traces"][0].as_array_mut().expect("events") {
        if event["action"] == "segment_alloc" {
            event["action"] = "segment_map".into();
        }
    }
    assert!(!advises(&advice_in(&report(&recording))));
    for list in tried(&recording) {
        assert!(!advises(&list), "{list}");
    }
}
