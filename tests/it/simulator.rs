//! The simulator against recordings of the real allocator: event for event and counter for counter
//! under the recorded settings, and peak for peak under others.

use crate::support::{pickles_in, root, skipped};
use oomscope::load::{Input, Progress, load};
use oomscope::model::{DeviceId, Snapshot};
use oomscope::simulator::{Outcome, Subject};
use std::path::{Path, PathBuf};

/// A folder with further recordings and their truth, for whoever has one.
const MORE: &str = "OOMSCOPE_TEST_RECORDINGS";

/// A recording, and what the allocator said about itself when it was dumped.
struct Recording {
    path: PathBuf,
    snapshot: Snapshot,
    truth: serde_json::Value,
}

impl Recording {
    fn open(path: &Path) -> Option<Self> {
        let truth =
            path.to_string_lossy().split(".pickle").next().map(|base| format!("{base}.truth.json"))?;
        let truth = serde_json::from_str(&std::fs::read_to_string(truth).ok()?).expect("the truth is JSON");
        let snapshot =
            load(&Input::File(path.to_owned()), &Progress::default()).expect("the recording loads");
        Some(Self { path: path.to_owned(), snapshot, truth })
    }

    fn is_complete(&self) -> bool {
        self.truth["history_complete"] == true
    }

    /// The devices that have a trace, with `memory_stats()`.
    fn devices(&self) -> impl Iterator<Item = (DeviceId, &serde_json::Value)> {
        let devices = self.truth["devices"].as_array().into_iter().flatten();
        let ids =
            devices.map(|device| (DeviceId(device["device"].as_i64().unwrap_or(0)), &device["memory_stats"]));
        ids.filter(|(id, _)| self.snapshot.timeline(*id).is_some_and(|timeline| !timeline.events.is_empty()))
    }
}

fn recordings() -> Vec<Recording> {
    let mut files = pickles_in(&root().join("sample_snapshots"), false);
    let shared = root().join("../shared/snapshots/rig");
    if shared.is_dir() {
        files.extend(pickles_in(&shared, true));
    } else {
        skipped("no recordings in ../shared; only sample_snapshots were simulated");
    }
    files.extend(
        std::env::var_os(MORE).map(|folder| pickles_in(Path::new(&folder), true)).into_iter().flatten(),
    );
    files.iter().filter_map(|path| Recording::open(path)).collect()
}

/// The counters of a simulation by torch's names.
fn counters(outcome: &Outcome) -> [(&'static str, u64); 17] {
    let c = &outcome.counters;
    [
        ("allocated_bytes.all.peak", c.allocated_bytes.peak),
        ("allocated_bytes.all.current", c.allocated_bytes.current),
        ("active_bytes.all.peak", c.active_bytes.peak),
        ("active_bytes.all.current", c.active_bytes.current),
        ("requested_bytes.all.peak", c.requested_bytes.peak),
        ("requested_bytes.all.current", c.requested_bytes.current),
        ("reserved_bytes.all.peak", c.reserved_bytes.peak),
        ("reserved_bytes.all.current", c.reserved_bytes.current),
        ("inactive_split_bytes.all.peak", c.inactive_split_bytes.peak),
        ("inactive_split_bytes.all.current", c.inactive_split_bytes.current),
        ("inactive_split.all.peak", c.inactive_split.peak),
        ("inactive_split.all.current", c.inactive_split.current),
        ("active.all.peak", c.active.peak),
        ("active.all.current", c.active.current),
        ("segment.all.current", c.segment.current),
        ("num_alloc_retries", c.num_alloc_retries),
        ("num_ooms", c.num_ooms),
    ]
}

#[test]
fn complete_recordings_are_reproduced_event_for_event_and_counter_for_counter() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for recording in recordings().iter().filter(|recording| recording.is_complete()) {
        for (id, stats) in recording.devices() {
            let timeline = recording.snapshot.timeline(id).expect("the device has a trace");
            let subject = Subject::new(&recording.snapshot, timeline);
            let fidelity = subject.fidelity();
            let name = format!("{} {id}", recording.path.display());
            compared += fidelity.events;
            if !fidelity.is_complete() {
                wrong.push(format!("{name}: {fidelity:?} {:?}", subject.device()));
                continue;
            }
            let outcome = subject.simulate(subject.recorded_settings(), &subject.device());
            for (key, simulated) in counters(&outcome) {
                if stats[key].as_u64().is_some_and(|real| real != simulated) {
                    wrong.push(format!("{name}: {key} is {simulated}, was {}", stats[key]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 5000, "too little was compared: {compared}");
}
