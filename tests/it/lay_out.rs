//! Requests of a program that ran without a device become a snapshot: `oomscope lay-out`, which `oomscope estimate` calls.

use crate::pickles::{dict, event, frame, int, list, pickle, snapshot, text, with};
use crate::support::{json, load_bytes, oomscope, pickles_in, root, run, stdout};
use oomscope_model::{Action, BlockState, DeviceId, EventTable, Moment, Recording, TensorRole};
use oomscope_simulator::Subject;
use serde_pickle::Value;
use std::path::{Path, PathBuf};

const MIB: i64 = 1 << 20;

/// Where allocation `n` of the requests is: each has an address of its own.
fn address(n: u64) -> u64 {
    0x7000_0000_0000 + (n << 40)
}

/// An event of the requests, at a line of the program.
fn asked(action: &str, n: u64, size: i64, line: i64) -> Value {
    let frames = list([frame("/home/me/train.py", line, "main")]);
    let more = [("frames", frames), ("time_us", int(1000 + line)), ("user_metadata", text("step 1"))];
    with(&event(action, address(n), size), more)
}

fn freed(n: u64, size: i64, line: i64) -> [Value; 2] {
    ["free_requested", "free_completed"].map(|action| asked(action, n, size, line))
}

/// The file that the estimate writes, with a census of one parameter in allocation 2.
pub(crate) fn requests(
    events: impl IntoIterator<Item = Value>,
    more: impl IntoIterator<Item = (&'static str, Value)>,
) -> Vec<u8> {
    let note = dict([
        ("what", text("nonzero() took all elements")),
        ("where", text("train.py:9")),
        ("count", int(3)),
    ]);
    let estimate = dict([
        ("version", int(1)),
        ("program", text("train.py")),
        ("steps", int(2)),
        ("lower_bound", text("kernels of its own were not run")),
        ("notes", list([note])),
        ("error_share", Value::F64(0.03)),
        ("would_write", list([text("model.pt")])),
    ]);
    let census = format!(
        r#"{{"version": 1, "texts": ["float32", "parameter", "weight", "module", "Net"], "shapes": [[1048576]],
        "owners": {{"kind": [3], "class": [4], "number": [0]}}, "holders": {{"variable": [], "example": [], "function": [], "file": [], "line": []}},
        "tensors": {{"device": [0], "address": [{}], "bytes": [4194304], "dtype": [0], "shape": [0], "requires_grad": [1], "grad_fn": [-1],
        "role": [1], "name": [2], "owner": [0], "key": [-1], "whole": [-1], "holder": [-1]}}}}"#,
        address(2)
    );
    let device =
        dict([("model", text("H100")), ("total_bytes", int(80i64 << 30)), ("context_bytes", int(512 * MIB))]);
    let recorder = dict([
        ("torch", text("2.10.0")),
        ("rank", int(0)),
        ("world_size", Value::None),
        ("devices", dict([("0", device)])),
        ("reason", text("estimate")),
        ("census", text(&census)),
        ("estimate", estimate),
    ]);
    let annotation = dict([
        ("stage", text("START")),
        ("name", text("Optimizer.step#SGD.step")),
        ("device", int(0)),
        ("time_us", int(9000)),
    ]);
    let base = with(
        &snapshot([], [list(events)]),
        [("oomscope", recorder), ("external_annotations", list([annotation]))],
    );
    pickle(&with(&base, more))
}

/// Two buffers, one of which is gone before the cache is emptied, a parameter that stays, and what another stream still uses.
fn program() -> Vec<Value> {
    let mut events = vec![asked("alloc", 0, 30 * MIB, 1), asked("alloc", 1, 100, 2)];
    events.extend(freed(0, 30 * MIB, 3));
    events.push(with(&asked("empty_cache", 0, 0, 4), [("addr", int(0))]));
    events.push(asked("alloc", 2, 4 * MIB, 5));
    events.push(asked("alloc", 3, 3 * MIB, 6));
    events.push(asked("free_requested", 3, 3 * MIB, 7));
    events
}

