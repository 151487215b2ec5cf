//! Snapshots as JSON give the same model as pickles.

use crate::support::{load_bytes, run_with_input, sample, skipped};
use oomscope::model::{EventIx, Snapshot};
use std::path::Path;
use std::process::Command;

/// Converts a pickle as programs do.
const CONVERT: &str = "import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], 'rb')), sys.stdout)";

fn converted(path: &Path) -> Option<Vec<u8>> {
    let output = Command::new("python3").args(["-c", CONVERT]).arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

fn read(path: &Path) -> Snapshot {
    load_bytes(&std::fs::read(path).expect("the sample")).expect("a snapshot")
}

fn assert_same(found: &Snapshot, expected: &Snapshot, name: &str) {
    assert_eq!(
        (&found.settings, &found.unknown_keys),
        (&expected.settings, &expected.unknown_keys),
        "{name}"
    );
    assert_eq!(
        (&found.issues, found.annotations.len()),
        (&expected.issues, expected.annotations.len()),
        "{name}"
    );
    assert_eq!(
        (found.frames.len(), found.stacks.len()),
        (expected.frames.len(), expected.stacks.len()),
        "{name}"
    );
    assert_eq!(found.timelines.len(), expected.timelines.len(), "{name}");
    for (here, there) in found.timelines.iter().zip(&expected.timelines) {
        assert_eq!((here.device, here.events.len()), (there.device, there.events.len()), "{name}");
        for event in there.events.indices() {
            let plain = |snapshot: &Snapshot, at: EventIx| {
                let timeline = snapshot.timeline(there.device).expect("the device");
                let event = timeline.events.get(at);
                let frames = snapshot.stacks.frames(event.stack).iter().map(|&id| {
                    let frame = snapshot.frames.get(id);
                    (snapshot.strings.whole(frame.file).into_owned(), frame.line)
                });
                (event.action, event.addr, event.size, event.time_us, event.pool, frames.collect::<Vec<_>>())
            };
            assert_eq!(plain(found, event), plain(expected, event), "{name} {event:?}");
        }
        assert_eq!(here.active.peak(), there.active.peak(), "{name}");
        assert_eq!(here.segments.blocks.len(), there.segments.blocks.len(), "{name}");
        assert_eq!(here.anomalies, there.anomalies, "{name}");
    }
}

#[test]
fn json_gives_the_same_model_as_its_pickle() {
    for name in
        ["frag_oom.pickle", "pinned_host.pickle", "pools.pickle", "streams.pickle", "two_devices_oom.pickle"]
    {
        let path = sample(name);
        let Some(json) = converted(&path) else { return skipped("no python3 to convert a pickle to JSON") };
        assert_same(&load_bytes(&json).expect("a snapshot"), &read(&path), name);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, &json).expect("memory can be written");
        let packed = gzip.finish().expect("memory can be written");
        assert_same(&load_bytes(&packed).expect("a snapshot"), &read(&path), name);
    }
}

#[test]
fn json_that_ends_early_gives_the_whole_events_before_it() {
    let path = sample("two_devices_oom.pickle");
    let Some(json) = converted(&path) else { return skipped("no python3 to convert a pickle to JSON") };
    let expected = read(&path);
    let traces = json.windows(15).position(|w| w == b"\"device_traces\"").expect("the key");
    let cut = load_bytes(&json[..traces + (json.len() - traces) / 4]).expect("a part of a snapshot");
    let damage = cut.damage.as_ref().expect("it is cut off");
    assert_eq!(damage.offset, (traces + (json.len() - traces) / 4) as u64);
    let (found, whole) = (&cut.timelines[0], &expected.timelines[0]);
    assert!(10 < found.events.len() && found.events.len() < whole.events.len());
    for event in found.events.indices() {
        assert_eq!(found.events.addr(event), whole.events.addr(event));
    }
}

#[test]
fn the_program_reads_json_from_standard_input() {
    let text = br#"{"segments": [], "device_traces": [[{"action": "alloc", "addr": 512, "size": 100, "frames": []}]]}"#;
    let output = run_with_input(&["stats", "-"], text);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
