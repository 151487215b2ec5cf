//! `oomscope export`: what other programs read adds up to what `stats` and `live` say.

use crate::support::{json, run, sample, stdout};
use serde_json::Value;
use std::path::Path;

const TABLES: [&str; 8] =
    ["events", "allocations", "blocks", "segments", "stacks", "frames", "ranges", "modules"];

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
fn modules_hold_what_is_live_at_the_end() {
    for name in SAMPLES {
        let file = path(name);
        let [modules, allocations] = ["modules", "allocations"].map(|table| rows(&[&file, "--table", table]));
        for category in ["parameter", "gradient", "optimizer_state", "activation"] {
            let of = |rows: &[Value]| -> Vec<Value> {
                rows.iter().filter(|row| row["category"] == category).cloned().collect()
            };
            let live: Vec<Value> =
                of(&allocations).into_iter().filter(|row| row["is_live_at_end"] == true).collect();
            let found = of(&modules);
            assert_eq!(sum(&found, "own_bytes"), sum(&live, "size_bytes"), "{name}: {category}");
            let outermost: Vec<Value> = found.into_iter().filter(|row| row["parent"].is_null()).collect();
            assert_eq!(sum(&outermost, "total_bytes"), sum(&live, "size_bytes"), "{name}: {category}");
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

/// The bytes that are live at the last OOM, else at the peak.
fn live_bytes(file: &str, args: &[&str]) -> i64 {
    let at = if args.contains(&"--at") { &[][..] } else { &["--at", "oom"] };
    let live = json([&["live", file, "--format", "json"], args, at].concat());
    live.as_array().expect("an array").iter().filter_map(|row| row["size"].as_i64()).sum()
}

#[test]
fn folded_stacks_have_the_live_bytes_and_are_drawn_by_inferno() {
    let file = path("frag_oom.pickle");
    for args in [&[][..], &["--at", "500"], &["--filter", "size>1MB"]] {
        let text = stdout([&["export", &file, "--format", "folded"], args].concat());
        let weights = text.lines().map(|line| line.rsplit_once(' ').expect("a weight").1);
        let sum: i64 = weights.map(|weight| weight.parse::<i64>().expect("a number")).sum();
        assert_eq!(sum, live_bytes(&file, args), "{args:?}");
        assert!(text.lines().all(|line| line.contains("runpy") || line.starts_with("(no stack")), "{text}");
        let mut svg = Vec::new();
        let mut options = inferno::flamegraph::Options::default();
        inferno::flamegraph::from_lines(&mut options, text.lines(), &mut svg).expect("inferno reads it");
        assert!(String::from_utf8_lossy(&svg).contains(&format!("all ({} samples", grouped(sum))));
    }
    // With a range, what was allocated in it counts.
    let made = rows(&[&file, "--table", "events", "--range", "100..199"]);
    let made: Vec<Value> = made.into_iter().filter(|row| row["action"] == "alloc").collect();
    let text = stdout(["export", &file, "--format", "folded", "--range", "100..199"]);
    let weights = text.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<i64>().ok());
    assert_eq!(weights.sum::<i64>(), sum(&made, "size_bytes"));
    let two = stdout(["export", &path("two_devices_oom.pickle"), "--format", "folded", "--at", "peak"]);
    assert!(two.lines().all(|line| line.starts_with("device ")), "{two}");
}

fn grouped(n: i64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// The fields of a message of Protocol Buffers: numbers as they are, others as bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let length = if key & 7 == 2 { value as usize } else { 0 };
        let (content, rest) = bytes.split_at(length);
        assert!(matches!(key & 7, 0 | 2), "a field of another wire type");
        out.push((key >> 3, value, content));
        bytes = rest;
    }
    out
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

#[test]
fn a_profile_is_read_back_with_its_bytes_frames_and_categories() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = (path("gpt_oom_forward.pickle"), folder.path().join("live.pb.gz"));
    stdout(["export", &file, "--format", "pprof", "-o", &out.to_string_lossy()]);
    let mut profile = Vec::new();
    let packed = std::fs::File::open(out).expect("the profile");
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed), &mut profile).expect("gzip");
    let all = fields(&profile);
    let of = |number| all.iter().filter(move |field| field.0 == number).map(|field| field.2);
    let strings: Vec<_> = of(6).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    assert_eq!(strings[0], "");
    let name = |message: &[u8], number| {
        let found = fields(message).into_iter().find(|field| field.0 == number);
        strings[found.expect("the field").1 as usize].clone()
    };
    let types: Vec<_> = of(1).map(|kind| (name(kind, 1), name(kind, 2))).collect();
    let expected = [("inuse_objects", "count"), ("inuse_space", "bytes")];
    assert_eq!(types, expected.map(|(name, unit)| (name.to_owned(), unit.to_owned())));
    let (mut count, mut bytes, mut gradients) = (0, 0, 0);
    for sample in of(2) {
        let sample = fields(sample);
        let mut values = sample.iter().find(|field| field.0 == 2).expect("values").2;
        let value = [varint(&mut values), varint(&mut values)];
        (count, bytes) = (count + value[0], bytes + value[1]);
        let label = sample.iter().find(|field| field.0 == 3).expect("a label").2;
        assert_eq!(name(label, 1), "category");
        gradients += if name(label, 2) == "gradient" { value[1] } else { 0 };
        let mut locations = sample[0].2;
        while !locations.is_empty() {
            let id = varint(&mut locations);
            assert!(of(4).any(|location| fields(location)[0].1 == id));
        }
    }
    let live = json(["live", &file, "--format", "json", "--at", "oom"]);
    let live = live.as_array().expect("an array");
    assert_eq!((count, bytes as i64), (live.len() as u64, live_bytes(&file, &[])));
    let is_gradient = |row: &&Value| row["category"] == "gradient";
    let expected: u64 = live.iter().filter(is_gradient).filter_map(|row| row["size"].as_u64()).sum();
    assert_eq!(gradients, expected);
    assert!(of(5).any(|function| {
        let [name, system_name, file] = [2, 3, 4].map(|field| name(function, field));
        name == "forward (train/model.py)" && system_name == "forward" && file.ends_with("/train/model.py")
    }));
}