/// Lay out requests; returns what is printed, and the file.
pub(crate) fn lay_out(folder: &Path, requests: &[u8], more: &[&str]) -> (serde_json::Value, PathBuf) {
    let [from, to] = ["requests.pickle", "laid-out.pickle"].map(|name| folder.join(name));
    std::fs::write(&from, requests).expect("the folder can be written to");
    let paths = ["lay-out".to_owned(), from.display().to_string(), "-o".to_owned(), to.display().to_string()];
    let said = json(paths.into_iter().chain(more.iter().map(|&word| word.to_owned())));
    (said, to)
}

fn open(file: &Path) -> Recording {
    let bytes = std::fs::read(file).expect("the file was written");
    Recording::main(&load_bytes(&bytes).expect("it is a snapshot")).expect("it has a device")
}

#[test]
fn requests_become_a_recording_that_is_reproduced() {
    for conf in ["", "expandable_segments:True"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = dict([("PYTORCH_CUDA_ALLOC_CONF", text(conf))]);
        let (said, file) =
            lay_out(folder.path(), &requests(program(), [("allocator_settings", settings)]), &[]);
        let recording = open(&file);
        assert!(recording.anomalies.iter().all(|(_, count)| count == 0), "{conf}: {:?}", recording.anomalies);
        let subject = Subject::new(&recording);
        assert!(subject.fidelity().is_complete(), "{conf}: {:?}", subject.fidelity());
        let device = &said["devices"][0];
        assert_eq!(device["is_reproduced"], true);
        assert_eq!(device["peak_requested_bytes"], recording.active.peak().1.as_u64());
        assert_eq!(device["peak_reserved_bytes"], recording.reserved.peak().1.as_u64());
        let counted = recording.snapshot().counted_peaks(DeviceId(0));
        assert_eq!(
            counted.reserved_bytes.map(|bytes| bytes.as_u64()),
            device["peak_reserved_bytes"].as_u64()
        );
        assert_eq!(counted.requested_bytes, Some(recording.active.peak().1));
        let maps = if conf.is_empty() { Action::SegmentAlloc } else { Action::SegmentMap };
        let actions: Vec<Action> = recording.events.indices().map(|ix| recording.events.action(ix)).collect();
        assert!(actions.contains(&maps), "{actions:?}");
    }
}

#[test]
fn a_laid_out_file_is_what_torch_would_have_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (said, file) = lay_out(folder.path(), &requests(program(), []), &[]);
    let recording = open(&file);
    let events = &recording.events;
    let snapshot = recording.snapshot();
    let line = |stack| snapshot.stacks.frames(stack).first().map_or(0, |&id| snapshot.frames.get(id).line);
    let found: Vec<(String, i64, i64)> = events
        .indices()
        .map(|ix| {
            let action = snapshot.actions.name(events.action(ix), &snapshot.strings).into_owned();
            (action, events.size(ix).0, line(events.stack(ix)))
        })
        .collect();
    let row = |action: &str, size, line| (action.to_owned(), size, line);
    assert_eq!(
        found,
        [
            row("segment_alloc", 30 * MIB, 1),
            row("alloc", 30 * MIB, 1),
            row("segment_alloc", 2 * MIB, 2),
            row("alloc", 100, 2),
            row("free_requested", 30 * MIB, 3),
            row("free_completed", 30 * MIB, 3),
            row("segment_free", 30 * MIB, 4),
            row("segment_alloc", 20 * MIB, 5),
            row("alloc", 4 * MIB, 5),
            row("alloc", 3 * MIB, 6),
            row("free_requested", 3 * MIB, 7),
        ]
    );
    let metadata = events.get(oomscope_model::EventIx(0)).user_metadata.expect("metadata");
    assert!(snapshot.strings.is(metadata, b"step 1"));
    assert_eq!(snapshot.annotations.len(), 1);
    // Segments and blocks at the end, with the code that asked for them.
    let blocks: Vec<(BlockState, i64, i64, i64)> = recording
        .segments
        .blocks
        .iter()
        .map(|block| (block.state, block.size.0, block.requested.0, line(block.stack)))
        .collect();
    let large = [
        (BlockState::Allocated, 4 * MIB, 4 * MIB, 5),
        (BlockState::AwaitingFree, 3 * MIB, 3 * MIB, 6),
        (BlockState::Inactive, 13 * MIB, 0, 0),
    ];
    assert!(blocks.windows(3).any(|three| three == large), "{blocks:?}");
    assert!(blocks.contains(&(BlockState::Allocated, 512, 100, 2)), "{blocks:?}");
    let starts = recording.segments.segments.iter().map(|segment| segment.addr);
    assert!(starts.into_iter().all(|start| start.is_multiple_of(2 * MIB.unsigned_abs())));
    // The name is at the address that its memory has now.
    let [tensor] = snapshot.census.tensors() else { panic!("{:?}", snapshot.census) };
    assert_eq!(tensor.role, Some(TensorRole::Parameter));
    let held = recording.segments.blocks.iter().find(|block| block.addr == tensor.addr).expect("a block");
    assert_eq!(held.requested, 4 * MIB);
    assert_eq!(snapshot.device_memory(DeviceId(0)).map(|bytes| bytes.0), Some(80 << 30));
    assert_eq!(said["devices"][0]["peak_reserved_bytes"], 32 * MIB);
    assert_eq!(said["devices"][0]["peak_allocated_bytes"], 30 * MIB + 512);
}

