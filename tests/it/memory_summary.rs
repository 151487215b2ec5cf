//! `oomscope stats --summary` beside what `torch.cuda.memory_summary()` and `torch.cuda.memory_stats()` said in the program itself.
//!
//! `memory_summary/program.py` made the recordings, with PyTorch's own allocator.

use crate::support::{json, root, run, sample, stdout};
use serde_json::Value;
use std::path::PathBuf;

const PROGRAMS: [&str; 3] = ["plain", "max_split", "expandable"];

fn recorded(name: &str, extension: &str) -> PathBuf {
    root().join("tests/it/memory_summary").join(format!("{name}.{extension}"))
}

/// What the program wrote down: at some events, its own statistics and its own table.
fn moments(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(recorded(name, "stats.json")).expect("the truth can be read");
    let mut truth: Value = serde_json::from_str(&text).expect("JSON");
    let Value::Array(moments) = truth["moments"].take() else { panic!("there are moments") };
    assert_eq!(moments.len(), 4);
    moments
}

#[test]
fn the_table_is_the_one_that_the_program_printed() {
    for name in PROGRAMS {
        let file = recorded(name, "pickle.gz").display().to_string();
        for moment in moments(name) {
            let at = moment["event"].to_string();
            let text = stdout(["stats", &file, "--summary", "--at", &at]);
            let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
            let wanted: Vec<&str> =
                moment["summary"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            assert_eq!(table, wanted, "{name} {}", moment["name"]);
            assert!(!text.contains("not known"), "{text}");
        }
    }
}

#[test]
fn every_statistic_is_equal_to_the_byte() {
    for name in PROGRAMS {
        let file = recorded(name, "pickle.gz").display().to_string();
        for moment in moments(name) {
            let at = moment["event"].to_string();
            let found = json(["stats", &file, "--summary", "--at", &at, "--format", "json"]);
            let summary = &found[0]["summary"];
            assert_eq!(summary["event"], moment["event"]);
            assert_eq!((&summary["limits"], &summary["at_least"]), (&Value::Null, &Value::Array(Vec::new())));
            let of = |value: &Value| value.as_object().cloned().unwrap_or_default();
            let (found, wanted) = (of(&summary["memory_stats"]), of(&moment["stats"]));
            assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
            let wrong: Vec<_> = wanted.iter().filter(|(key, value)| found[*key] != **value).collect();
            assert!(wrong.is_empty(), "{name} {}: {wrong:?}", moment["name"]);
        }
    }
}

#[test]
fn what_came_before_the_recording_is_no_figure() {
    let file = sample("late_start.pickle.gz").display().to_string();
    let text = stdout(["stats", &file, "--summary"]);
    assert!(text.contains("  not known    memory was in use before the recording"), "{text}");
    let row = text.lines().find(|line| line.contains("GPU reserved memory")).expect("a row");
    assert_eq!(row.matches('≥').count(), 3, "{row}");
    let row = text.lines().find(|line| line.contains("Non-releasable memory")).expect("a row");
    assert_eq!(row.matches('–').count(), 4, "{row}");
    let found = json(["stats", &file, "--summary", "--format", "json"]);
    let summary = &found[0]["summary"];
    assert!(summary["memory_stats"]["inactive_split_bytes.all.current"].is_null());
    let bounds = summary["at_least"].as_array().expect("keys");
    assert!(bounds.contains(&Value::from("reserved_bytes.all.peak")));
    assert!(!bounds.contains(&Value::from("reserved_bytes.all.current")));
}

#[test]
fn it_is_there_only_if_it_is_asked_for() {
    let file = sample("frag_oom.pickle").display().to_string();
    assert!(json(["stats", &file, "--format", "json"])[0]["summary"].is_null());
    // One device of two, and no table for pinned memory of the host, which another allocator has.
    let two = sample("two_devices_oom.pickle").display().to_string();
    assert_eq!(stdout(["stats", &two, "--summary"]).matches("PyTorch CUDA memory summary").count(), 2);
    let one = stdout(["stats", &two, "--summary", "--device", "1", "--at", "oom"]);
    assert_eq!(one.matches("PyTorch CUDA memory summary, device ID 1").count(), 1, "{one}");
    assert_eq!(json(["stats", &two, "--device", "1", "--format", "json"]).as_array().map(Vec::len), Some(1));
    let missing = run(["stats", &two, "--device", "7"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("has no device 7"));
    let pinned = sample("pinned_host.pickle").display().to_string();
    assert_eq!(stdout(["stats", &pinned, "--summary"]).matches("PyTorch CUDA memory summary").count(), 1);
}
