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
    let at = |i: i64| (1 << 40) + i * (16 * MIB);
    let (asked, takes) = (9 * MIB, 16 * MIB);
    let events: Vec<Value> = (0..4)
        .flat_map(|i| {
            ["segment_alloc", "alloc"].map(|action| {
                let size = if action == "alloc" { asked } else { takes };
                json!({"action": action, "addr": at(i), "size": size, "stream": 0, "frames": frames})
            })
        })
        .collect();
    let segments: Vec<Value> = (0..4)
        .map(|i| {
            json!({
                "device": -1, "address": at(i), "total_size": takes, "stream": 0, "segment_type": "large", "frames": [],
                "blocks": [{"address": at(i), "size": takes, "requested_size": asked, "state": "active_allocated",
                            "frames": frames}],
            })
        })
        .collect();
    json!({"segments": [], "device_traces": [[]], "host_segments": segments, "host_traces": events})
}

fn answer(command: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pinned.json");
    std::fs::write(&path, pinned().to_string()).expect("it can be written");
    let args = [Path::new(command), &path];
    json(args.into_iter().chain(["--device=-1", "--format", "json"].map(Path::new)))
}

#[test]
fn pinned_memory_is_never_parameters() {
    let live = answer("live");
    let categories: Vec<&Value> =
        live.as_array().expect("blocks").iter().map(|row| &row["category"]).collect();
    assert_eq!(categories, ["unknown"; 4]);
}

#[test]
fn its_rounding_is_explained_by_its_own_allocator() {
    let report = answer("report");
    let findings = report["findings"].as_array().expect("findings");
    let rounding = findings.iter().find(|finding| finding["id"] == "rounding").expect("rounding");
    assert_eq!(rounding["evidence"]["rounding_bytes"], 28 * MIB);
    let said = rounding.to_string();
    assert!(said.contains("up to a power of two and never splits"), "{said}");
    assert!(!said.contains("512 bytes") && !said.contains("roundup_power2_divisions"), "{said}");
}
