//! Diagnoses of histories that no program writes.

use super::{DiagnosisRequest, FindingId, Severity, diagnose};
use oomscope_analysis::{At, Attribution, UserRules};
use oomscope_fixtures::first;
use oomscope_fixtures::stacks::Recording;
use oomscope_model::{
    Action, Anchor, Block, BlockState, Bytes, DeviceId, Event, EventTable, Moment, PoolKey, Segment,
    SegmentTable, Snapshot, StackId, Timeline, TimelineInput,
};
use proptest::prelude::*;

/// An event in a few numbers.
type Raw = (u8, u64, i64, u32);

fn event(&(action, slot, size, stack): &Raw) -> Event {
    let actions = [
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentMap,
        Action::SegmentUnmap,
        Action::Oom,
        Action::Annotate,
    ];
    let action = actions[usize::from(action) % actions.len()];
    Event {
        action,
        addr: Some(slot << 20),
        size: Bytes(size),
        time_us: None,
        stream: Some(i64::from(stack % 2)),
        stack: StackId(stack),
        pool: (stack == 1).then_some(PoolKey(1, 0)),
        compile_context: None,
        user_metadata: None,
        internal_metadata: None,
        category: None,
        forward_stack: StackId::EMPTY,
        device_free: (action == Action::Oom).then_some(Bytes(size)),
    }
}

fn snapshot(raw: &[Raw], anchor: Anchor, end: &[(u64, i64)]) -> Snapshot {
    let mut recording = Recording::default();
    recording.stack(&["/x/torch/nn/modules/module.py:1 _call_impl", "model.py:3 forward", "train.py:9 main"]);
    recording.stack(&["/x/torch/optim/adam.py:1 step", "train.py:9 main"]);
    recording.stack(&["train.py:5 evaluate", "train.py:9 main"]);
    recording.stack(&["train.py:6 evaluate", "train.py:9 main"]);
    recording.stack(&["/x/torch/nn/modules/module.py:1 _apply", "train.py:9 main"]);
    recording.stack(&["/x/torch/autograd/graph.py:1 _engine_run_backward", "train.py:9 main"]);
    let mut snapshot = recording.finish();
    snapshot.timelines.clear();
    let mut events = EventTable::default();
    for raw in raw {
        events.push(&event(raw));
    }
    let mut segments = SegmentTable::default();
    for &(slot, size) in end {
        let bytes = Bytes(size);
        let at = segments.blocks.len();
        let state = if size % 2 == 0 { BlockState::Allocated } else { BlockState::Inactive };
        segments.blocks.push(Block {
            addr: slot << 20,
            size: bytes,
            requested: bytes,
            state,
            stack: StackId(1),
        });
        segments.segments.push(Segment {
            device: DeviceId(0),
            addr: slot << 20,
            size: bytes,
            stream: Some(0),
            pool: None,
            kind: None,
            is_expandable: slot % 2 == 0,
            stack: StackId(2),
            blocks: at..at + 1,
        });
    }
    snapshot
        .timelines
        .push(Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor }).into());
    snapshot
}

fn sizes() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0i64..(4 << 20), 1 => Just(i64::MAX), 1 => Just(i64::MIN), 1 => any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_history_is_too_odd_for_a_verdict(
        raw in proptest::collection::vec((any::<u8>(), 0u64..40, sizes(), 0u32..5), 0..120),
        end in proptest::collection::vec((0u64..40, sizes()), 0..10),
        is_anchored in any::<bool>(),
    ) {
        let anchor = if is_anchored { Anchor::EndState } else { Anchor::TraceOnly };
        let recording = first(snapshot(&raw, anchor, &end));
        let moments = [None, Some(At::Peak), Some(At::End), Some(At::Event(raw.len() as u32 / 2))];
        let attribution = Attribution::of(&recording, &UserRules::default());
        for at in moments {
            let request = DiagnosisRequest { at, device_memory: Some(Bytes(1 << 30)), ..DiagnosisRequest::default() };
            let Ok(found) = diagnose(&recording, &attribution, request) else {
                continue;
            };
            prop_assert!(found.verdict().is_some_and(|verdict| verdict.id.kind().section == "the-verdict"));
            prop_assert!(found.at.moment <= Moment(raw.len() as u32));
            let severities: Vec<Severity> = found.findings[1..].iter().map(|finding| finding.severity).collect();
            prop_assert!(severities.is_sorted_by(|a, b| b <= a));
        }
    }
}

