//! The simulator against recordings of the real allocator: event for event and counter for counter
//! under the recorded settings, and peak for peak under others.

use crate::support::{pickles_in, root, skipped, stem};
use oomscope_model::{Action, DeviceId, EventTable, Recording, Setting, SettingValue, Snapshot};
use oomscope_simulator::{Device, Outcome, Settings, Subject};
use oomscope_snapshot::load::{Input, Progress, load};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder with further recordings and their truth, for whoever has one.
const MORE: &str = "OOMSCOPE_TEST_RECORDINGS";

/// A recording, and what the allocator said about itself when it was dumped.
struct Recorded {
    path: PathBuf,
    snapshot: Arc<Snapshot>,
    truth: serde_json::Value,
}

impl Recorded {
    fn open(path: &Path) -> Option<Self> {
        let truth =
            path.to_string_lossy().split(".pickle").next().map(|base| format!("{base}.truth.json"))?;
        let truth = serde_json::from_str(&std::fs::read_to_string(truth).ok()?).expect("the truth is JSON");
        let snapshot =
            load(&Input::File(path.to_owned()), &Progress::default()).expect("the recording loads");
        Some(Self { path: path.to_owned(), snapshot: Arc::new(snapshot), truth })
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

fn recordings() -> Vec<Recorded> {
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
    files.iter().filter_map(|path| Recorded::open(path)).collect()
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
            let device = Recording::of_device(&recording.snapshot, id).expect("the device has a trace");
            let subject = Subject::new(&device);
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

/// The device that a recording was made on.
fn device(truth: &serde_json::Value) -> Device {
    let mebibytes = |key: &str| truth["stand_in"][key].as_u64().unwrap_or(0) << 20;
    let total = mebibytes("DEVICE_MEM_MB");
    let capacity = total.saturating_sub(mebibytes("CONTEXT_MB"));
    Device { capacity_bytes: Some(capacity), total_bytes: Some(total), ..Device::default() }
}

/// Whether a recording has requests after one that failed, which another run need not have.
fn goes_on_after_oom(recording: &Recorded) -> bool {
    recording.snapshot.timelines.iter().any(|timeline| {
        timeline.ooms.first().is_some_and(|oom| {
            let mut after = timeline.events.indices().skip(oom.event.index() + 1);
            after.any(|ix| timeline.events.action(ix) == Action::Alloc)
        })
    })
}

/// Whether blocks wait for other streams.
fn waits_for_streams(recording: &Recorded) -> bool {
    let waits = |events: &EventTable| {
        let pairs = events.indices().zip(events.indices().skip(1));
        let mut waiting = pairs.filter(|&(of, next)| {
            events.action(of) == Action::FreeRequested && events.action(next) != Action::FreeCompleted
        });
        waiting.next().is_some()
    };
    recording.snapshot.timelines.iter().any(|timeline| waits(&timeline.events))
}

/// One program recorded under two settings: the first one simulated under the second ones.
fn compare(of: &Recorded, under: &Recorded, wrong: &mut Vec<String>) -> Option<f64> {
    let recording = Recording::of_device(&of.snapshot, DeviceId(0)).expect("the device has a trace");
    let real = under.snapshot.timeline(DeviceId(0)).expect("the device has a trace");
    let subject = Subject::on_device(&recording, device(&of.truth));
    let settings = Settings::recorded(&under.snapshot);
    let outcome = subject.simulate(&settings, &device(&under.truth));
    let name = format!("{} under {:?}", stem(&of.path), settings.conf());
    if outcome.oom.is_some() == real.ooms.is_empty() {
        wrong.push(format!("{name}: simulated {:?}, was {:?}", outcome.oom, real.ooms.first()));
        return None;
    }
    if goes_on_after_oom(under) {
        return None;
    }
    let peak = under.truth["devices"][0]["max_memory_reserved"].as_u64().expect("the peak is known");
    let error = outcome.peak_reserved_bytes().abs_diff(peak) as f64 / peak as f64;
    // When streams are done depends on what the host does meanwhile, which settings change.
    let limit = if waits_for_streams(of) { 0.1 } else { 0.01 };
    if limit < error {
        wrong.push(format!("{name}: {} reserved, was {peak} ({error:.4})", outcome.peak_reserved_bytes()));
    }
    Some(error)
}

#[test]
fn other_settings_give_what_a_run_under_them_gave() {
    let all: Vec<Recorded> = recordings().into_iter().filter(Recorded::is_complete).collect();
    let (mut wrong, mut errors) = (Vec::new(), Vec::new());
    for of in all.iter().filter(|of| of.snapshot.timelines.iter().all(|timeline| timeline.ooms.is_empty())) {
        let others = all.iter().filter(|under| {
            under.truth["command"] == of.truth["command"]
                && under.truth["torch"] == of.truth["torch"]
                && under.truth["allocator_settings"] != of.truth["allocator_settings"]
        });
        for under in others {
            errors.extend(compare(of, under, &mut wrong));
        }
    }
    let exact = errors.iter().filter(|&&error| error == 0.0).count();
    assert!(wrong.is_empty(), "{} of {} ({exact} exact)\n{}", wrong.len(), errors.len(), wrong.join("\n"));
    if errors.is_empty() {
        skipped("no program recorded under several settings");
    }
}

#[test]
fn expandable_segments_that_no_segment_shows_were_not_obeyed() {
    let mut recording =
        Recorded::open(&root().join("sample_snapshots/frag_oom.pickle")).expect("a sample with its truth");
    let snapshot = Arc::get_mut(&mut recording.snapshot).expect("nobody else has it");
    let settings = &mut snapshot.settings;
    settings.retain(|setting| setting.name != "expandable_segments");
    settings.push(Setting { name: "expandable_segments".to_owned(), value: SettingValue::Bool(true) });
    let subject = Subject::new(&Recording::all(&recording.snapshot).next().expect("a device"));
    assert!(!subject.recorded_settings().expandable_segments);
    assert!(subject.fidelity().is_complete(), "{:?}", subject.fidelity());
}
