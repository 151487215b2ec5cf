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

/// A finding of a report by its id.
fn finding<'a>(report: &'a Value, id: &str) -> Option<&'a Value> {
    report["findings"].as_array().expect("findings").iter().find(|finding| finding["id"] == id)
}

#[test]
fn a_setting_that_is_asked_for_in_vain_is_a_finding_with_its_reason() {
    let key = "PYTORCH_CUDA_ALLOC_CONF";
    let cases = [
        (json!({key: "expandable_segments:True", "expandable_segments": false}), "expandable_segments"),
        (json!({key: "max_split_size_mb:128", "max_split_size": -1}), "max_split_size_mb"),
        (
            json!({key: "garbage_collection_threshold:0.8", "garbage_collection_threshold": 0.0}),
            "garbage_collection_threshold",
        ),
    ];
    for (settings, name) in cases {
        let report = report(&recording(&settings));
        let found = finding(&report, "setting-not-in-effect").expect("a finding");
        assert_eq!(found["title"], format!("{name} was asked for and is not in effect"));
        let why = found["why"].as_str().expect("a reason");
        assert!(why.starts_with("The file does not state the version of torch or its platform"), "{why}");
    }
    for settings in [
        json!({}),
        json!({key: "max_split_size_mb:128", "max_split_size": 128 << 20}),
        json!({key: "max_split_size_mb:64,max_split_size_mb:128", "max_split_size": 128 << 20}),
        json!({key: "max_split_size_mb:128"}),
    ] {
        assert_eq!(finding(&report(&recording(&settings)), "setting-not-in-effect"), None, "{settings}");
    }
}

#[test]
fn the_reason_follows_from_the_version_and_the_paths() {
    let asked = json!({"PYTORCH_ALLOC_CONF": "expandable_segments:True", "expandable_segments": false});
    let why = |recording: &Value| {
        let report = report(recording);
        let found = finding(&report, "setting-not-in-effect").expect("a finding");
        found["why"].as_str().expect("a reason").to_owned()
    };
    let mut old = recording(&asked);
    old["oomscope"] = json!({"torch": "2.6.0"});
    assert_eq!(
        why(&old),
        "torch 2.6.0 reads PYTORCH_CUDA_ALLOC_CONF alone; PYTORCH_ALLOC_CONF is read since 2.9."
    );
    let mut new = recording(&asked);
    new["oomscope"] = json!({"torch": "2.10.1+cu130"});
    assert!(why(&new).starts_with("This is torch 2.10.1+cu130, but"), "{}", why(&new));
    let mut windows = recording(&asked);
    let last = windows["device_traces"][0].as_array_mut().and_then(|events| events.last_mut());
    last.expect("the failed request")["frames"][0]["filename"] = json!("C:\\work\\train.py");
    assert!(why(&windows).contains("Windows, where torch has no expandable segments"), "{}", why(&windows));
}

#[test]
fn where_they_do_not_work_they_are_not_advised() {
    let cases = [
        ("/x/torch/multiprocessing/reductions.py", "reduce_tensor", "CUDA IPC"),
        ("/x/vllm/device_allocator/cumem.py", "use_memory_pool", "sleep mode"),
        ("??", "torch::cuda::CUDAPluggableAllocator::malloc", "pluggable allocator"),
    ];
    for (file, name, what) in cases {
        let mut recording = recording(&json!({}));
        let frame = json!({"filename": file, "line": 5, "name": name});
        recording["device_traces"][0][1]["frames"] = json!([frame]);
        let report = report(&recording);
        assert!(!advises(&advice_in(&report)), "{file}: {report}");
        assert!(report["findings"][0]["explanation"].to_string().contains(what), "{file}: {report}");
        for list in tried(&recording) {
            assert!(!advises(&list), "{file}: {list}");
        }
    }
}
