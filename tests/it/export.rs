//! `oomscope export`: what other programs read adds up to what `stats` and `live` say.

use crate::support::{json, run, sample, stdout};
use serde_json::Value;
use std::path::Path;

const TABLES: [&str; 7] = ["events", "allocations", "blocks", "segments", "stacks", "frames", "ranges"];

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

/// The rows of a table, by its JSON lines.
fn rows(args: &[&str]) -> Vec<Value> {
    let text = stdout([&["export", "--format", "jsonl"], args].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn sum(rows: &[Value], column: &str) -> i64 {
    rows.iter().filter_map(|row| row[column].as_i64()).sum()
}

/// Samples of different kinds: an OOM, two devices, expandable segments, no history, ranges of the program's own.
const SAMPLES: [&str; 5] = [
    "frag_oom.pickle",
    "two_devices_oom.pickle",
    "gpt_oom_expandable.pickle",
    "history_state_only.pickle",
    "annotated.pickle",
];

#[test]
fn tables_add_up_to_the_figures_of_stats() {
    for name in SAMPLES {
        let file = path(name);
        let stats = json(["stats", &file, "--format", "json"]);
        let all = TABLES.map(|table| rows(&[&file, "--table", table]));
        for device in stats.as_array().expect("an array") {
            let of = |table: usize| -> Vec<Value> {
                all[table].iter().filter(|row| row["device"] == device["device"]).cloned().collect()
            };
            let [events, allocations, blocks, segments] = [0, 1, 2, 3].map(of);
            assert_eq!(events.len() as u64, device["events"].as_u64().expect("events"), "{name}");
            let peak = events.iter().filter_map(|row| row["active_bytes"].as_i64()).max().unwrap_or_default();
            let initial = device["initial"]["active"].as_i64().expect("bytes");
            assert_eq!(Some(peak.max(initial)), device["peak"]["active"].as_i64(), "{name}");
            let last = &device["final"];
            assert_eq!(Some(sum(&segments, "size_bytes")), last["reserved"].as_i64(), "{name}");
            let is_active = |row: &&Value| row["state"] != "inactive";
            let active: Vec<Value> = blocks.iter().filter(is_active).cloned().collect();
            assert_eq!(Some(sum(&active, "requested_bytes")), last["active"].as_i64(), "{name}");
            assert_eq!(Some(sum(&segments, "inactive_bytes")), last["hole_bytes"].as_i64(), "{name}");
            let live: Vec<Value> =
                allocations.iter().filter(|row| row["is_live_at_end"] == true).cloned().collect();
            assert_eq!(Some(sum(&live, "size_bytes")), last["active"].as_i64(), "{name}");
        }
    }
}

#[test]
fn a_moment_and_a_filter_mean_what_they_mean_to_live() {
    let file = path("frag_oom.pickle");
    for args in [&["--at", "peak"][..], &["--at", "oom", "--filter", "size>1MB"], &["--at", "1200"]] {
        let live = json([&["live", &file, "--format", "json"], args].concat());
        let live = live.as_array().expect("an array");
        let exported = rows(&[&[&*file, "--table", "allocations"], args].concat());
        let bytes: i64 = live.iter().filter_map(|row| row["size"].as_i64()).sum();
        assert_eq!((exported.len(), sum(&exported, "size_bytes")), (live.len(), bytes), "{args:?}");
        // The blocks of the same moment hold the same allocations.
        let blocks = rows(&[&[&*file, "--table", "blocks"], args].concat());
        let requested: i64 = sum(&blocks, "requested_bytes");
        assert_eq!(requested, bytes, "{args:?}");
    }
}

#[test]
fn a_range_keeps_its_events_and_what_was_live_in_it() {
    let file = path("frag_oom.pickle");
    let events = rows(&[&file, "--table", "events", "--range", "100..199"]);
    let numbers: Vec<_> = events.iter().filter_map(|row| row["event"].as_u64()).collect();
    assert_eq!(numbers, (100..200).collect::<Vec<_>>());
    let kept = rows(&[&file, "--table", "allocations", "--range", "100..199"]);
    let all = rows(&[&file, "--table", "allocations"]);
    let lives = |row: &&Value| {
        let begins = row["alloc_event"].as_u64().is_none_or(|event| event <= 199);
        begins && row["free_completed_event"].as_u64().is_none_or(|event| 100 <= event)
    };
    assert_eq!(kept, all.iter().filter(lives).cloned().collect::<Vec<_>>());
}

#[test]
fn a_filter_leaves_the_events_and_stacks_of_what_matches() {
    let file = path("gpt_oom_forward.pickle");
    let filter = ["--filter", "category:gradient"];
    let events = rows(&[&[&*file, "--table", "events"][..], &filter].concat());
    let allocations = rows(&[&[&*file, "--table", "allocations"][..], &filter].concat());
    assert!(!allocations.is_empty() && allocations.iter().all(|row| row["category"] == "gradient"));
    let made = events.iter().filter(|row| row["action"] == "alloc").count();
    assert_eq!(made, allocations.iter().filter(|row| !row["alloc_event"].is_null()).count());
    let stacks = rows(&[&[&*file, "--table", "stacks"][..], &filter].concat());
    let known: Vec<_> = stacks.iter().map(|row| &row["stack"]).collect();
    assert!(events.iter().all(|row| row["stack"].is_null() || known.contains(&&row["stack"])));
    assert!(stacks.len() < rows(&[&file, "--table", "stacks"]).len());
}

#[test]
fn csv_has_the_same_values_as_json_lines() {
    for table in TABLES {
        let file = path("annotated.pickle");
        let lines = rows(&[&file, "--table", table]);
        let text = stdout(["export", &file, "--format", "csv", "--table", table]);
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let names = csv.headers().expect("a header").clone();
        let records: Vec<_> = csv.records().map(|record| record.expect("a row")).collect();
        assert_eq!(records.len(), lines.len(), "{table}");
        for (record, line) in records.iter().zip(&lines) {
            for (name, field) in names.iter().zip(record) {
                let value = match &line[name] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(field, value, "{table}.{name}");
            }
        }
    }
}

#[test]
fn a_folder_gets_all_tables_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = folder.path().join("new/tables");
    let out = tables.to_string_lossy();
    stdout(["export", &path("frag_oom.pickle"), "--format", "csv", "-o", &out]);
    for table in TABLES {
        let one = stdout(["export", &path("frag_oom.pickle"), "--format", "csv", "--table", table]);
        let file = tables.join(format!("{table}.csv"));
        assert_eq!(std::fs::read_to_string(file).expect("the table is there"), one, "{table}");
    }
    // One of the files cannot be replaced: none is.
    let other = folder.path().join("other");
    std::fs::create_dir_all(other.join("ranges.csv")).expect("a folder in the way");
    let failed = run(["export", &path("frag_oom.pickle"), "--format", "csv", "-o", &other.to_string_lossy()]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(names_in(&other), ["ranges.csv"]);
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_cannot_be_written_is_said_before_the_recording_is_read() {
    let failed = run(["export", "no/such.pickle", "--format", "csv"]);
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(message.contains("--table"), "{message}");
    let file = path("two_devices_oom.pickle");
    let failed = run(["export", &file, "--format", "csv", "--table", "events", "--range", "1..2"]);
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(message.contains("another moment on each device"), "{message}");
    let both = ["export", &*file, "--format", "csv", "--table", "events", "--range", "1..2", "--at", "peak"];
    assert_eq!(run(both).status.code(), Some(2));
}
