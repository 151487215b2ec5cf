//! Every wrapping, protocol and version of a snapshot reads as the same model.

use crate::pickles::{
    block, dict, event, frame, int, list, pickle, pickle_2, segment, snapshot, text, with, without,
};
use crate::support::{load_bytes, root, run_with_input, sample};
use base64::Engine as _;
use oomscope_analysis::{DeviceStats, device_stats};
use oomscope_model::{
    Action, Anchor, BlockState, Bytes, DeviceId, EventIx, Moment, PoolKey, Recording, Snapshot, StackId,
    Timeline,
};
use serde_pickle::Value;
use std::io::Write as _;
use std::sync::Arc;

const BASE: u64 = 0x7f00_0000_0000;
const MIB: i64 = 1 << 20;

fn stats(snapshot: &Arc<Snapshot>) -> Vec<DeviceStats> {
    Recording::all(snapshot).map(|recording| device_stats(&recording)).collect()
}

fn load(bytes: &[u8]) -> Arc<Snapshot> {
    load_bytes(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Load, and see to it that nothing was odd.
fn load_clean(bytes: &[u8]) -> Arc<Snapshot> {
    let snapshot = load(bytes);
    assert_eq!((&snapshot.damage, &snapshot.unknown_keys, &snapshot.issues), (&None, &vec![], &vec![]));
    snapshot
}

fn load_value(value: &Value) -> Arc<Snapshot> {
    let snapshot = load_clean(&pickle(value));
    assert_eq!(stats(&snapshot), stats(&load_clean(&pickle_2(value))));
    snapshot
}

fn data(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/data").join(name)).expect("the fixture can be read")
}

fn stack(snapshot: &Snapshot, id: StackId) -> Vec<(String, i64, String)> {
    let frame = |&id| {
        let frame = snapshot.frames.get(id);
        (
            snapshot.strings.whole(frame.file).into_owned(),
            frame.line,
            snapshot.strings.whole(frame.name).into_owned(),
        )
    };
    snapshot.stacks.frames(id).iter().map(frame).collect()
}

fn only(snapshot: &Snapshot) -> &Timeline {
    let [timeline] = snapshot.timelines.as_slice() else { panic!("one device") };
    timeline
}

/// A page as `_format_viz` of `torch/cuda/_memory_viz.py` writes it.
fn page(pickle: &[u8], kind: &str) -> String {
    let mut buffer = pickle.to_vec();
    buffer.resize(buffer.len() + 3 - buffer.len() % 3, 0);
    let encoded = base64::engine::general_purpose::STANDARD.encode(buffer);
    format!(
        r#"
<!DOCTYPE html>
<html>
<head>
</head>
<body>
<script type="module">
import {{add_local_files}} from "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"
const local_files = [{{"name": "snapshot.pickle", "base64": "{encoded}"}}]
add_local_files(local_files, {kind})
</script>
</body>
"#
    )
}

#[test]
fn compressed_files_and_pages_read_as_the_plain_file() {
    let plain = std::fs::read(sample("two_devices_oom.pickle")).expect("the sample can be read");
    let expected = stats(&load_clean(&plain));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("memory can be written");
    let gzip = gzip.finish().expect("memory can be written");
    assert_eq!(stats(&load_clean(&gzip)), expected, "gzip");
    let zstd = zstd::encode_all(plain.as_slice(), 1).expect("memory can be written");
    assert_eq!(stats(&load_clean(&zstd)), expected, "zstd");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).expect("memory can be written");
    assert_eq!(stats(&load_clean(&xz.finish().expect("memory can be written"))), expected, "xz");
    for kind in ["'Active Memory Timeline'", "'Allocator State History'"] {
        assert_eq!(stats(&load_clean(page(&plain, kind).as_bytes())), expected, "{kind}");
    }
    // Parts that were compressed one by one and put together.
    let (head, tail) = plain.split_at(plain.len() / 2);
    let parts = [head, tail].map(|part| zstd::encode_all(part, 1).expect("memory can be written"));
    assert_eq!(stats(&load_clean(&parts.concat())), expected, "zstd in two frames");
}

#[test]
fn bytes_behind_a_compressed_file_are_left_out_and_counted() {
    let plain = std::fs::read(sample("two_devices_oom.pickle")).expect("the sample can be read");
    let expected = load_clean(&plain);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("memory can be written");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).expect("memory can be written");
    for (name, packed) in [
        ("gzip", gzip.finish().expect("memory can be written")),
        ("zstd", zstd::encode_all(plain.as_slice(), 1).expect("memory can be written")),
        ("xz", xz.finish().expect("memory can be written")),
    ] {
        for behind in [&b"x"[..], b"a signature of 64 bytes", &[0; 1024], b"\0\0\0\0more"] {
            let found = load_bytes(&[packed.as_slice(), behind].concat()).expect("a snapshot");
            assert_eq!(found.damage, None, "{name}");
            assert_eq!(found.pickle_bytes, expected.pickle_bytes, "{name}");
            let issues: Vec<&str> = found.issues.iter().map(|issue| issue.what.as_str()).collect();
            let is_garbage = behind.iter().any(|&byte| byte != 0);
            let said = ["bytes behind the compressed data, which are left out"];
            assert_eq!(issues, said[..usize::from(is_garbage)], "{name}");
            let output = run_with_input(&["stats", "-"], &[packed.as_slice(), behind].concat());
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((output.status.code(), errors.is_empty()), (Some(0), !is_garbage), "{name}: {errors}");
            assert!(!errors.contains("damaged"), "{name}: {errors}");
        }
    }
}