/// The peaks of the counters of a trace, by their names.
fn counter_peaks(trace: &[u8]) -> std::collections::BTreeMap<String, i64> {
    let mut names = std::collections::BTreeMap::new();
    let mut peaks = std::collections::BTreeMap::new();
    for (_, _, packet) in fields(trace) {
        let packet = fields(packet);
        let message = |number| packet.iter().find(|field| field.0 == number).map(|field| fields(field.2));
        if let Some(track) = message(60) {
            let name = track.iter().find(|field| field.0 == 2).map(|field| String::from_utf8_lossy(field.2));
            names.insert(track[0].1, name.unwrap_or_default().into_owned());
        }
        let Some(event) = message(11) else { continue };
        let number = |wanted| event.iter().find(|field| field.0 == wanted).map(|field| field.1);
        if let (Some(value), Some(track)) = (number(30), number(11)) {
            let peak = peaks.entry(names[&track].clone()).or_insert(i64::MIN);
            *peak = (*peak).max(value.cast_signed());
        }
    }
    peaks
}

#[test]
fn counters_of_a_trace_have_the_peaks_of_stats() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run.pftrace");
    for name in ["frag_oom.pickle", "streams.pickle", "gpt_oom_expandable.pickle"] {
        let file = path(name);
        stdout(["export", &file, "--format", "perfetto", "-o", &out.to_string_lossy()]);
        let peaks = counter_peaks(&std::fs::read(&out).expect("the trace"));
        let stats = json(["stats", &file, "--format", "json"]);
        for total in ["active", "allocated", "reserved"] {
            assert_eq!(Some(peaks[total]), stats[0]["peak"][total].as_i64(), "{name}, {total}");
        }
        assert!(peaks.keys().any(|name| name == "active: parameter"), "{peaks:?}");
        assert!(peaks.keys().any(|name| name == "active: stream 0"), "{peaks:?}");
    }
}

#[test]
fn a_profile_that_does_not_fit_is_refused_or_mentioned() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, profile) = (path("frag_oom.pickle"), folder.path().join("profile.json"));
    let profile_name = profile.to_string_lossy().into_owned();
    let export = |format: &str| {
        let args = ["export", &file, "--format", format, "--profile", &profile_name, "-o", "/dev/null"];
        let output = run(args);
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(export("folded").1.contains("no place for a profile"));
    std::fs::write(&profile, "{\"a\": 1}").expect("the profile can be written");
    let (is_written, message) = export("perfetto");
    assert!(!is_written && message.contains("traceEvents"), "{message}");
    let event =
        r#"[{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 5.5, "dur": 1}, {"ph": "s", "id": 1}]"#;
    std::fs::write(&profile, event).expect("the profile can be written");
    let (is_written, message) = export("perfetto");
    assert!(is_written && message.contains("no time in common"), "{message}");
    assert!(message.contains("1 counters and flows"), "{message}");
}
