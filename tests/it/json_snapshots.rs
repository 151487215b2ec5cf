//! Snapshots as JSON give the same model as pickles.

use crate::support::{load_bytes, run, run_with_input, sample, skipped};
use oomscope_model::{EventIx, Snapshot};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Converts a pickle as programs do.
const CONVERT: &str = "import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], 'rb')), sys.stdout)";

fn converted(path: &Path) -> Option<Vec<u8>> {
    let output = Command::new("python3").args(["-c", CONVERT]).arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

fn read(path: &Path) -> Arc<Snapshot> {
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

/// A text as UTF-16 with its mark, as PowerShell's `>` writes it.
fn utf16(text: &[u8], mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let text = std::str::from_utf8(text).expect("it is text");
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}

/// The forms in which Windows writes a text.
fn forms(text: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    [
        ("UTF-8 with a mark", [b"\xef\xbb\xbf", text].concat()),
        ("UTF-16 LE", utf16(text, [0xff, 0xfe], u16::to_le_bytes)),
        ("UTF-16 BE", utf16(text, [0xfe, 0xff], u16::to_be_bytes)),
    ]
}

#[test]
fn json_reads_alike_however_windows_wrote_it() {
    let path = sample("two_devices_oom.pickle");
    let Some(json) = converted(&path) else { return skipped("no python3 to convert a pickle to JSON") };
    let expected = read(&path);
    // Offsets count the text as UTF-8, in any form.
    let cut = &json[..json.len() * 3 / 4];
    let damage = load_bytes(cut).expect("a part of a snapshot").damage.clone();
    assert!(damage.is_some());
    for ((name, whole), (_, cut)) in forms(&json).into_iter().zip(forms(cut)) {
        assert_same(&load_bytes(&whole).expect("a snapshot"), &expected, name);
        assert_eq!(load_bytes(&cut).expect("a part of a snapshot").damage, damage, "{name}");
        let packed = zstd::encode_all(whole.as_slice(), 1).expect("memory can be written");
        assert_same(&load_bytes(&packed).expect("a snapshot"), &expected, name);
    }
}

#[test]
fn other_texts_read_alike_however_windows_wrote_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = sample("frag_oom.pickle").to_string_lossy().into_owned();
    let stats = run(["stats", &file, "--format", "json"]).stdout;
    let log = b"step 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB. GPU 0 has a total capacity \
        of 2.00 GiB of which 100.00 MiB is free. Process 1 has 1.90 GiB memory in use.";
    let rules = b"[[rule]]\ncategory = 'comm'\nfile = 'x'\n";
    for (at, texts) in [(0, forms(&stats)), (1, forms(log)), (2, forms(rules))] {
        for (name, bytes) in texts {
            let path = folder.path().join("text");
            std::fs::write(&path, bytes).expect("a temporary file");
            let path = path.to_string_lossy();
            let command = ["check --baseline", "report --no-remedies --message", "stats --rules"][at];
            let output = run(command.split(' ').chain([&*path, &file]));
            assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
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
