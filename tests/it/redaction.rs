//! What `--redact` leaves out of every output, wherever a recording has it: folders, users and machines.

use crate::pickles::{block, dict, event, frame, int, list, pickle, segment, snapshot, text, with};
use crate::support::run;
use serde_pickle::Value;
use std::path::{Path, PathBuf};

/// A path, a user and machines, as people write them into names.
const TEXT: &str = "on alicia@gpu17.example.com (gpu17.example.com, 10.20.30.41) of /home/alicia/projx/run at ssh://gpu17:22";

/// What may not be found in any output.
const SECRETS: [&str; 4] = ["alicia", "gpu17", "10.20.30.41", "projx"];

/// A recording with an OOM, annotations and settings in which every text that a program can choose has the secrets.
fn recording() -> Vec<u8> {
    let name = |what: &str| text(&format!("{what} {TEXT}"));
    let file = "/home/alicia/projx/train.py";
    let frames = || {
        list([
            frame(file, 10, &format!("step {TEXT}")),
            frame(
                "/home/alicia/env/lib/python3.11/site-packages/torch/nn/modules/module.py",
                5,
                "_call_impl",
            ),
            frame(file, 3, &format!("main {TEXT}")),
        ])
    };
    let traced = |action: &str, addr: u64, size: i64, at: i64| {
        let more = [
            ("frames", frames()),
            ("time_us", int(1_700_000_000_000_000 + at)),
            ("category", name("kv_cache")),
            ("user_metadata", name("note")),
            ("compile_context", name("0/0")),
        ];
        with(&event(action, addr, size), more)
    };
    let events = [
        traced("segment_alloc", 1 << 21, 32 << 20, 0),
        traced("alloc", 1 << 21, 16 << 20, 1),
        traced("alloc", (1 << 21) + (16 << 20), 8 << 20, 2),
        traced(&format!("other {TEXT}"), 1 << 21, 1, 2),
        with(&traced("oom", 0, 64 << 20, 3), [("device_free", int(1 << 20))]),
    ];
    let live = |addr: u64, size: i64| {
        let history = dict([("addr", int(addr)), ("real_size", int(size)), ("frames", frames())]);
        with(
            &block("active_allocated", addr, size, size),
            [("frames", frames()), ("history", list([history]))],
        )
    };
    let free = block("inactive", (1 << 21) + (24 << 20), 8 << 20, 0);
    let blocks = [live(1 << 21, 16 << 20), live((1 << 21) + (16 << 20), 8 << 20), free];
    let annotation = |name: Value, at: i64| {
        dict([
            ("stage", text("START")),
            ("name", name),
            ("device", int(0)),
            ("time_us", int(1_700_000_000_000_000 + at)),
        ])
    };
    let all = with(
        &snapshot([segment(0, 1 << 21, 32 << 20, blocks)], [list(events)]),
        [
            ("allocator_settings", dict([("PYTORCH_CUDA_ALLOC_CONF", name("conf")), (TEXT, name("value"))])),
            ("external_annotations", list([annotation(name("epoch"), 0), annotation(name("batch"), 2)])),
            (TEXT, name("unknown")),
            (
                "oomscope",
                dict([
                    ("recorder", name("0.1")),
                    ("torch", name("2.9")),
                    ("reason", name("oom")),
                    ("host", name("h")),
                ]),
            ),
        ],
    );
    pickle(&all)
}

fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let below = folder.path().join("alicia").join("projx");
    std::fs::create_dir_all(&below).expect("a temporary folder");
    let path = below.join("run.pickle");
    std::fs::write(&path, recording()).expect("a temporary file");
    let notes = format!(
        "format = \"oomscope-notes\"\nversion = 1\n\n[[note]]\ntext = \"{TEXT}\"\nplace = 'event=1 filter=\"stack:/home/alicia/projx/\"'\n"
    );
    std::fs::write(below.join("run.pickle.oomscope.toml"), notes).expect("a temporary file");
    (folder, path)
}

/// The output of a command, written to a file if it is not text.
fn output(args: &[&str], file: &Path) -> Vec<u8> {
    let output = run([&args[..1], &[&*file.to_string_lossy()], &args[1..]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn secrets_in(bytes: &[u8]) -> Vec<&'static str> {
    let has = |secret: &&str| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
    SECRETS.into_iter().filter(has).collect()
}

#[test]
fn no_redacted_output_names_folders_users_or_machines() {
    let (_folder, file) = written();
    for args in [
        &["report"][..],
        &["report", "--verbose"],
        &["report", "--format", "markdown"],
        &["report", "--format", "html"],
        &["report", "--format", "json"],
        &["report", "--format", "json", "--at", "peak"],
        &["cut", "-o", "-"],
        &["cut", "--filter", "live", "-o", "-"],
    ] {
        assert!(!secrets_in(&output(args, &file)).is_empty(), "{args:?}: nothing to leave out");
        let redacted = output(&[args, &["--redact"]].concat(), &file);
        let found = secrets_in(&redacted);
        let places: Vec<String> = found
            .iter()
            .filter_map(|secret| {
                let all = String::from_utf8_lossy(&redacted).into_owned();
                let at = all.find(secret).unwrap_or_default();
                let start = (0..=at.saturating_sub(150)).rev().find(|&at| all.is_char_boundary(at));
                let end = (at + 60..all.len()).find(|&at| all.is_char_boundary(at));
                all.get(start.unwrap_or(0)..end.unwrap_or(all.len())).map(str::to_owned)
            })
            .collect();
        assert_eq!(found, [""; 0], "{args:?}: {places:#?}");
        let kept = String::from_utf8_lossy(&redacted);
        assert!(
            kept.contains("train.py") && kept.contains("step on "),
            "{args:?}: names of files and functions stay"
        );
    }
}