/// A program that calls no model: each repetition allocates, frees something, and may keep a result.
fn repetitions(n: u64, keeps: bool) -> Vec<Raw> {
    let mut raw: Vec<Raw> = Vec::new();
    let alloc = |slot, stack| [(3, slot, 1 << 20, stack), (0, slot, 1 << 20, stack)];
    for at in 0..n {
        raw.extend(alloc(1000, 3));
        if keeps {
            raw.extend(alloc(at, 4));
        }
        raw.extend([(1, 1000, 1 << 20, 3), (2, 1000, 1 << 20, 3), (4, 1000, 1 << 20, 3)]);
    }
    raw
}

#[test]
fn what_each_repetition_leaves_behind_is_a_leak_when_memory_runs_out() {
    let verdict = |keeps| {
        let mut raw = repetitions(20, keeps);
        raw.push((7, 0, 4 << 20, 2));
        let end: Vec<(u64, i64)> = (0..if keeps { 20 } else { 0 }).map(|slot| (slot, 1 << 20)).collect();
        let recording = first(snapshot(&raw, Anchor::EndState, &end));
        let attribution = Attribution::of(&recording, &UserRules::default());
        let found = diagnose(&recording, &attribution, DiagnosisRequest::default()).expect("an OOM");
        found.findings[0].clone()
    };
    let leak = verdict(true);
    assert_ne!(verdict(false).id, FindingId::Leak);
    assert_eq!(leak.id, FindingId::Leak);
    assert_eq!(
        leak.evidence.sites.first().map(|site| (site.file.as_str(), site.line)),
        Some(("train.py", 6))
    );
}

/// The verdict on a run out of memory that has made these blocks, all by one line, and still has some.
fn verdict_on(raw: &mut Vec<Raw>, live: &[u64]) -> FindingId {
    raw.push((7, 0, 4 << 20, 2));
    let end: Vec<(u64, i64)> = live.iter().map(|&slot| (slot, 1 << 20)).collect();
    let recording = first(snapshot(raw, Anchor::EndState, &end));
    let attribution = Attribution::of(&recording, &UserRules::default());
    let found = diagnose(&recording, &attribution, DiagnosisRequest::default()).expect("an OOM");
    found.findings[0].id
}

fn made(slot: u64) -> [Raw; 2] {
    [(3, slot, 1 << 20, 4), (0, slot, 1 << 20, 4)]
}

fn gone(slot: u64) -> [Raw; 3] {
    [(1, slot, 1 << 20, 4), (2, slot, 1 << 20, 4), (4, slot, 1 << 20, 4)]
}

#[test]
fn a_line_that_keeps_one_of_three_results_leaks() {
    let mut raw: Vec<Raw> = Vec::new();
    let repetitions = 20;
    for at in 0..repetitions {
        for of_line in [1000, 2000] {
            raw.extend(made(of_line + at));
            if 0 < at {
                raw.extend(gone(of_line + at - 1));
            }
        }
        raw.extend(made(at));
    }
    let live: Vec<u64> = (0..repetitions).chain([1000 + repetitions - 1, 2000 + repetitions - 1]).collect();
    assert_eq!(verdict_on(&mut raw, &live), FindingId::Leak);
}

#[test]
fn the_last_few_results_and_the_first_are_no_leak() {
    let mut raw: Vec<Raw> = Vec::new();
    let (repetitions, kept) = (60, 12);
    for at in 0..repetitions {
        raw.extend(made(at));
        if kept < at {
            raw.extend(gone(at - kept));
        }
    }
    let live: Vec<u64> = std::iter::once(0).chain(repetitions - kept..repetitions).collect();
    assert_ne!(verdict_on(&mut raw, &live), FindingId::Leak);
}

#[test]
fn gradients_of_earlier_backwards_are_not_on_their_way() {
    let says_so = |repetitions: &[u64]| {
        let mut raw: Vec<Raw> = vec![(3, 0, 100 << 20, 5), (0, 0, 10 << 20, 5)];
        let mut slot = 100;
        for &gradients in repetitions {
            raw.push((0, slot, 4 << 10, 1));
            raw.extend((1..=gradients).map(|at| (0, slot + 10 * at, 8 << 20, 6)));
            slot += 1000;
        }
        let recording = first(snapshot(&raw, Anchor::TraceOnly, &[]));
        let attribution = Attribution::of(&recording, &UserRules::default());
        let request = DiagnosisRequest { at: Some(At::End), ..DiagnosisRequest::default() };
        let found = diagnose(&recording, &attribution, request).expect("a moment");
        let breakdown =
            found.findings.iter().find(|finding| finding.id == FindingId::Breakdown).expect("a breakdown");
        breakdown.explanation.iter().any(|line| line.text().contains("on their way"))
    };
    assert!(says_so(&[3]), "one backward makes them all");
    assert!(!says_so(&[1, 1, 1]), "each makes fewer than there are parameters");
    assert!(says_so(&[1, 3]));
}