#[test]
fn devices_are_told_apart_by_whether_the_requests_fit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let devices = ["--device", "large=80GiB:512MiB", "--device", "small=33554432:4194304"];
    let (said, file) = lay_out(folder.path(), &requests(program(), []), &devices);
    let device = &said["devices"][0];
    assert_eq!(device["smallest_capacity_bytes"], 32 * MIB);
    let [large, small] = [0, 1].map(|at| device["on"][at].clone());
    assert_eq!(
        (&large["name"], &large["fits"], &large["failed"]),
        (&"large".into(), &true.into(), &serde_json::Value::Null)
    );
    assert_eq!(large["capacity_bytes"], (80i64 << 30) - 512 * MIB);
    assert_eq!((&small["name"], &small["fits"]), (&"small".into(), &false.into()));
    assert_eq!(small["failed"]["requested_bytes"], 30 * MIB);
    assert_eq!(small["margin_bytes"], -2 * MIB);
    // The same as what the file says when it is asked.
    let file = file.display().to_string();
    let simulated = json(["simulate", &file, "--smallest-capacity", "--format", "json"]);
    assert_eq!(simulated["smallest_capacity"], device["smallest_capacity_bytes"]);
}

#[test]
fn every_view_says_that_it_is_predicted() {
    const SAID: &str = "Predicted without a device: what `train.py` would ask for in 2 steps. At least: kernels of its own were not run.";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, file) = lay_out(folder.path(), &requests(program(), []), &[]);
    let file = file.display().to_string();
    for words in [
        vec!["stats", &file],
        vec!["live", &file, "--at", "peak"],
        vec!["explain", &file, "--verdict"],
        vec!["simulate", &file],
        vec!["diff", &file, &file],
    ] {
        let said = stdout(&words);
        assert!(said.contains(SAID), "{words:?}: {said}");
    }
    for format in ["text", "markdown", "html"] {
        let said = stdout(["report", &file, "--format", format]);
        let plain: String = said.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "");
        assert!(plain.contains("Predicted without a device: what"), "{format}: {plain}");
        assert!(plain.contains("At least: kernels of its own were not run."), "{format}: {plain}");
    }
    for (words, at) in [
        (vec!["stats", &file], "/0/predicted"),
        (vec!["live", &file, "--at", "peak"], "/0/predicted"),
        (vec!["report", &file], "/predicted"),
        (vec!["simulate", &file], "/predicted"),
        (vec!["fixes", &file], "/predicted"),
        (vec!["diff", &file, &file], "/a/predicted"),
    ] {
        let said = json(words.iter().copied().chain(["--format", "json"]));
        let predicted = said.pointer(at).unwrap_or_else(|| panic!("{words:?}: {said}"));
        assert_eq!((&predicted["text"], &predicted["steps"]), (&SAID.into(), &2.into()), "{words:?}");
        let is_whole = ["stats", "report"].contains(&words[0]);
        assert_eq!(predicted["notes"].is_array(), is_whole, "{words:?}");
        if is_whole {
            assert_eq!(predicted["notes"][0]["where"], "train.py:9");
            assert_eq!(predicted["would_write"][0], "model.pt");
        }
    }
    // A part of it says so, too, and so does every other command.
    let part = folder.path().join("part.pickle").display().to_string();
    stdout(["cut", &file, "--range", "0..4", "-o", &part]);
    assert!(stdout(["stats", &part]).contains(SAID));
    let output = run(["check", &file, "--max-peak", "1GiB"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains(SAID), "{output:?}");
    let picture = folder.path().join("a.svg").display().to_string();
    stdout(["render", &file, "--view", "stacks", "-o", &picture]);
    let picture = std::fs::read_to_string(picture).expect("a picture");
    assert!(picture.contains("Predicted: "), "the caption of a picture");
}

