//! Pinned memory of the host: never parameters, and rounded by its own rule.

use crate::support::json;
use serde_json::{Value, json};
use std::path::Path;

const MIB: i64 = 1 << 20;

/// A recording whose weights are pinned, in blocks rounded up to a power of two.
fn pinned() -> Value {
    let frames = json!([
        {"filename": "/env/lib/python3.11/site-packages/torch/nn/modules/module.py", "line": 5, "name": "convert"},
        {"filename": "/env/lib/python3.11/site-packages/torch/nn/modules/module.py", "line": 9, "name": "_apply"},
        {"filename": "train.py", "line": 3, "name": "<module>"},
    ]);
    let asked = [9 * MIB; 4].map(|asked| (asked, &frames));
    recording(&asked)
}

/// A recording of pinned blocks, each with what was asked for and its stack.
fn recording(blocks: &[(i64, &Value)]) -> Value {
    let at = |i: i64| (1 << 40) + i * (16 * MIB);
    let takes = 16 * MIB;
    let blocks = || (0..).zip(blocks);
    let events: Vec<Value> = blocks()
        .flat_map(|(i, (asked, frames))| {
            ["segment_alloc", "alloc"].map(|action| {
                let size = if action == "alloc" { *asked } else { takes };
                json!({"action": action, "addr": at(i), "size": size, "stream": 0, "frames": frames})
            })
        })
        .collect();
    let segments: Vec<Value> = blocks()
        .map(|(i, (asked, frames))| {
            json!({
                "device": -1, "address": at(i), "total_size": takes, "stream": 0, "segment_type": "large", "frames": [],
                "blocks": [{"address": at(i), "size": takes, "requested_size": asked, "state": "active_allocated",
                            "frames": frames}],
            })
        })
        .collect();
    json!({"segments": [], "device_traces": [[]], "host_segments": segments, "host_traces": events})
}

fn answer(command: &str, recording: &Value) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pinned.json");
    std::fs::write(&path, recording.to_string()).expect("it can be written");
    let args = [Path::new(command), &path];
    json(args.into_iter().chain(["--device=-1", "--format", "json"].map(Path::new)))
}

#[test]
fn pinned_memory_is_never_parameters() {
    let live = answer("live", &pinned());
    let categories: Vec<&Value> =
        live.as_array().expect("blocks").iter().map(|row| &row["category"]).collect();
    assert_eq!(categories, ["unknown"; 4]);
}

#[test]
fn its_rounding_is_explained_by_its_own_allocator() {
    let report = answer("report", &pinned());
    let findings = report["findings"].as_array().expect("findings");
    let rounding = findings.iter().find(|finding| finding["id"] == "rounding").expect("rounding");
    assert_eq!(rounding["evidence"]["rounding_bytes"], 28 * MIB);
    let said = rounding.to_string();
    assert!(said.contains("up to a power of two and never splits"), "{said}");
    assert!(!said.contains("512 bytes") && !said.contains("roundup_power2_divisions"), "{said}");
}

#[test]
fn it_holds_no_second_copy_of_the_parameters() {
    let lines = [3, 4].map(|line| json!([{"filename": "train.py", "line": line, "name": "<module>"}]));
    let sizes = [9, 8, 7, 6].map(|mib| mib * MIB);
    let blocks: Vec<(i64, &Value)> = lines.iter().flat_map(|line| sizes.map(|size| (size, line))).collect();
    let report = answer("report", &recording(&blocks));
    let findings = report["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|finding| finding["id"] != "same-parameters-twice"), "{report}");
}