#[test]
fn a_page_that_torch_wrote_reads_as_its_pickle() {
    // torch 2.15: python -m torch.cuda._memory_viz trace_plot small.protocol4.pickle -o trace_plot.html
    let expected = stats(&load_clean(&data("small.protocol4.pickle")));
    assert_eq!(stats(&load_clean(&data("trace_plot.html"))), expected);
}

#[test]
fn pages_of_every_padding_are_read() {
    for extra in 0..4 {
        let name = "x".repeat(extra);
        let value = with(
            &snapshot([], []),
            [("external_annotations", list([])), ("segments", list([segment(0, BASE, MIB, [])]))],
        );
        let value = with(&value, [("allocator_settings", dict([("conf", text(&name))]))]);
        let snapshot = load_clean(page(&pickle(&value), "'x'").as_bytes());
        assert_eq!(only(&snapshot).segments.reserved(), MIB);
    }
}

#[test]
fn a_bare_list_of_segments_is_a_state() {
    let blocks = [block("active_allocated", BASE, MIB, 1000), block("inactive", BASE + 0x10_0000, MIB, 0)];
    let snapshot = load_value(&list([segment(0, BASE, 2 * MIB, blocks)]));
    let figures = &stats(&snapshot)[0];
    assert_eq!((figures.events, figures.r#final.reserved.0, figures.r#final.active.0), (0, 2 * MIB, 1000));
    assert_eq!((figures.peak.active.0, figures.peak.active_index), (1000, -1));
    assert!(load_value(&list([])).timelines.is_empty());
}

#[test]
fn every_protocol_reads_the_same() {
    let read = |protocol| load_clean(&data(&format!("small.protocol{protocol}.pickle")));
    let expected = read(4);
    let figures = stats(&expected);
    assert_eq!(figures.iter().map(|d| d.events).collect::<Vec<_>>(), [9, 3]);
    assert_eq!(figures[0].peak.active, 9000);
    assert_eq!(figures[0].initial.active, 4000);
    assert_eq!(figures[1].peak.top[0].addr, (1 << 63) + 4096);
    assert_eq!(figures[0].oom[0].device_free, Some(Bytes(12345)));
    for protocol in 0..6 {
        let snapshot = read(protocol);
        assert_eq!(stats(&snapshot), figures, "protocol {protocol}");
        assert_eq!(snapshot.settings.len(), 5, "protocol {protocol}");
        assert_eq!(snapshot.settings, expected.settings, "protocol {protocol}");
        assert_eq!(snapshot.annotations.len(), 1, "protocol {protocol}");
        let timeline = &snapshot.timelines[0];
        let first = timeline.events.get(EventIx(1));
        let frames = [
            ("/train/modèle.py".to_owned(), 55, "forward".to_owned()),
            ("/train/modèle.py".to_owned(), 7, "forward".to_owned()),
        ];
        assert_eq!(stack(&snapshot, first.stack), frames, "protocol {protocol}");
        assert_eq!(first.pool, Some(PoolKey::DEFAULT), "protocol {protocol}");
        let tagged =
            timeline.events.get(EventIx(2)).user_metadata.map(|id| snapshot.strings.whole(id).into_owned());
        assert_eq!(tagged.as_deref(), Some("état"), "protocol {protocol}");
    }
}

#[test]
fn lists_that_were_written_in_batches_are_whole() {
    let snapshot = load_clean(&data("batches.pickle.gz"));
    let timeline = snapshot.timeline(DeviceId(0)).expect("device 0");
    let streams: Vec<_> = timeline.events.indices().map(|ix| timeline.events.stream(ix)).collect();
    assert_eq!(streams, (0..2100).map(Some).collect::<Vec<_>>());
}

#[test]
fn every_opcode_of_plain_data_is_understood() {
    // A snapshot's dict, with an unknown key whose value uses everything else.
    let odd: [&[u8]; 8] = [
        b"I01\nI-7\nL123456789012345678901234567890L\nF1.5\nS'a\\'b'\nV\\u00e9\n",
        b"U\x02abT\x03\x00\x00\x00abcX\x02\x00\x00\x00\xc3\xa9\x8d\x01\x00\x00\x00\x00\x00\x00\x00z",
        b"C\x01xB\x02\x00\x00\x00xy\x8e\x01\x00\x00\x00\x00\x00\x00\x00x\x96\x01\x00\x00\x00\x00\x00\x00\x00x",
        b"\x8a\x00\x8b\x02\x00\x00\x00\xff\x7fG\x3f\xf8\x00\x00\x00\x00\x00\x00N\x88\x89",
        b"\x85N\x88\x86N\x88\x89\x87)(K\x01K\x02t(K\x01l(K\x01K\x02d",
        b"\x8f(K\x01K\x02\x90(K\x01\x91}K\x01K\x02s]K\x01a20(K\x01K\x021",
        b"\x8c\x01qp900\ng900\n0\x8c\x01rr\xff\xff\xff\xff0j\xff\xff\xff\xff",
        b"\x95\x00\x00\x00\x00\x00\x00\x00\x00",
    ];
    let mut bytes = b"\x80\x05}(\x8c\x08segments](}(\x8c\x06device\x8a\x00\x8c\x07addressK\x07\x8c\x0atotal_sizeM\x00\x01".to_vec();
    bytes.extend(b"\x8c\x06blocks]ue\x8c\x04more](");
    bytes.extend(odd.concat());
    bytes.extend(b"eu.");
    let snapshot = load(&bytes);
    assert_eq!(snapshot.damage, None);
    assert_eq!(only(&snapshot).segments.reserved(), 256);
    assert_eq!(snapshot.unknown_keys.iter().map(|u| u.key.as_str()).collect::<Vec<_>>(), ["more"]);
    assert_eq!(snapshot.pickle_bytes, bytes.len() as u64);
}

#[test]
fn legacy_blocks_carry_their_history() {
    let entry = |real: i64, line| {
        dict([("addr", int(BASE)), ("real_size", int(real)), ("frames", list([frame("old.py", line, "f")]))])
    };
    let old =
        |size: i64, state: &str| without(&block(state, 0, size, 0), &["address", "requested_size", "frames"]);
    let blocks = [
        with(&old(MIB, "active_allocated"), [("history", list([entry(777, 3), entry(888, 4)]))]),
        old(MIB, "inactive"),
        with(&old(MIB, "active_pending_free"), [("history", list([entry(999, 5)]))]),
    ];
    let segment = without(&segment(0, BASE, 3 * MIB, blocks), &["is_expandable", "frames"]);
    let snapshot = load_value(&list([segment]));
    let blocks = &only(&snapshot).segments.blocks;
    let read: Vec<_> = blocks.iter().map(|b| (b.addr, b.size.0, b.state)).collect();
    let expected = [BlockState::Allocated, BlockState::Inactive, BlockState::AwaitingFree];
    let addresses = [BASE, BASE + 0x10_0000, BASE + 0x20_0000];
    assert_eq!(read, [0, 1, 2].map(|i| (addresses[i], MIB, expected[i])));
    assert_eq!((blocks[0].requested.0, blocks[2].requested.0), (777, 999));
    assert_eq!(stack(&snapshot, blocks[0].stack), [("old.py".to_owned(), 3, "f".to_owned())]);
    let figures = &stats(&snapshot)[0].r#final;
    assert_eq!(
        (figures.active.0, figures.active_rounded.0, figures.allocated_rounded.0),
        (777 + 999, 2 * MIB, MIB)
    );
}

#[test]
fn what_old_versions_do_not_write_is_absent_rather_than_zero() {
    let segment = segment(0, BASE, MIB, [block("active_allocated", BASE, MIB, 5)]);
    let snapshot = load_value(&snapshot([segment], [list([event("alloc", BASE, 5)])]));
    let timeline = only(&snapshot);
    let read = timeline.events.get(EventIx(0));
    assert_eq!((read.time_us, read.pool, read.compile_context, read.category), (None, None, None, None));
    assert_eq!((timeline.events.time_range_us(), stats(&snapshot)[0].time_us), (None, None));
    assert!(snapshot.settings.is_empty() && snapshot.annotations.is_empty());
    assert_eq!(timeline.segments.segments[0].pool, None);
}

#[test]
fn addresses_and_streams_use_all_64_bits() {
    let high = (1 << 63) + 512;
    let highest = u64::MAX - 0xf_ffff;
    let stream = with(&event("alloc", high, 5), [("stream", int(high))]);
    let blocks = [block("active_allocated", high, MIB, 5)];
    let segments = [
        segment(0, high, MIB, blocks),
        segment(0, highest, MIB, [block("active_allocated", highest, MIB, 6)]),
    ];
    let snapshot = load_value(&snapshot(segments, [list([stream])]));
    let timeline = only(&snapshot);
    assert_eq!(timeline.events.addr(EventIx(0)), Some(high));
    assert_eq!(timeline.events.stream(EventIx(0)).map(i64::cast_unsigned), Some(high));
    assert_eq!(timeline.segments.blocks[1].addr, highest);
    assert_eq!(timeline.active.at(Moment(1)), 11);
    assert_eq!(timeline.anomalies.total(), 0);
}

#[test]
fn host_memory_is_one_more_device() {
    let host = without(&segment(0, BASE, MIB, [block("active_allocated", BASE, MIB, 9)]), &["device"]);
    let root = snapshot([segment(0, BASE, 2 * MIB, [])], [list([])]);
    let event = event("alloc", BASE, 9);
    // As one trace, and as a list of traces.
    for traces in [list([event.clone()]), list([list([event.clone()])]), list([list([]), list([event])])] {
        let snapshot =
            load_value(&with(&root, [("host_segments", list([host.clone()])), ("host_traces", traces)]));
        assert_eq!(
            snapshot.timelines.iter().map(|t| t.device).collect::<Vec<_>>(),
            [DeviceId::HOST, DeviceId(0)]
        );
        let timeline = &snapshot.timelines[0];
        assert_eq!(
            (timeline.events.len(), timeline.active.at(Moment(1)).0, timeline.reserved.at(Moment(1)).0),
            (1, 9, MIB)
        );
    }
}

#[test]
fn unknown_keys_are_kept_by_name_and_counted() {
    let odd =
        |value: &Value| with(value, [("colour", text("red")), ("weights", list([dict([("deep", int(1))])]))]);
    let segment = odd(&segment(0, BASE, MIB, [odd(&block("active_allocated", BASE, MIB, 5))]));
    let framed = with(
        &event("alloc", BASE, 5),
        [("frames", list([with(&frame("a.py", 1, "f"), [("column", int(4))])]))],
    );
    let root =
        with(&snapshot([segment], [list([odd(&framed), odd(&event("snapshot", 0, 0))])]), [("rank", int(3))]);
    let snapshot = load(&pickle(&root));
    let mut found: Vec<(&str, &str, u64)> =
        snapshot.unknown_keys.iter().map(|u| (u.record, u.key.as_str(), u.count)).collect();
    found.sort_unstable();
    let expected = [
        ("block", "colour", 1),
        ("block", "weights", 1),
        ("event", "colour", 2),
        ("event", "weights", 2),
        ("frame", "column", 1),
        ("segment", "colour", 1),
        ("segment", "weights", 1),
        ("snapshot", "rank", 1),
    ];
    assert_eq!(found, expected);
    assert_eq!((only(&snapshot).active.at(Moment(1)).0, &snapshot.damage), (5, &None));
}

/// A frame of generated code with what the compiler knows of it.
fn generated(trace: &str) -> Value {
    with(
        &frame("generated.py", 12, "forward"),
        [
            ("fx_node_op", text("call_function")),
            ("fx_node_name", text("relu_1")),
            ("fx_node_target", text("torch.relu")),
            ("fx_original_trace", text(trace)),
        ],
    )
}

#[test]
fn frames_keep_what_the_compiler_knows() {
    let (fx, plain) = (generated("model.py:3"), frame("generated.py", 12, "forward"));
    let events = [
        with(&event("alloc", BASE, 5), [("frames", list([fx.clone(), plain.clone()]))]),
        with(&event("free_requested", BASE, 5), [("frames", list([plain.clone(), plain]))]),
    ];
    let snapshot = load_value(&snapshot([], [list(events)]));
    let timeline = only(&snapshot);
    let ids = snapshot.stacks.frames(timeline.events.stack(EventIx(0)));
    let [with_fx, without_fx] = [0, 1].map(|i| snapshot.frames.get(ids[i]));
    let info = snapshot.frames.fx(with_fx).expect("FX fields");
    let read = [info.op, info.name, info.target, info.trace]
        .map(|id| id.map(|id| snapshot.strings.whole(id).into_owned()));
    let expected = ["call_function", "relu_1", "torch.relu", "model.py:3"].map(|text| Some(text.to_owned()));
    assert_eq!((read, snapshot.frames.fx(without_fx)), (expected, None));
    // The trace names no line, so nothing stands in its place. They read the same, so they count once.
    assert!(!snapshot.shows_originals(timeline.events.stack(EventIx(0))));
    assert_eq!(stats(&snapshot)[0].distinct_stacks, 1);
}

#[test]
fn original_lines_take_the_place_of_generated_code() {
    let trace = "  File \"/me/model.py\", line 44, in forward\n    x = b(x)\n        ^^^^\n  File \"/me/model.py\", line 30, in attend\n    return q @ k\n";
    let [inner, outer] = [frame("torch/_ops.py", 9, "call"), frame("/me/train.py", 56, "main")];
    let eager = [frame("/me/model.py", 30, "attend"), frame("/me/model.py", 44, "forward"), outer.clone()];
    let stacks = [list([inner, generated(trace), outer]), list(eager)];
    let allocs = (1..).zip(stacks);
    let events = allocs.map(|(at, stack)| with(&event("alloc", BASE * at, 5), [("frames", stack)]));
    let snapshot = load_value(&snapshot([], [list(events)]));
    let [compiled, eager] = [0, 1].map(|at| only(&snapshot).events.stack(EventIx(at)));
    let shown = stack(&snapshot, compiled);
    let line = |file: &str, line, name: &str| (file.to_owned(), line, name.to_owned());
    assert_eq!(shown[0], line("torch/_ops.py", 9, "call"));
    assert_eq!(shown[1..], stack(&snapshot, eager));
    let [compiled_frames, eager_frames] = [compiled, eager].map(|id| snapshot.stacks.frames(id));
    assert_eq!(compiled_frames[1..], *eager_frames);
    // What was recorded is still there.
    let recorded = snapshot.recorded_stacks().frames(compiled);
    assert_eq!(snapshot.strings.whole(snapshot.frames.get(recorded[1]).file), "generated.py");
    let with_recorded: Vec<_> =
        snapshot.frames_with_recorded(compiled).into_iter().map(|(_, recorded)| recorded).collect();
    assert_eq!(with_recorded, [None, Some(recorded[1]), None, None]);
    assert!(snapshot.shows_originals(compiled) && !snapshot.shows_originals(eager));
}

#[test]
fn metadata_of_events_is_kept() {
    let full = with(
        &event("alloc", BASE, 5),
        [
            ("category", text("gradient")),
            ("user_metadata", text("mine")),
            ("internal_metadata", text("torch's")),
            ("compile_context", text("0/0")),
            (
                "forward_frames",
                list([
                    text("  File \"a.py\", line 3, in f\n    return g(x)\n"),
                    text("  File \"a.py\", line 9, in g\n"),
                    text("    return x\n"),
                ]),
            ),
            ("pool_id", Value::Tuple(vec![int(2), int(7)])),
            ("time_us", int(1_700_000_000_000_000_i64)),
        ],
    );
    let bare = event("snapshot", 0, 0);
    let snapshot = load_value(&snapshot([], [list([bare, full])]));
    let read = only(&snapshot).events.get(EventIx(1));
    let words = [read.category, read.user_metadata, read.internal_metadata, read.compile_context];
    let words = words.map(|id| id.map(|id| snapshot.strings.whole(id).into_owned()));
    assert_eq!(words, ["gradient", "mine", "torch's", "0/0"].map(|text| Some(text.to_owned())));
    assert_eq!((read.pool, read.time_us), (Some(PoolKey(2, 7)), Some(1_700_000_000_000_000)));
    let forward: Vec<_> =
        stack(&snapshot, read.forward_stack).into_iter().map(|(_, line, name)| (line, name)).collect();
    assert_eq!(forward, [(9, "g".to_owned()), (3, "f".to_owned())]);
    let bare = only(&snapshot).events.get(EventIx(0));
    assert_eq!((bare.category, bare.pool, bare.forward_stack), (None, None, StackId::EMPTY));
}

#[test]
fn an_oom_says_what_was_free() {
    let oom = |more: &[(&str, i64)]| {
        let base = without(&event("oom", 0, 1000), &["addr"]);
        with(&base, more.iter().map(|&(key, value)| (key, int(value))))
    };
    let trace = list([oom(&[("device_free", 42)]), oom(&[("addr", 43)]), oom(&[])]);
    let snapshot = load_value(&snapshot([], [trace]));
    let free: Vec<_> = only(&snapshot)
        .ooms
        .iter()
        .map(|oom| (oom.event.0, oom.requested.0, oom.device_free.map(|free| free.0)))
        .collect();
    assert_eq!(free, [(0, 1000, Some(42)), (1, 1000, Some(43)), (2, 1000, None)]);
}

#[test]
fn unknown_actions_are_counted_by_name() {
    let events = [event("alloc", BASE, 5), event("teleport", BASE, 5), event("teleport", 1, 2)];
    let snapshot = load_value(&snapshot(
        [segment(0, BASE, MIB, [block("active_allocated", BASE, MIB, 5)])],
        [list(events)],
    ));
    let figures = &stats(&snapshot)[0];
    let actions: Vec<_> = figures.actions.iter().map(|(name, &n)| (name.as_str(), n)).collect();
    assert_eq!(actions, [("alloc", 1), ("teleport", 2)]);
    assert_eq!(figures.peak.active, 5);
    assert!(matches!(only(&snapshot).events.action(EventIx(2)), Action::Other(_)));
}

#[test]
fn values_of_an_unexpected_type_are_reported_and_left_out() {
    let events = [
        with(&event("alloc", BASE, 5), [("action", int(3))]),
        with(
            &event("alloc", BASE, 5),
            [("size", text("five")), ("stream", Value::F64(0.5)), ("frames", int(3))],
        ),
        with(&event("alloc", BASE, 5), [("late_key", int(1)), ("user_metadata", text("after the odd one"))]),
    ];
    let snapshot = load(&pickle(&with(&snapshot([], [list(events)]), [("zz_new_key", text("zz_new_text"))])));
    assert_eq!(snapshot.damage, None);
    assert_eq!(snapshot.issues.iter().map(|issue| issue.count).sum::<u64>(), 4, "{:?}", snapshot.issues);
    let timeline = only(&snapshot);
    assert_eq!(
        (timeline.events.len(), timeline.events.size(EventIx(1)).0, timeline.events.stream(EventIx(1))),
        (3, 0, None)
    );
    let last = timeline.events.get(EventIx(2));
    let text = last.user_metadata.map(|id| snapshot.strings.whole(id).into_owned());
    assert_eq!((last.action, text.as_deref()), (Action::Alloc, Some("after the odd one")));
    let unknown: Vec<_> = snapshot.unknown_keys.iter().map(|u| u.key.as_str()).collect();
    assert_eq!(unknown, ["late_key", "zz_new_key"]);
}

#[test]
fn sums_of_hostile_sizes_do_not_overflow() {
    let huge = 1i64 << 48;
    let segments = (0..40_000u64).map(|i| {
        let addr = i << 24;
        segment(0, addr, huge, [block("active_allocated", addr, huge, huge)])
    });
    let snapshot = load(&pickle(&list(segments)));
    let figures = stats(&snapshot);
    assert_eq!(figures[0].segments, 40_000);
}

#[test]
fn a_device_with_events_and_no_segments_is_followed_forwards() {
    let first = list([event("alloc", 1 << 20, 512)]);
    let second = list([
        event("alloc", 1 << 30, 4096),
        event("alloc", 2 << 30, 1024),
        event("free_requested", 2 << 30, 1024),
        event("free_completed", 2 << 30, 1024),
    ]);
    let given_back = list([event("alloc", 1 << 30, 512), event("free_completed", 1 << 30, 512)]);
    let content = snapshot([segment(0, 1 << 20, 2 << 20, [])], [first, second, given_back]);
    let found = load(&pickle(&content));
    let anchors: Vec<Anchor> = found.timelines.iter().map(|timeline| timeline.anchor).collect();
    assert_eq!(anchors, [Anchor::EndState, Anchor::TraceOnly, Anchor::EndState]);
    let second = &found.timelines[1];
    assert_eq!(second.active.at(Moment(second.events.len() as u32)), 4096);
    assert_eq!((second.active.peak().1.0, second.initial_live_blocks), (5120, 0));
}
