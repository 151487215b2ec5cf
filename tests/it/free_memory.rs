//! Where memory was free when a request failed: "in pieces" is said only where no piece had room.

use crate::support::{self, json, pickles_in, root, sample};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MIB: i64 = 1 << 20;

/// Where the first segment lies, and the second.
const FIRST: i64 = 1 << 40;
const SECOND: i64 = 2 << 40;

/// Words that blame fragmentation.
const PIECES: [&str; 5] = ["in pieces", "fragmentation", "no piece of", "too little order", "cut up"];

/// Whose memory is: the stream and the pool.
type Owner = (i64, [i64; 2]);

const DEFAULT: Owner = (0, [0, 0]);

fn event(action: &str, addr: i64, size: i64, (stream, pool): Owner) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": stream, "pool_id": pool, "frames": []})
}

fn made(addr: i64, size: i64, owner: Owner) -> Value {
    event("alloc", addr, size, owner)
}

/// An event with the line that led to it.
fn by(mut event: Value, file: &str, line: i64) -> Value {
    event["frames"] = json!([{"filename": file, "line": line, "name": "load"}]);
    event
}

/// A segment of a block that is free at the end, where there is one, and of one in use.
fn segment(addr: i64, free: i64, used: i64, (stream, pool): Owner) -> Value {
    let block = |address: i64, size: i64, state: &str| json!({"address": address, "size": size, "requested_size": size, "state": state, "frames": []});
    let mut blocks = vec![block(addr, free, "inactive"), block(addr + free, used, "active_allocated")];
    blocks.retain(|block| block["size"] != 0);
    json!({
        "device": 0, "address": addr, "total_size": free + used, "stream": stream, "segment_type": "large",
        "segment_pool_id": pool, "is_expandable": false, "frames": [], "blocks": blocks,
    })
}

/// A recording in which a request of the default pool and stream fails.
pub(crate) fn failing(events: Vec<Value>, requested: i64, segments: &[Value], settings: &Value) -> Value {
    let mut events = events;
    let (stream, pool) = DEFAULT;
    let frames = json!([{"filename": "train.py", "line": 7, "name": "step"}]);
    events.push(json!({"action": "oom", "size": requested, "stream": stream, "pool_id": pool,
                       "device_free": 64 * MIB, "frames": frames}));
    json!({"segments": segments, "device_traces": [events], "allocator_settings": settings})
}

/// The report about a recording.
pub(crate) fn report(recording: &Value) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("oom.json");
    std::fs::write(&path, recording.to_string()).expect("it can be written");
    json([Path::new("report"), &path, Path::new("--format"), Path::new("json")])
}

/// Two segments, in each of which a block stays and 600 MiB are freed at once.
pub(crate) fn in_pieces() -> (Vec<Value>, [Value; 2]) {
    let at = |addr: i64| {
        [
            event("segment_alloc", addr, 1000 * MIB, DEFAULT),
            made(addr, 600 * MIB, DEFAULT),
            made(addr + 600 * MIB, 400 * MIB, DEFAULT),
            event("free_requested", addr, 600 * MIB, DEFAULT),
            event("free_completed", addr, 600 * MIB, DEFAULT),
        ]
    };
    let segments = [FIRST, SECOND].map(|addr| segment(addr, 600 * MIB, 400 * MIB, DEFAULT));
    ([at(FIRST), at(SECOND)].concat(), segments)
}

/// One segment with a piece of 1,500 MiB that is freed; what comes between is done before it is.
fn one_piece(owner: Owner, between: &[Value]) -> (Vec<Value>, [Value; 1]) {
    let mut events = vec![
        event("segment_alloc", FIRST, 2000 * MIB, owner),
        by(made(FIRST, 1500 * MIB, owner), "loader.py", 3),
        made(FIRST + 1500 * MIB, 500 * MIB, owner),
        event("free_requested", FIRST, 1500 * MIB, owner),
    ];
    events.extend_from_slice(between);
    events.push(by(event("free_completed", FIRST, 1500 * MIB, owner), "train.py", 7));
    (events, [segment(FIRST, 1500 * MIB, 500 * MIB, owner)])
}

/// Everything that a report's findings say.
fn said(report: &Value) -> String {
    let findings = report["findings"].as_array().expect("findings");
    let texts = |finding: &Value| {
        ["title", "why", "explanation", "advice", "confirm", "limits"]
            .map(|key| finding[key].to_string())
            .join("\n")
    };
    findings.iter().map(texts).collect::<Vec<_>>().join("\n")
}

