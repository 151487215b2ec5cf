//! Random histories: what is written is what is read, at every moment.
//!
//! A small allocator plays random requests forwards and notes its state after each event; that is
//! the naive truth. The start of the history may be dropped, as a ring buffer does. The rest is
//! pickled by serde-pickle and loaded.

use crate::pickles::{block, dict, event, frame, int, list, pickle, pickle_2, segment, snapshot, text, with};
use crate::support::load_bytes;
use oomscope_model::{
    Action, AllocId, Anchor, Bytes, DeviceId, EventIx, Moment, Origin, PoolKey, Recording, Snapshot, Timeline,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_pickle::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of a page: the places at which blocks and mapped memory start.
const PAGE: i64 = 1 << 20;

/// Pages of each region of addresses. Even regions hold one segment, odd ones an expandable segment.
const PAGES: u64 = 6;

const REGIONS: u64 = 4;

/// Where a device's addresses start; the second device's are beyond 2^63.
fn base(device: usize) -> u64 {
    [0x7f00_0000_0000, (1 << 63) + (1 << 30), 0x1000_0000][device]
}

/// One random request; what it means depends on the state.
type Request = (u8, u8, u8, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Live {
    size: i64,
    awaiting: bool,
    /// The event that allocated it, as an index into the whole history.
    alloc: Option<usize>,
}

/// One device's memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    /// Pages that are reserved, by address.
    pages: BTreeSet<u64>,
    live: BTreeMap<u64, Live>,
}

#[derive(Debug, Clone, PartialEq)]
struct Written {
    action: &'static str,
    addr: u64,
    size: i64,
    time_us: i64,
    stream: i64,
    stack: usize,
    pool: Option<(i64, i64)>,
    tag: Option<usize>,
    device_free: Option<i64>,
}

/// A device's whole history: the events, and the state before the first and after each.
#[derive(Debug, Clone)]
struct History {
    device: usize,
    events: Vec<Written>,
    states: Vec<State>,
}

const STACKS: [&[(&str, i64, &str)]; 4] = [
    &[],
    &[("/a.py", 1, "f")],
    &[("/a.py", 1, "f"), ("/b.py", 2, "main")],
    &[("/ünï.py", -3, "<lambda>"), ("/b.py", 2, "main"), ("/b.py", 2, "main")],
];

const TAGS: [&str; 3] = ["", "step 3", "häßlich"];

fn region_of(device: usize, addr: u64) -> u64 {
    (addr - base(device)) / (PAGES * PAGE as u64)
}

impl History {
    fn new(device: usize) -> Self {
        Self { device, events: Vec::new(), states: vec![State::default()] }
    }

    fn page(&self, region: u64, page: u64) -> u64 {
        base(self.device) + (region * PAGES + page) * PAGE as u64
    }

    /// Carry a request out if the state allows it.
    fn request(&mut self, (op, a, b, size): Request) {
        let mut state = self.states.last().expect("there is a first state").clone();
        let region = u64::from(a) % REGIONS;
        let is_expandable = region % 2 == 1;
        let pick = |candidates: Vec<u64>| candidates.get(usize::from(b) % candidates.len().max(1)).copied();
        let is_free = |state: &State, page: &u64| !state.live.contains_key(page);
        let pages_of = |pages: &BTreeSet<u64>| -> Vec<u64> {
            pages.iter().copied().filter(|&page| region_of(self.device, page) == region).collect()
        };
        let here = pages_of(&state.pages);
        let (action, addr, size) = match op % 16 {
            0 | 1 if !is_expandable && here.is_empty() => {
                let n = 1 + u64::from(b) % PAGES;
                state.pages.extend((0..n).map(|i| self.page(region, i)));
                ("segment_alloc", self.page(region, 0), n as i64 * PAGE)
            }
            2 if !is_expandable && !here.is_empty() && here.iter().all(|page| is_free(&state, page)) => {
                state.pages.retain(|page| !here.contains(page));
                ("segment_free", here[0], here.len() as i64 * PAGE)
            }
            0..=2 if is_expandable => {
                // Pages next to each other that can all be mapped or unmapped.
                let start = u64::from(b) % PAGES;
                let most = 1 + u64::from(b) / 8 % PAGES;
                let is_mapped = state.pages.contains(&self.page(region, start));
                let fits = |page: &u64| state.pages.contains(page) == is_mapped && is_free(&state, page);
                let run: Vec<u64> =
                    (start..PAGES.min(start + most)).map(|i| self.page(region, i)).take_while(fits).collect();
                let Some(&first) = run.first() else { return };
                for page in &run {
                    if is_mapped {
                        state.pages.remove(page);
                    } else {
                        state.pages.insert(*page);
                    }
                }
                (if is_mapped { "segment_unmap" } else { "segment_map" }, first, run.len() as i64 * PAGE)
            }
            3..=8 => {
                let free = state.pages.iter().copied().filter(|page| is_free(&state, page)).collect();
                let Some(addr) = pick(free) else { return };
                let size = i64::from(size) % PAGE;
                state.live.insert(addr, Live { size, awaiting: false, alloc: Some(self.events.len()) });
                ("alloc", addr, size)
            }
            9..=11 => {
                let Some(addr) = pick(held(&state, false)) else { return };
                let live = state.live.get_mut(&addr).expect("it is live");
                live.awaiting = true;
                ("free_requested", addr, live.size)
            }
            12..=13 => {
                let Some(addr) = pick(held(&state, true)) else { return };
                let live = state.live.remove(&addr).expect("it is live");
                ("free_completed", addr, live.size)
            }
            14 => ("oom", 0, i64::from(size)),
            _ => ("snapshot", 0, 0),
        };
        let i = self.events.len() as i64;
        self.events.push(Written {
            action,
            addr,
            size,
            time_us: 1_700_000_000_000_000 + i * 10 + i64::from(b) % 3,
            stream: [0, 0, 7, 1 << 40][usize::from(b) % 4],
            stack: usize::from(a) / 16 % STACKS.len(),
            pool: [Some((0, 0)), Some((0, 0)), Some((0, 3)), None][usize::from(b) / 4 % 4],
            tag: (a % 5 == 0).then_some(usize::from(b) % TAGS.len()),
            device_free: (action == "oom").then_some(size * 3),
        });
        self.states.push(state);
    }

    /// Leave out the first events, as a full ring buffer does.
    fn drop_first(&mut self, n: usize) {
        let n = n.min(self.events.len());
        self.events.drain(..n);
        self.states.drain(..n);
        for live in self.states.iter_mut().flat_map(|state| state.live.values_mut()) {
            live.alloc = live.alloc.and_then(|i| i.checked_sub(n));
        }
    }

    fn end(&self) -> &State {
        self.states.last().expect("there is a first state")
    }

    /// The final state as torch writes it: a segment per region, or per run of mapped pages.
    fn segments(&self) -> Vec<Value> {
        let end = self.end();
        let mut runs: Vec<Vec<u64>> = Vec::new();
        for &page in &end.pages {
            match runs.last_mut() {
                Some(run)
                    if run.last().is_some_and(|last| last + PAGE as u64 == page)
                        && region_of(self.device, run[0]) == region_of(self.device, page) =>
                {
                    run.push(page);
                }
                _ => runs.push(vec![page]),
            }
        }
        let write = |run: Vec<u64>| {
            let blocks = run.iter().map(|&page| match end.live.get(&page) {
                Some(live) if live.awaiting => block("active_pending_free", page, PAGE, live.size),
                Some(live) => block("active_allocated", page, PAGE, live.size),
                None => block("inactive", page, PAGE, 0),
            });
            let is_expandable = region_of(self.device, run[0]) % 2 == 1;
            let blocks: Vec<Value> = blocks.collect();
            let segment = segment(self.device as i64, run[0], run.len() as i64 * PAGE, blocks);
            with(&segment, [("is_expandable", Value::Bool(is_expandable))])
        };
        runs.into_iter().map(write).collect()
    }

    fn trace(&self) -> Value {
        list(self.events.iter().map(write_event))
    }
}

/// Addresses of the live blocks that wait for a stream, or of those that do not.
fn held(state: &State, awaiting: bool) -> Vec<u64> {
    state.live.iter().filter(|(_, live)| live.awaiting == awaiting).map(|(&addr, _)| addr).collect()
}

fn write_event(e: &Written) -> Value {
    let frames = list(STACKS[e.stack].iter().map(|&(file, line, name)| frame(file, line, name)));
    let mut value = with(
        &event(e.action, e.addr, e.size),
        [("stream", int(e.stream)), ("time_us", int(e.time_us)), ("frames", frames)],
    );
    if let Some((a, b)) = e.pool {
        value = with(&value, [("pool_id", Value::Tuple(vec![int(a), int(b)]))]);
    }
    if let Some(tag) = e.tag {
        value = with(&value, [("user_metadata", text(TAGS[tag])), ("category", text("activation"))]);
    }
    if let Some(free) = e.device_free {
        value = with(&value, [("device_free", int(free))]);
    }
    value
}

fn write_snapshot(histories: &[History]) -> Value {
    snapshot(histories.iter().flat_map(History::segments), histories.iter().map(History::trace))
}

/// Up to three devices' histories from random requests.
fn histories() -> impl Strategy<Value = Vec<History>> {
    let request = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u32>());
    let device = (vec(request, 0..160), prop_oneof![Just(0usize), 0usize..60]);
    vec(device, 1..=3).prop_map(|devices| {
        let play = |(device, (requests, dropped)): (usize, (Vec<Request>, usize))| {
            let mut history = History::new(device);
            for request in requests {
                history.request(request);
            }
            history.drop_first(dropped);
            history
        };
        devices.into_iter().enumerate().map(play).collect()
    })
}

