//! How far figures can be trusted is decided once, when a file is loaded: honest files are known, others say why not.

use crate::support::{load_bytes, pickles_in, root, shared, skipped, stem};
use oomscope_model::{Snapshot, Why};
use std::path::PathBuf;

/// Recordings of real programs, as PyTorch wrote them.
fn honest() -> Vec<PathBuf> {
    let mut files = pickles_in(&root().join("sample_snapshots"), true);
    files.extend(pickles_in(&root().join("tests/corpus"), true));
    for folder in ["real", "public", "programs", "rig"] {
        match shared(folder) {
            Some(folder) => files.extend(pickles_in(&folder, true)),
            None => skipped("there are no shared recordings beside the repository"),
        }
    }
    files
}

/// The reasons for which figures of a file are not known, over its devices.
fn whys(snapshot: &Snapshot) -> Vec<Why> {
    snapshot.timelines.iter().flat_map(|timeline| timeline.trust.whys()).collect()
}

#[test]
fn honest_recordings_lack_nothing_but_what_came_before_them() {
    for path in honest() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let snapshot = load_bytes(&bytes).expect("the file can be loaded");
        let faults: Vec<Why> = whys(&snapshot).into_iter().filter(|why| why.is_fault()).collect();
        // Made by a program that put segments and events of no program beside each other.
        let expected: &[Why] = if stem(&path) == "mosaic_output" { &[Why::Contradicts] } else { &[] };
        assert_eq!(faults, expected, "{}", path.display());
    }
}