fn blames_pieces(report: &Value) -> Option<&'static str> {
    let said = said(report);
    PIECES.into_iter().find(|words| said.contains(words))
}

fn verdict(report: &Value) -> (&str, &str) {
    let finding = &report["findings"][0];
    (finding["id"].as_str().expect("an id"), finding["title"].as_str().expect("a title"))
}

#[test]
fn free_memory_in_pieces_is_fragmentation() {
    let (events, segments) = in_pieces();
    let report = report(&failing(events, 1000 * MIB, &segments, &json!({})));
    let (id, title) = verdict(&report);
    assert_eq!(id, "fragmentation", "{title}");
    let evidence = &report["findings"][0]["evidence"];
    assert_eq!(evidence["largest_hole_bytes"], 600 * MIB);
    assert_eq!(evidence["largest_hole_of"], json!({"pool": [0, 0], "stream": 0, "class": "large"}));
}

/// A second segment that is full.
fn full() -> ([Value; 2], Value) {
    let made = [event("segment_alloc", SECOND, 100 * MIB, DEFAULT), made(SECOND, 100 * MIB, DEFAULT)];
    (made, segment(SECOND, 0, 100 * MIB, DEFAULT))
}

#[test]
fn what_became_free_too_late_is_said_to_have_waited() {
    let (made, full) = full();
    for between in [&[][..], &made] {
        let (events, [first]) = one_piece(DEFAULT, between);
        let report = report(&failing(events, 1000 * MIB, &[first, full.clone()], &json!({})));
        let (id, title) = verdict(&report);
        assert_eq!(id, "pending-free", "{title}");
        assert!(
            title.contains("1.46 GiB that the program had given back still waited for a stream"),
            "{title}"
        );
        assert!(title.ends_with("(made by loader.py:3)"), "{title}");
        assert_eq!(blames_pieces(&report), None, "{report}");
    }
}

#[test]
fn a_piece_with_room_that_nothing_explains_is_said_to_be_one() {
    let (mut events, [first]) = one_piece(DEFAULT, &[]);
    let (made, full) = full();
    events.extend(made);
    let report = report(&failing(events, 1000 * MIB, &[first, full], &json!({})));
    let (id, title) = verdict(&report);
    assert_eq!(id, "none", "{title}");
    assert!(title.contains("1.46 GiB of its own pool and stream lay free in one piece"), "{title}");
    assert_eq!(report["findings"][0]["severity"], "warning");
    assert_eq!(blames_pieces(&report), None, "{report}");
}

#[test]
fn memory_of_another_stream_or_pool_is_named() {
    let of_stream = ["the large pool · stream 7", "the large pool · stream 0"];
    let of_pool = ["the private large pool 3.1 · stream 0", "the default large pool · stream 0"];
    let cases = [((7, [0, 0]), "other-stream", of_stream), ((0, [3, 1]), "other-pool", of_pool)];
    for (owner, verdict_id, names) in cases {
        let (events, segments) = one_piece(owner, &[]);
        let report = report(&failing(events, 1000 * MIB, &segments, &json!({})));
        let (id, title) = verdict(&report);
        assert_eq!(id, verdict_id, "{title}");
        let what = verdict_id.replace('-', " ");
        let lay = format!("1.46 GiB lay free in one piece for an{what}");
        assert!(title.contains(&lay), "{title}");
        let why = report["findings"][0]["why"].as_str().expect("a reason");
        assert!(names.iter().all(|name| why.contains(name)), "{why}");
        assert_eq!(blames_pieces(&report), None, "{report}");
        assert_eq!(report["findings"][0]["evidence"]["elsewhere_hole_bytes"], 1500 * MIB);
    }
}

#[test]
fn what_max_split_size_keeps_for_larger_requests_is_said_to_be_kept() {
    let (events, segments) = one_piece(DEFAULT, &[]);
    let settings = json!({"max_split_size": 1200 * MIB});
    let report = report(&failing(events, 1000 * MIB, &segments, &settings));
    let (id, title) = verdict(&report);
    assert_eq!(id, "kept-free", "{title}");
    assert!(title.contains("max_split_size_mb kept 1.46 GiB"), "{title}");
    assert_eq!(blames_pieces(&report), None, "{report}");
}

