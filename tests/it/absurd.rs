//! Recordings that no allocator writes: sizes, addresses, times and streams at the ends of their ranges, in any order.
//!
//! These tests are built with overflow checks, so that a sum that overflows is a panic here, and a release has the same
//! arithmetic.

use crate::pickles::{block, dict, event, frame, int, list, pickle, segment, snapshot, text, with};
use crate::support::{load_bytes, run};
use oomscope_analysis::device_stats;
use oomscope_model::{Moment, Recording};
use oomscope_snapshot::load::LoadError;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_pickle::Value;

/// Sizes, times and the like: the ends of the range, and what lies near limits.
const NUMBERS: [i64; 16] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 53),
    -4096,
    -1,
    0,
    1,
    511,
    512,
    1 << 20,
    (20 << 20) + 1,
    1 << 32,
    1 << 53,
    i64::MAX / 2 + 1,
    i64::MAX - 511,
    i64::MAX,
];

const ADDRESSES: [u64; 10] =
    [0, 1, 4096, 1 << 21, (1 << 21) + 512, 1 << 47, 1 << 63, u64::MAX - 4096, u64::MAX - 1, u64::MAX];

const ACTIONS: [&str; 12] = [
    "alloc",
    "alloc",
    "free_requested",
    "free_completed",
    "free",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
    "unheard_of",
];

fn number() -> impl Strategy<Value = i64> {
    select(NUMBERS.as_slice())
}

fn address() -> impl Strategy<Value = u64> {
    select(ADDRESSES.as_slice())
}

fn absurd_event() -> impl Strategy<Value = Value> {
    (select(ACTIONS.as_slice()), address(), [number(), number(), number(), number()], 0_usize..4).prop_map(
        |(action, addr, [size, stream, time, free], stack)| {
            let frames = (0..stack).map(|at| frame("/a/train.py", size.wrapping_add(at as i64), "step"));
            let more = [
                ("stream", int(stream)),
                ("time_us", int(time)),
                ("device_free", int(free)),
                ("frames", list(frames)),
                ("segment_pool_id", Value::Tuple(vec![int(stream), int(time)])),
            ];
            with(&event(action, addr, size), more)
        },
    )
}

fn absurd_segment() -> impl Strategy<Value = Value> {
    let blocks = proptest::collection::vec(
        (
            select(["active_allocated", "active_awaiting_free", "inactive"].as_slice()),
            address(),
            number(),
            number(),
        ),
        0..4,
    );
    (0_i64..2, address(), number(), blocks).prop_map(|(device, addr, size, blocks)| {
        let blocks = blocks.into_iter().map(|(state, addr, size, asked)| block(state, addr, size, asked));
        let plain = segment(device, addr, size, blocks);
        with(&plain, [("requested_size", int(size)), ("is_expandable", Value::Bool(size % 2 == 0))])
    })
}

fn recording() -> impl Strategy<Value = Value> {
    let trace = || proptest::collection::vec(absurd_event(), 0..30).prop_map(list);
    let segments = proptest::collection::vec(absurd_segment(), 0..5);
    (segments, trace(), trace(), [number(), number()]).prop_map(|(segments, first, second, [time, size])| {
        let annotation = |stage, time| {
            dict([
                ("stage", text(stage)),
                ("name", text("epoch")),
                ("device", int(0)),
                ("time_us", int(time)),
            ])
        };
        with(
            &snapshot(segments, [first, second]),
            [
                ("external_annotations", list([annotation("START", time), annotation("END", size)])),
                (
                    "allocator_settings",
                    dict([("max_split_size", int(size)), ("garbage_collection_threshold", int(time))]),
                ),
            ],
        )
    })
}

/// Load it, and ask for what every view asks for.
fn check_model(bytes: &[u8]) {
    match load_bytes(bytes) {
        Ok(snapshot) => {
            for recording in Recording::all(&snapshot) {
                let figures = device_stats(&recording);
                assert_eq!(recording.active.len(), figures.events + 1);
                for at in 0..=recording.events.len() {
                    recording.lifetimes.live_at(Moment(at as u32)).count();
                }
            }
        }
        Err(LoadError::Internal { message, .. }) => panic!("internal error: {message}"),
        Err(_) => {}
    }
}

#[test]
fn absurd_numbers_never_overflow_in_the_model() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..600 {
        let value = recording().new_tree(&mut runner).expect("a recording").current();
        check_model(&pickle(&value));
    }
}

/// Every command that computes, about the file `FILE`.
const COMMANDS: [&str; 17] = [
    "stats FILE --modules --iterations --at end --filter size>1",
    "live FILE --at end",
    "live FILE --at peak --format csv",
    "report FILE --verbose",
    "report FILE --format html",
    "report FILE --format json --capacity 80GiB",
    "diff FILE --at-a 0 --at-b end",
    "simulate FILE --sweep --smallest-capacity",
    "simulate FILE --batch 2 --set expandable_segments=True",
    "remedies FILE",
    "ranks FILE FILE --one-gpu",
    "check FILE --no-oom --max-peak 1 --baseline FILE",
    "export FILE --format jsonl --table blocks --at end",
    "export FILE --format jsonl --table allocations",
    "export FILE --format pprof --at end",
    "export FILE --format perfetto",
    "cut FILE -o -",
];

const PICTURES: [&str; 5] = ["timeline", "curves", "segments", "segment-timeline", "stacks"];

#[test]
fn absurd_numbers_never_overflow_in_any_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("absurd.pickle");
    let name = file.to_string_lossy().into_owned();
    let mut runner = TestRunner::deterministic();
    let (mut defects, mut answers) = (Vec::new(), 0);
    for _ in 0..6 {
        let value = recording().new_tree(&mut runner).expect("a recording").current();
        std::fs::write(&file, pickle(&value)).expect("a temporary file");
        let pictures = PICTURES.map(|view| format!("render FILE -o - --size 300x200 --view {view}"));
        for command in COMMANDS.into_iter().map(str::to_owned).chain(pictures) {
            let output =
                run(command.split(' ').map(|word| if word == "FILE" { name.as_str() } else { word }));
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            answers += usize::from(output.status.success());
            if !matches!(output.status.code(), Some(0 | 1 | 3)) || errors.contains("panicked") {
                defects.push(format!("{command}: {errors}"));
            }
        }
    }
    defects.sort();
    defects.dedup();
    assert_eq!(defects, [""; 0]);
    assert!(60 < answers, "only {answers} answers");
}