fn load(value: &Value) -> Arc<Snapshot> {
    let loaded = load_bytes(&pickle(value)).expect("a whole snapshot loads");
    assert_eq!((&loaded.damage, &loaded.unknown_keys, &loaded.issues), (&None, &vec![], &vec![]));
    loaded
}

/// The recording of a history, which is missing if there is nothing to say about the device.
fn recording(snapshot: &Arc<Snapshot>, history: &History) -> Option<Recording> {
    let recording = Recording::of_device(snapshot, DeviceId(history.device as i64));
    let is_expected = !history.events.is_empty() || !history.end().pages.is_empty();
    assert_eq!(recording.is_some(), is_expected);
    recording
}

fn moments(timeline: &Timeline) -> impl Iterator<Item = Moment> + use<> {
    (0..timeline.moments() as u32).map(Moment)
}

/// What is live at a moment: address to size and allocating event.
fn live_set(timeline: &Timeline, ids: impl Iterator<Item = AllocId>) -> BTreeMap<u64, (i64, Option<usize>)> {
    let mut out = BTreeMap::new();
    for id in ids {
        let a = timeline.lifetimes.get(id, &timeline.events);
        let before = out.insert(a.addr, (a.size.0, a.alloc_event().map(EventIx::index)));
        assert_eq!(before, None, "two live allocations at {:#x}", a.addr);
    }
    out
}