/// The recordings of this repository and, where they are, the shared ones.
fn recordings() -> Vec<PathBuf> {
    let mut paths = pickles_in(&sample(""), true);
    paths.extend(pickles_in(&root().join("tests/corpus"), false));
    match support::shared("") {
        Some(folder) => paths.extend(pickles_in(&folder, true)),
        None => support::skipped("free memory of the shared recordings: the folder is missing"),
    }
    paths
}

/// The reports about the failed requests of all recordings, as far as these can be read.
fn failures() -> &'static [(PathBuf, Value)] {
    static FAILURES: OnceLock<Vec<(PathBuf, Value)>> = OnceLock::new();
    FAILURES.get_or_init(find_failures)
}

fn find_failures() -> Vec<(PathBuf, Value)> {
    let failure = |path: PathBuf| {
        let args = [
            Path::new("report"),
            &path,
            Path::new("--format"),
            Path::new("json"),
            Path::new("--no-remedies"),
        ];
        let report: Value = serde_json::from_slice(&support::run(args).stdout).ok()?;
        let is_failure = report["findings"][0]["evidence"]["requested_bytes"].is_i64();
        is_failure.then_some((path, report))
    };
    let failures: Vec<_> = recordings().into_par_iter().filter_map(failure).collect();
    assert!(30 <= failures.len());
    failures
}

#[test]
fn no_recording_is_called_fragmented_while_one_piece_has_room() {
    for (path, report) in failures() {
        let evidence = &report["findings"][0]["evidence"];
        let bytes = |key: &str| evidence[key].as_i64().unwrap_or(0);
        if bytes("requested_bytes") <= bytes("largest_hole_bytes").max(bytes("elsewhere_hole_bytes")) {
            assert_ne!(verdict(report).0, "fragmentation", "{}", path.display());
            assert_eq!(blames_pieces(report), None, "{}", path.display());
        }
    }
}

#[test]
fn a_setting_that_a_verdict_advises_meets_the_request() {
    let mut advised = 0;
    for (path, report) in failures() {
        let advice = report["findings"][0]["advice"].as_array().expect("advice");
        let codes = advice.iter().filter_map(|advice| advice["code"].as_str());
        for setting in codes.filter_map(|code| code.split_once("ALLOC_CONF=")) {
            advised += 1;
            let mut args = vec!["simulate".into(), path.to_string_lossy().into_owned()];
            for one in setting.1.split(',') {
                args.extend(["--set".to_owned(), one.replacen(':', "=", 1)]);
            }
            args.extend(["--format".to_owned(), "json".to_owned()]);
            let found = json(args);
            let last = found["results"].as_array().and_then(|results| results.last()).expect("a result");
            // Whether there is enough for what follows is another question.
            let is_met = last["oom"].is_null() || last["oom"]["event"] != found["recorded_oom"];
            assert!(is_met, "{}: {}", path.display(), setting.1);
        }
    }
    assert!(0 < advised);
}

#[test]
fn each_byte_is_in_one_part() {
    for (path, report) in failures() {
        let evidence = &report["findings"][0]["evidence"];
        let bytes = |key: &str| evidence[key].as_i64().unwrap_or(0);
        let free = bytes("free_here_bytes") + bytes("other_pool_bytes") + bytes("other_stream_bytes");
        assert_eq!(free, bytes("hole_bytes"), "{}", path.display());
        assert_eq!(bytes("active_bytes") + free, bytes("reserved_bytes"), "{}", path.display());
        assert!(
            bytes("rounding_bytes") + bytes("awaiting_bytes") <= bytes("active_bytes"),
            "{}",
            path.display()
        );
        if evidence["available_bytes"].is_i64() {
            let available = bytes("reserved_bytes") + bytes("device_free_bytes");
            assert_eq!(available, bytes("available_bytes"), "{}", path.display());
        }
    }
}

#[test]
fn with_the_devices_memory_the_parts_are_all_of_it() {
    let path = sample("stages.pickle.gz").to_string_lossy().into_owned();
    let report = json(["report", "--format", "json", "--no-remedies", "--capacity", "8GiB", &path]);
    let evidence = &report["findings"][0]["evidence"];
    let sum: i64 = ["active_bytes", "hole_bytes", "device_free_bytes", "outside_bytes"]
        .iter()
        .map(|key| evidence[*key].as_i64().expect("bytes"))
        .sum();
    assert_eq!(sum, 8 << 30);
}