#[test]
fn what_is_needed_is_said_in_the_same_words_everywhere() {
    const FITS: &str = "Needs at least 544 MiB (±3 %) of 80.0 GiB (H100): fits";
    const CLOSE: &str = "Needs at least 36.0 MiB (±3 %) of 35.0 MiB (tiny): does not fit, by little";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let devices = ["--device", "H100=80GiB:512MiB", "--device", "tiny=35MiB:4MiB"];
    let (said, file) = lay_out(folder.path(), &requests(program(), []), &devices);
    let on = &said["devices"][0]["on"];
    assert_eq!([&on[0]["needs_text"], &on[1]["needs_text"]], [FITS, CLOSE]);
    let file = file.display().to_string();
    for words in
        [vec!["stats", &file], vec!["fixes", &file], vec!["diff", &file, &file], vec!["report", &file]]
    {
        let said = stdout(&words);
        let plain = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            plain.contains(&format!("in 2 steps. {FITS}. {CLOSE}. At least: kernels")),
            "{words:?}: {said}"
        );
    }
    for format in ["markdown", "html"] {
        let said = stdout(["report", &file, "--format", format]);
        let plain = said.replace('\\', "");
        assert!(plain.contains(FITS), "{format}: {said}");
        assert!(
            plain.contains("stands in: nonzero() took all elements (train.py:9, 3 times)"),
            "{format}: {said}"
        );
    }
    assert!(
        stdout(["report", &file]).contains("  stands in: nonzero() took all elements (train.py:9, 3 times)")
    );
    let needs = json(["stats", &file, "--format", "json"])[0]["predicted"]["needs"].clone();
    let expected = serde_json::json!([
        {"text": FITS, "name": "H100", "total_bytes": 80i64 << 30, "context_bytes": 512 * MIB,
         "needed_bytes": 544 * MIB, "fits": true, "error_share": 0.03},
        {"text": CLOSE, "name": "tiny", "total_bytes": 35 * MIB, "context_bytes": 4 * MIB,
         "needed_bytes": 36 * MIB, "fits": false, "error_share": 0.03},
    ]);
    assert_eq!(needs, expected);
    assert!(stdout(["fixes", &file]).contains("(as predicted)"));
    assert!(json(["fixes", &file, "--format", "json"])["predicted"]["needs"][0]["fits"].is_boolean());
}