fn check_events(recording: &Recording, history: &History) {
    let snapshot = recording.snapshot();
    assert_eq!(recording.events.len(), history.events.len());
    for (ix, written) in recording.events.indices().zip(&history.events) {
        let read = recording.events.get(ix);
        let string = |id: Option<_>| id.map(|id| snapshot.strings.whole(id).into_owned());
        let stack: Vec<(String, i64, String)> = snapshot
            .stacks
            .frames(read.stack)
            .iter()
            .map(|&id| snapshot.frames.get(id))
            .map(|f| {
                (string(Some(f.file)).unwrap_or_default(), f.line, string(Some(f.name)).unwrap_or_default())
            })
            .collect();
        let found = Written {
            action: written.action,
            addr: read.addr.expect("an address"),
            size: read.size.0,
            time_us: read.time_us.expect("a time"),
            stream: read.stream.expect("a stream"),
            stack: written.stack,
            pool: read.pool.map(|PoolKey(a, b)| (a, b)),
            tag: string(read.user_metadata).and_then(|tag| TAGS.iter().position(|&t| t == tag)),
            device_free: read.device_free.map(|free| free.0),
        };
        assert_eq!(&found, written);
        assert_eq!(snapshot.actions.name(read.action, &snapshot.strings), written.action);
        let expected =
            STACKS[written.stack].iter().map(|&(file, line, name)| (file.to_owned(), line, name.to_owned()));
        assert_eq!(stack, expected.collect::<Vec<_>>());
        assert_eq!(string(read.category).is_some(), written.tag.is_some());
        assert_eq!((read.internal_metadata, read.compile_context), (None, None));
    }
}

