//! The same comparison for a folder of further recordings beside the repository, where there is one.

use crate::stats_golden::differences;
use crate::support::{self, pickles_in, root, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_shared_recording_has_the_reference_figures() {
    let shared = root().join("../shared");
    let reference = shared.join("reference/reference.py");
    if !reference.is_file() || !shared.join("snapshots").is_dir() {
        return skipped("no recordings in ../shared; only sample_snapshots were compared");
    }
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skipped("no python3; only sample_snapshots were compared");
    }
    let files = pickles_in(&shared.join("snapshots"), true);
    assert!(!files.is_empty());
    // Two at a time: most of the time goes into Python.
    let half = files.len().div_ceil(2);
    let compare_all =
        |files: &[PathBuf]| files.iter().flat_map(|path| compare(&reference, path)).collect::<Vec<_>>();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> = files.chunks(half).map(|part| scope.spawn(|| compare_all(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("the comparison ends")).collect()
    });
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

fn compare(reference: &Path, path: &Path) -> Vec<String> {
    let output = Command::new("python3").arg(reference).arg(path).output().expect("python3 starts");
    let expected = serde_json::from_slice(&output.stdout).expect("the reference writes JSON");
    let name = path.to_string_lossy();
    let found = support::json(["stats", &name, "--format", "json"]);
    differences(&expected, &found).into_iter().map(|line| format!("{name}: {line}")).collect()
}