#[test]
fn what_is_no_file_of_requests_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out.pickle");
    let refused = |file: &Path, why: &str| {
        let output = oomscope().arg("lay-out").arg(file).arg("-o").arg(&out).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(why) && !out.exists(), "{said}");
    };
    refused(&root().join("sample_snapshots/frag_oom.pickle"), "it is no estimate");
    let write = |bytes: &[u8]| {
        let file = folder.path().join("in.pickle");
        std::fs::write(&file, bytes).expect("the folder can be written to");
        file
    };
    let whole = requests(program(), []);
    refused(&write(&whole[..whole.len() / 2]), "");
    refused(&write(&requests([asked("alloc", 0, 1, 1), asked("alloc", 0, 1, 1)], [])), "in use");
    refused(&write(&requests([asked("alloc", 0, 1 << 47, 1)], [])), "a number of bytes that no device has");
    refused(&write(&requests([asked("alloc", 0, 1 << 50, 1)], [])), "could not be used");
    refused(&write(&requests([asked("segment_alloc", 0, 2 * MIB, 1)], [])), "has segments");
}

/// The requests among the events of a recording: each allocation with an address of its own.
fn requests_of(recording: &Recording) -> Vec<Value> {
    let events = &recording.events;
    let mut at = std::collections::BTreeMap::new();
    let mut made = 0;
    let rows = events.indices().filter_map(|ix| {
        let event = events.get(ix);
        let addr = event.addr.unwrap_or_default();
        let action = match event.action {
            Action::Alloc => {
                at.insert(addr, made);
                made += 1;
                "alloc"
            }
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            _ => return None,
        };
        let mut row = crate::pickles::event(action, 0x7000_0000_0000 + at[&addr] * 512, event.size.0);
        row = with(&row, [("stream", int(event.stream.unwrap_or(0)))]);
        let pool = |pool: oomscope_model::PoolKey| Value::Tuple(vec![int(pool.0), int(pool.1)]);
        Some(event.pool.map_or(row.clone(), |key| with(&row, [("pool_id", pool(key))])))
    });
    rows.collect()
}

/// What the allocator decided, with addresses from that of the block's segment on.
fn decided(events: &EventTable) -> Vec<(Action, i64)> {
    events
        .indices()
        .map(|ix| (events.action(ix), events.size(ix).0))
        .filter(|row| ![Action::Snapshot, Action::Annotate].contains(&row.0))
        .collect()
}

#[test]
fn requests_of_recordings_are_laid_out_as_they_were_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut compared = 0;
    for sample in pickles_in(&root().join("sample_snapshots"), false) {
        let recording = open(&sample);
        let has = |action| recording.events.indices().any(|ix| recording.events.action(ix) == action);
        // Only what is recorded from the beginning on an unlimited device, where the program never emptied the cache.
        let is_whole = recording.snapshot().timelines.len() == 1
            && recording.reserved.at(Moment::START) == 0
            && !recording.events.is_empty()
            && recording.lifetimes.initial_count() == 0
            && [Action::Oom, Action::SegmentFree, Action::SegmentUnmap]
                .into_iter()
                .all(|action| !has(action));
        if !is_whole || !Subject::new(&recording).fidelity().is_complete() {
            continue;
        }
        let settings = recording.snapshot().settings.iter().find_map(|setting| match &setting.value {
            oomscope_model::SettingValue::Text(conf) => Some(text(conf)),
            _ => None,
        });
        let settings = dict([("PYTORCH_CUDA_ALLOC_CONF", settings.unwrap_or_else(|| text("")))]);
        let file = requests(requests_of(&recording), [("allocator_settings", settings)]);
        let (said, laid) = lay_out(folder.path(), &file, &[]);
        let again = open(&laid);
        assert_eq!(decided(&again.events), decided(&recording.events), "{}", sample.display());
        let state = |recording: &Recording| {
            let mut sizes: Vec<i64> =
                recording.segments.segments.iter().map(|segment| segment.size.0).collect();
            sizes.sort_unstable();
            (sizes, recording.reserved.peak().1, recording.active.peak().1)
        };
        assert_eq!(state(&again), state(&recording), "{}", sample.display());
        assert_eq!(said["devices"][0]["is_reproduced"], true, "{}", sample.display());
        compared += 1;
    }
    assert!(3 <= compared, "{compared} samples were compared");
}
