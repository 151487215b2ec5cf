//! Snapshots of the recorder in `python/oomscope`: what it says of itself is read, and takes nothing for an event.

use crate::pickles::{block, dict, int, pickle, segment, snapshot, text, with};
use crate::support::{load_bytes, run_with_input};
use serde_pickle::Value;

/// What `python/oomscope/_facts.py` and `_triggers.py` write.
fn facts() -> Value {
    let device = dict([
        ("model", text("H100")),
        ("total_bytes", int(85_899_345_920_i64)),
        ("free_bytes", int(1 << 20)),
    ]);
    let settings = dict([("enabled", text("all")), ("stacks", text("all")), ("max_entries", int(500_000))]);
    let asked =
        dict([("device_index", int(0)), ("requested_bytes", int(1 << 30)), ("free_bytes", int(1 << 20))]);
    dict([
        ("recorder", text("0.1.0")),
        ("torch", text("2.15.0+cu132")),
        ("rank", int(3)),
        ("world_size", int(8)),
        ("settings", settings),
        ("devices", dict([("0", device)])),
        ("reason", text("oom")),
        ("step", int(120)),
        ("oom", asked),
    ])
}

fn recorded() -> Vec<u8> {
    let blocks = [block("active_allocated", 0x1000, 512, 500)];
    let plain = snapshot([segment(0, 0x1000, 512, blocks)], []);
    pickle(&with(&plain, [("oomscope", facts())]))
}

#[test]
fn stats_say_who_recorded() {
    let output = run_with_input(&["stats", "-"], &recorded());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line =
        "  recorded by  oomscope 0.1.0 · torch 2.15.0+cu132 · rank 3 of 8 · step 120 · written on: oom";
    assert!(text.lines().any(|found| found == line), "{text}");
    assert!(!text.contains("unknown key"), "{text}");
}

#[test]
fn reports_know_the_memory_of_the_device() {
    let output = run_with_input(&["report", "-", "--verbose"], &recorded());
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Of the device's 80.0 GiB"), "{text}");
    assert!(!text.contains("does not state the device's memory"), "{text}");
    // What the user says comes first.
    let output = run_with_input(&["report", "-", "--verbose", "--capacity", "40GiB"], &recorded());
    assert!(String::from_utf8_lossy(&output.stdout).contains("40.0 GiB"));
}

#[test]
fn facts_of_the_recorder_are_no_records() {
    let snapshot = load_bytes(&recorded()).expect("a snapshot");
    assert_eq!(snapshot.annotations.len(), 0);
    assert_eq!((snapshot.unknown_keys.len(), snapshot.issues.len()), (0, 0));
    assert_eq!(snapshot.timelines.len(), 1);
}