/// Bytes that are active, allocated and reserved.
fn totals(state: &State) -> (i64, i64, i64) {
    let active = state.live.values().map(|live| live.size).sum();
    let allocated = state.live.values().filter(|live| !live.awaiting).map(|live| live.size).sum();
    (active, allocated, state.pages.len() as i64 * PAGE)
}

fn check_moments(timeline: &Timeline, history: &History) {
    for (moment, state) in moments(timeline).zip(&history.states) {
        let expected: BTreeMap<_, _> =
            state.live.iter().map(|(&addr, l)| (addr, (l.size, l.alloc))).collect();
        let found = live_set(timeline, timeline.lifetimes.live_at(moment));
        assert_eq!(found, expected, "live at {moment:?}");
        for id in timeline.lifetimes.live_at(moment) {
            let a = timeline.lifetimes.get(id, &timeline.events);
            assert_eq!(a.is_awaiting_at(moment), state.live[&a.addr].awaiting, "{a:?} at {moment:?}");
        }
        let found =
            (timeline.active.at(moment).0, timeline.allocated.at(moment).0, timeline.reserved.at(moment).0);
        assert_eq!(found, totals(state), "active, allocated and reserved at {moment:?}");
        let mut pages = BTreeSet::new();
        for range in timeline.ranges.live_at(moment) {
            assert_eq!(range.size.0 % PAGE, 0);
            let is_odd = region_of(history.device, range.addr) % 2 == 1;
            assert_eq!(range.is_expandable, is_odd);
            for i in 0..range.size.0 / PAGE {
                assert!(pages.insert(range.addr + (i * PAGE) as u64), "ranges overlap at {moment:?}");
            }
        }
        assert_eq!(pages, state.pages, "reserved at {moment:?}");
    }
    assert_eq!(timeline.initial_live_blocks, history.states[0].live.len());
    let before = timeline.lifetimes.live_at(Moment::START);
    assert!(before.into_iter().all(|id| timeline.lifetimes.origin(id) == Origin::Before));
    let peak = history.states.iter().map(|state| totals(state).0).max().expect("there is a state");
    let at = history.states.iter().position(|state| totals(state).0 == peak).expect("it is one of them");
    assert_eq!(timeline.active.peak(), (Moment(at as u32), Bytes(peak)));
    assert_eq!(timeline.peak_live_blocks, history.states[at].live.len());
    assert_eq!(timeline.anomalies.total(), 0, "{:?}", timeline.anomalies);
}

