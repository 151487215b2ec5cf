//! The figures of every sample equal those that PyTorch users can compute the slow way.
//!
//! `tests/golden/NAME.json` holds one record per device, computed in plain Python from the unpickled
//! snapshot by undoing its events one by one. There is no tolerance.

use crate::support::{self, pickles_in, root, sample, stem};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn golden(sample: &Path) -> PathBuf {
    root().join("tests/golden").join(format!("{}.json", stem(sample)))
}

/// All keys of `expected` that differ in `found`, as lines.
pub(crate) fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let (Some(expected), Some(found)) = (expected.as_array(), found.as_array()) else {
        return vec!["expected two arrays".to_owned()];
    };
    let mut lines = Vec::new();
    if expected.len() != found.len() {
        lines.push(format!("expected {} devices, found {}", expected.len(), found.len()));
    }
    for (expected, found) in expected.iter().zip(found) {
        let device = &expected["device"];
        for (key, value) in expected.as_object().into_iter().flatten() {
            if found.get(key) != Some(value) {
                lines.push(format!("device {device}, {key}: expected {value}, found {}", found[key]));
            }
        }
    }
    lines
}

#[test]
fn every_sample_has_its_golden_figures() {
    for path in pickles_in(&sample(""), false) {
        let text = std::fs::read_to_string(golden(&path)).expect("the golden file can be read");
        let expected = serde_json::from_str(&text).expect("the golden file is JSON");
        let path = path.to_string_lossy();
        let found = support::json(["stats", &path, "--format", "json"]);
        assert_eq!(differences(&expected, &found), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn samples_are_read_without_contradictions_and_unknown_keys() {
    for path in pickles_in(&sample(""), false) {
        let path = path.to_string_lossy();
        let records = support::json(["stats", &path, "--format", "json"]);
        for record in records.as_array().expect("an array") {
            assert_eq!(record["file"], *path);
            assert_eq!(record["complete"], true, "{path}");
            assert_eq!(record["damage"], Value::Null, "{path}");
            assert_eq!(record["segment_anomalies"], serde_json::json!({}), "{path}");
            assert_eq!(record["unknown_keys"], serde_json::json!([]), "{path}");
            assert_eq!(record["issues"], serde_json::json!([]), "{path}");
        }
    }
}

#[test]
fn samples_and_golden_files_go_together() {
    let samples: BTreeSet<String> = pickles_in(&sample(""), false).iter().map(|path| stem(path)).collect();
    let folder = std::fs::read_dir(root().join("tests/golden")).expect("the folder can be listed");
    let golden: BTreeSet<String> = folder.map(|entry| stem(&entry.expect("an entry").path())).collect();
    assert_eq!(samples, golden);
    assert!(10 <= samples.len());
}

#[test]
fn every_sample_is_described() {
    let readme = std::fs::read_to_string(sample("README.md")).expect("the README can be read");
    for path in pickles_in(&sample(""), false) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        assert!(readme.contains(&format!("`{name}`")), "{name} has no line in sample_snapshots/README.md");
        let truth = sample(&format!("{}.truth.json", stem(&path)));
        assert!(truth.is_file(), "{name} has no truth file");
    }
}

#[test]
fn several_files_make_one_array_and_one_text() {
    let (a, b) = (sample("pools.pickle"), sample("two_devices_oom.pickle"));
    let (a, b) = (a.to_string_lossy(), b.to_string_lossy());
    let records = support::json(["stats", &a, &b, "--format", "json"]);
    let key = |record: &Value| (record["file"].as_str().map(str::to_owned), record["device"].as_i64());
    let keys: Vec<_> = records.as_array().expect("an array").iter().map(key).collect();
    let (a, b) = (Some(a.into_owned()), Some(b.into_owned()));
    assert_eq!(keys, [(a, Some(0)), (b.clone(), Some(0)), (b, Some(1))]);
}