/// What is live at any moment of a range, for some ranges.
fn check_ranges(timeline: &Timeline, history: &History) {
    let n = history.states.len();
    for (first, last) in [(0, n - 1), (0, 0), (n - 1, n - 1), (n / 3, n / 2), (n / 2, n - 1)] {
        let mut expected = BTreeSet::new();
        for state in &history.states[first..=last] {
            // An address holds blocks from before the trace only once.
            expected.extend(state.live.iter().map(|(&addr, live)| (addr, live.alloc)));
        }
        let ids: Vec<AllocId> =
            timeline.lifetimes.live_between(Moment(first as u32), Moment(last as u32)).collect();
        assert!(ids.is_sorted());
        let get = |&id: &AllocId| timeline.lifetimes.get(id, &timeline.events);
        let found: Vec<_> =
            ids.iter().map(get).map(|a| (a.addr, a.alloc_event().map(EventIx::index))).collect();
        assert_eq!(found.len(), expected.len(), "live from {first} to {last}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "live from {first} to {last}");
    }
    for ix in timeline.events.indices() {
        let allocation = timeline.lifetimes.of_alloc_event(ix);
        assert_eq!(allocation.is_some(), timeline.events.action(ix) == Action::Alloc);
        assert!(allocation.is_none_or(|id| timeline.lifetimes.origin(id) == Origin::Event(ix)));
    }
}

/// The figures of a trace that may contradict itself: the arbiter's backward loop, word by word.
#[derive(Debug, PartialEq)]
struct Rewound {
    /// Active, allocated and reserved bytes and live blocks per moment.
    curve: Vec<(i64, i64, i64, usize)>,
    anomalies: BTreeMap<&'static str, u64>,
    initial: BTreeMap<u64, i64>,
}

fn rewind(history: &History) -> Rewound {
    let end = history.end();
    let mut live: BTreeMap<u64, (i64, bool)> =
        end.live.iter().map(|(&addr, l)| (addr, (l.size, l.awaiting))).collect();
    let (mut active, mut allocated, mut reserved) = totals(end);
    let mut anomalies: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut curve = Vec::new();
    for e in history.events.iter().rev() {
        curve.push((active, allocated, reserved, live.len()));
        let mut odd = |kind| *anomalies.entry(kind).or_default() += 1;
        match e.action {
            "alloc" => match live.remove(&e.addr) {
                None => odd("alloc_of_block_not_live_after"),
                Some((size, awaiting)) => {
                    active -= size;
                    allocated -= if awaiting { 0 } else { size };
                    if size != e.size {
                        odd("alloc_size_differs");
                    }
                }
            },
            "free_completed" => {
                if let Entry::Vacant(slot) = live.entry(e.addr) {
                    slot.insert((e.size, true));
                    active += e.size;
                } else {
                    odd("free_completed_of_block_live_after");
                }
            }
            "free_requested" => match live.get_mut(&e.addr) {
                None => odd("free_requested_without_completion"),
                Some((_, false)) => odd("free_requested_of_block_still_allocated_after"),
                Some((size, awaiting)) => {
                    *awaiting = false;
                    allocated += *size;
                }
            },
            "segment_alloc" | "segment_map" => reserved -= e.size,
            "segment_free" | "segment_unmap" => reserved += e.size,
            _ => {}
        }
    }
    curve.push((active, allocated, reserved, live.len()));
    curve.reverse();
    Rewound { curve, anomalies, initial: live.into_iter().map(|(addr, (size, _))| (addr, size)).collect() }
}

/// A change that makes a history contradict itself.
type Damage = (u8, u16, u16);

fn contradict(history: &mut History, (kind, at, other): Damage) {
    let n = history.events.len();
    if n == 0 {
        return;
    }
    let (at, other) = (usize::from(at) % n, usize::from(other) % n);
    match kind % 6 {
        0 => _ = history.events.remove(at),
        1 => history.events.insert(at, history.events[other].clone()),
        2 => history.events.swap(at, other),
        3 => history.events[at].addr = history.events[other].addr,
        4 => history.events[at].size = history.events[other].size + 1,
        _ => {
            const ACTIONS: [&str; 4] = ["alloc", "free_requested", "free_completed", "snapshot"];
            history.events[at].action = ACTIONS[other % ACTIONS.len()];
        }
    }
}

fn check_contradictions(timeline: &Timeline, history: &History) {
    // Where other devices have segments and this one has none, it is followed forwards: there is no end to contradict.
    if timeline.anchor == Anchor::TraceOnly {
        assert!(history.segments().is_empty());
        return;
    }
    let expected = rewind(history);
    let blocks = timeline.anomalies.iter().filter(|(anomaly, _)| anomaly.is_about_blocks());
    let found = Rewound {
        curve: moments(timeline)
            .zip(&expected.curve)
            .map(|(m, e)| {
                (timeline.active.at(m).0, timeline.allocated.at(m).0, timeline.reserved.at(m).0, e.3)
            })
            .collect(),
        anomalies: blocks.map(|(anomaly, n)| (anomaly.name(), n)).collect(),
        initial: live_set(timeline, timeline.lifetimes.live_at(Moment::START))
            .into_iter()
            .map(|(addr, (size, _))| (addr, size))
            .collect(),
    };
    assert_eq!(found, expected);
    assert_eq!(timeline.initial_live_blocks, expected.curve[0].3);
    let (peak, _) = timeline.active.peak();
    assert_eq!(timeline.peak_live_blocks, expected.curve[peak.index()].3);
    // The live set goes forwards from the initial state.
    let mut live: BTreeMap<u64, (i64, Option<usize>)> =
        expected.initial.iter().map(|(&addr, &size)| (addr, (size, None))).collect();
    assert_eq!(live_set(timeline, timeline.lifetimes.live_at(Moment::START)), live);
    for (i, e) in history.events.iter().enumerate() {
        match e.action {
            "alloc" => _ = live.insert(e.addr, (e.size, Some(i))),
            "free_completed" => _ = live.remove(&e.addr),
            _ => {}
        }
        let moment = Moment(i as u32 + 1);
        assert_eq!(live_set(timeline, timeline.lifetimes.live_at(moment)), live, "live at {moment:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_reads_back_to_the_same_model(histories in histories()) {
        let value = write_snapshot(&histories);
        let snapshot = load(&value);
        for history in &histories {
            let Some(recording) = recording(&snapshot, history) else { continue };
            check_events(&recording, history);
            check_moments(&recording, history);
            check_ranges(&recording, history);
        }
        let again = load_bytes(&pickle_2(&value)).expect("a whole snapshot loads");
        prop_assert_eq!(again.timelines.len(), snapshot.timelines.len());
    }

    #[test]
    fn contradictions_are_counted_as_the_arbiter_counts_them(
        histories in histories(),
        damage in vec(any::<Damage>(), 1..12),
    ) {
        let mut histories = histories;
        for (i, &damage) in damage.iter().enumerate() {
            let n = histories.len();
            contradict(&mut histories[i % n], damage);
        }
        let snapshot = load(&write_snapshot(&histories));
        for history in &histories {
            let Some(recording) = recording(&snapshot, history) else { continue };
            check_contradictions(&recording, history);
        }
    }

    #[test]
    fn strings_and_numbers_of_any_kind_survive(
        words in vec(".*", 1..20),
        numbers in vec(any::<i64>(), 1..20),
        addresses in vec(any::<u64>(), 1..20),
    ) {
        let n = words.len().min(numbers.len()).min(addresses.len());
        let events = (0..n).map(|i| {
            let addr = addresses[i].min(u64::MAX - 1);
            let frames = list([frame(&words[i], numbers[i], &words[n - 1 - i])]);
            let event = with(&event("alloc", addr, 1), [("frames", frames), ("time_us", int(numbers[i].max(i64::MIN + 1)))]);
            with(&event, [("compile_context", text(&words[i])), ("stream", int(numbers[i]))])
        });
        let settings = dict(words.iter().map(|word| (word.as_str(), text(word))));
        let value = with(&snapshot([], [list(events)]), [("allocator_settings", settings)]);
        let snapshot = load(&value);
        let timeline = &snapshot.timelines[0];
        for i in 0..n {
            let read = timeline.events.get(EventIx(i as u32));
            let string = |id| snapshot.strings.whole(id).into_owned();
            let frame = snapshot.frames.get(snapshot.stacks.frames(read.stack)[0]);
            prop_assert_eq!(read.addr, Some(addresses[i].min(u64::MAX - 1)));
            prop_assert_eq!(read.time_us, Some(numbers[i].max(i64::MIN + 1)));
            prop_assert_eq!(read.stream, Some(numbers[i]));
            prop_assert_eq!(read.compile_context.map(string), Some(words[i].clone()));
            prop_assert_eq!((string(frame.file), frame.line), (words[i].clone(), numbers[i]));
            prop_assert_eq!(string(frame.name), words[n - 1 - i].clone());
        }
    }
}
