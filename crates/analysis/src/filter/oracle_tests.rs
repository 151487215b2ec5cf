//! Random recordings and queries against a slow and plain reading of both.

use super::fixture::Recording;
use super::{EventQuery, EventSearch, Filter, Matches, Problem};
use crate::{Attribution, Phase, Phases, UserRules, lanes, site_label, stack_lines};
use oomscope_fixtures::programs::{Program, train};
use oomscope_model::{
    Action, Allocation, Anchor, Bytes, Event, EventIx, Moment, PoolKey, Snapshot, StackId, StrId, Timeline,
};
use proptest::prelude::*;

/// A term that allocations and events can be asked, and that the generator knows the meaning of.
#[derive(Debug, Clone)]
enum Plain {
    MoreThan(i64),
    Between(i64, i64),
    Stack(&'static str),
    Site(&'static str),
    Stream(i64),
    Private,
    Contains(u64),
    MetaHas(&'static str),
    Within(i64, i64),
    After(u32),
    BeforeEvent(u32),
}

/// A term that only allocations can be asked.
#[derive(Debug, Clone)]
enum OfAllocation {
    Common(Plain),
    LifetimeUnderUs(i64),
    LifetimeOverEvents(i64),
    Kept,
    Before,
    Live,
    Awaiting,
    LiveAfter(u32),
}

/// A term that only events can be asked.
#[derive(Debug, Clone)]
enum OfEvent {
    Common(Plain),
    Action(&'static str),
    /// Plain words, one of which is enough.
    Words(Vec<&'static str>),
    Quoted(&'static str),
}

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![
        (0i64..5000).prop_map(Plain::MoreThan),
        (0i64..5000, 0i64..5000).prop_map(|(a, b)| Plain::Between(a.min(b), a.max(b))),
        prop::sample::select(vec!["f0", "f1", "f2", "m.py:3", "py:3 f", "none", "oom"])
            .prop_map(Plain::Stack),
        prop::sample::select(vec!["f0", "m.py:3", "no stack"]).prop_map(Plain::Site),
        (0i64..3).prop_map(Plain::Stream),
        Just(Plain::Private),
        (0u64..30).prop_map(|slot| Plain::Contains(0x1000 + slot * 500)),
        prop::sample::select(vec!["alpha", "beta"]).prop_map(Plain::MetaHas),
        (0i64..60, 0i64..60).prop_map(|(a, b)| Plain::Within(a.min(b), a.max(b))),
        (0u32..60).prop_map(Plain::After),
        (0u32..60).prop_map(Plain::BeforeEvent),
    ]
}

fn of_allocation() -> impl Strategy<Value = OfAllocation> {
    prop_oneof![
        10 => plain().prop_map(OfAllocation::Common),
        1 => (0i64..20_000).prop_map(OfAllocation::LifetimeUnderUs),
        1 => (0i64..30).prop_map(OfAllocation::LifetimeOverEvents),
        1 => Just(OfAllocation::Kept),
        1 => Just(OfAllocation::Before),
        1 => Just(OfAllocation::Live),
        1 => Just(OfAllocation::Awaiting),
        1 => (0u32..20).prop_map(OfAllocation::LiveAfter),
    ]
}

fn of_event() -> impl Strategy<Value = OfEvent> {
    const NAMES: [&str; 8] = ["alloc", "FREE", "free_completed", "oom", "free_", "segment", "f1", "n.py:3"];
    prop_oneof![
        5 => plain().prop_map(OfEvent::Common),
        1 => prop::sample::select(NAMES.to_vec()).prop_map(OfEvent::Action),
        2 => prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..4).prop_map(OfEvent::Words),
        1 => prop::sample::select(NAMES.to_vec()).prop_map(OfEvent::Quoted),
    ]
}

/// The answers of an allocation or event to the terms that both can be asked.
struct Row {
    addr: Option<u64>,
    size: i64,
    stack: StackId,
    stream: Option<i64>,
    pool: Option<PoolKey>,
    metadata: Option<StrId>,
    /// -1 where no event made it.
    event: i64,
}

impl Plain {
    fn text(&self) -> String {
        match self {
            Self::MoreThan(bytes) if bytes % 2 == 0 => format!(">{bytes}"),
            Self::MoreThan(bytes) => format!("size>{bytes}"),
            Self::Between(a, b) => format!("size:{a}..{b}B"),
            Self::Stack(text) => format!("stack:{text:?}"),
            Self::Site(text) => format!("site:\"{text}\""),
            Self::Stream(stream) => format!("stream:{stream}"),
            Self::Private => "pool:private".to_owned(),
            Self::Contains(addr) if addr % 1000 == 96 => format!("{addr:#x}"),
            Self::Contains(addr) => format!("addr:{addr:#x}"),
            Self::MetaHas(text) => format!("meta:{text}"),
            Self::Within(a, b) if a == b => format!("#{a}"),
            Self::Within(a, b) => format!("event:{a}..{b}"),
            Self::After(event) => format!("after:{event}"),
            Self::BeforeEvent(event) => format!("before:{event}"),
        }
    }

    fn holds(&self, snapshot: &Snapshot, row: &Row) -> bool {
        match *self {
            Self::MoreThan(bytes) => bytes < row.size,
            Self::Between(first, last) => first <= row.size && row.size <= last,
            Self::Stack(text) => has_frame(snapshot, row.stack, text),
            Self::Site(text) => site_label(snapshot, row.stack).to_lowercase().contains(text),
            Self::Stream(stream) => row.stream == Some(stream),
            Self::Private => row.pool.is_some_and(|pool| pool != PoolKey(0, 0)),
            Self::Contains(addr) => {
                row.addr.is_some_and(|start| (start..start + row.size.max(1) as u64).contains(&addr))
            }
            Self::MetaHas(text) => row.metadata.is_some_and(|id| snapshot.strings.whole(id).contains(text)),
            Self::Within(first, last) => first <= row.event && row.event <= last,
            Self::After(event) => i64::from(event) < row.event,
            Self::BeforeEvent(event) => row.event < i64::from(event),
        }
    }
}

fn has_frame(snapshot: &Snapshot, stack: StackId, text: &str) -> bool {
    stack_lines(snapshot, stack).any(|line| line.to_lowercase().contains(&text.to_lowercase()))
}

/// The pool of the memory that lies around an address.
fn pool_around(timeline: &Timeline, addr: u64, at: Moment) -> Option<PoolKey> {
    let mut ranges = timeline.ranges.all().iter().filter(|range| range.is_live_at(at));
    let lies_in = |start: u64, size: i64| start <= addr && addr < start + size as u64;
    ranges
        .find(|range| range.pool.is_some() && lies_in(range.addr, range.size.0))
        .and_then(|range| range.pool)
}

impl OfAllocation {
    fn text(&self) -> String {
        match self {
            Self::Common(term) => term.text(),
            Self::LifetimeUnderUs(us) => format!("lifetime<{us}us"),
            Self::LifetimeOverEvents(events) => format!("lifetime>{events}events"),
            Self::Kept => "kept".to_owned(),
            Self::Before => "before".to_owned(),
            Self::Live => "live".to_owned(),
            Self::Awaiting => "awaiting".to_owned(),
            Self::LiveAfter(event) => format!("live:{event}"),
        }
    }

    fn holds(&self, recording: &oomscope_model::Recording, a: &Allocation, cursor: Moment) -> bool {
        let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
        let made = a.alloc_event().map(|ix| timeline.events.get(ix));
        let is_live = |at: Moment| a.start <= at && a.end.is_none_or(|end| at < end);
        match self {
            Self::Common(term) => {
                let row = Row {
                    addr: Some(a.addr),
                    size: a.size.0,
                    stack: a.stack,
                    stream: a.stream,
                    pool: a.pool.or_else(|| pool_around(timeline, a.addr, a.start)),
                    metadata: made.and_then(|made| made.user_metadata),
                    event: a.alloc_event().map_or(-1, |ix| i64::from(ix.0)),
                };
                term.holds(snapshot, &row)
            }
            Self::LifetimeUnderUs(us) => {
                let freed = a.end.and_then(Moment::event).and_then(|ix| timeline.events.time_us(ix));
                let times = made.and_then(|made| made.time_us).zip(freed);
                times.is_some_and(|(made, freed)| freed - made < *us)
            }
            Self::LifetimeOverEvents(events) => {
                let until = a.end.map_or(timeline.events.len() as i64 + 1, |end| i64::from(end.0));
                *events < until - i64::from(a.start.0)
            }
            Self::Kept => a.end.is_none(),
            Self::Before => made.is_none(),
            Self::Live => is_live(cursor),
            Self::Awaiting => is_live(cursor) && a.requested.is_some_and(|at| at <= cursor),
            Self::LiveAfter(event) => (*event as usize) < timeline.events.len() && is_live(Moment(event + 1)),
        }
    }
}

impl OfEvent {
    fn text(&self) -> String {
        match self {
            Self::Common(term) => term.text(),
            // What no version of torch writes stands in quotes.
            Self::Action(name @ ("free_" | "f1" | "n.py:3")) => format!("action:\"{name}\""),
            Self::Action(name) => format!("action:{name}"),
            Self::Words(words) => words.join("|"),
            Self::Quoted(text) => format!("\"{text}\""),
        }
    }

    fn holds(&self, recording: &oomscope_model::Recording, ix: EventIx) -> bool {
        let (snapshot, timeline) = (recording.snapshot(), recording.timeline());
        let event = timeline.events.get(ix);
        let named = |action: Action, word: &str| {
            let name = snapshot.actions.name(action, &snapshot.strings);
            name == word.to_lowercase() || name.starts_with(&format!("{}_", word.to_lowercase()))
        };
        match self {
            Self::Common(term) => {
                let addr = event.addr.filter(|_| event.action != Action::Oom);
                let around = || addr.and_then(|addr| pool_around(timeline, addr, Moment::after(ix)));
                let row = Row {
                    addr,
                    size: event.size.0,
                    stack: event.stack,
                    stream: event.stream,
                    pool: event.pool.or_else(around),
                    metadata: event.user_metadata,
                    event: i64::from(ix.0),
                };
                term.holds(snapshot, &row)
            }
            Self::Action(name) => named(event.action, name),
            Self::Words(words) => words.iter().any(|word| {
                let is_action = snapshot.actions.all().any(|action| named(action, word));
                if is_action { named(event.action, word) } else { has_frame(snapshot, event.stack, word) }
            }),
            Self::Quoted(text) => has_frame(snapshot, event.stack, text),
        }
    }
}

/// The terms of a query, each of which may be negated.
fn query(terms: &[(bool, String)]) -> String {
    let sign = |is_negated: bool| if is_negated { "-" } else { "" };
    let terms = terms.iter().map(|(is_negated, text)| format!("{}{text}", sign(*is_negated)));
    terms.collect::<Vec<_>>().join(" ")
}

/// An event of a slot: action, slot, size, time, stack, stream, pool, metadata.
type Step = (u8, u64, i64, Option<i64>, usize, Option<i64>, Option<i64>, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0u8..6,
        0u64..12,
        0i64..4000,
        prop::option::weighted(0.9, 0i64..50),
        0usize..4,
        prop::option::weighted(0.9, 0i64..3),
        prop::option::of(0i64..2),
        0u8..3,
    );
    prop::collection::vec(step, 0..150)
}

/// A recording in which nothing has to fit together.
fn recording(steps: &[Step], anchor: Anchor) -> oomscope_model::Recording {
    const ACTIONS: [Action; 6] = [
        Action::Alloc,
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::Oom,
        Action::Snapshot,
    ];
    let mut r = Recording::default();
    let stacks = [
        r.stack(&[]),
        r.stack(&[("/a/m.py", 3, "f0")]),
        r.stack(&[("/a/m.py", 4, "f1"), ("/a/m.py", 30, "f0")]),
        r.stack(&[("/a/n.py", 3, "f2_oom")]),
    ];
    let texts = [None, Some(r.text("an alpha")), Some(r.text("beta"))];
    let mut now = 1_700_000_000_000_000;
    for &(action, slot, size, time, stack, stream, pool, text) in steps {
        let action = ACTIONS[usize::from(action)];
        now += time.unwrap_or(7) * 100;
        r.push(Event {
            stack: stacks[stack],
            time_us: time.map(|_| now),
            stream,
            pool: pool.map(|pool| PoolKey(0, pool)),
            user_metadata: texts[usize::from(text)],
            ..Event::new(action, 0x1000 + slot * 4096, size)
        });
    }
    r.segment(1, PoolKey(0, 1), &[(0x1000, 300, false, stacks[1]), (0x2000, 600, true, stacks[2])]);
    r.finish(anchor)
}

/// A term about iterations, phases or ranges, and whether it holds for an event, read event by event.
fn structure_term() -> impl Strategy<Value = StructureTerm> {
    prop_oneof![
        (0u32..6).prop_map(|n| StructureTerm::Iterations(n, n)),
        (0u32..6, 0u32..6).prop_map(|(a, b)| StructureTerm::Iterations(a.min(b), a.max(b))),
        prop::sample::select(Phase::ALL.to_vec()).prop_map(StructureTerm::Phase),
        prop::sample::select(vec!["adam.STEP", "optimizer", "zero_grad", "none"])
            .prop_map(StructureTerm::Range),
    ]
}

#[derive(Debug, Clone, Copy)]
enum StructureTerm {
    Iterations(u32, u32),
    Phase(Phase),
    Range(&'static str),
}

impl StructureTerm {
    fn text(self) -> String {
        match self {
            Self::Iterations(a, b) if a == b => format!("iteration:{a}"),
            Self::Iterations(a, b) => format!("iteration:{a}..{b}"),
            Self::Phase(phase) => format!("phase:{}", phase.key()),
            Self::Range(text) => format!("range:{text}"),
        }
    }

    fn holds(self, recording: &oomscope_model::Recording, phases: &Phases, event: EventIx) -> bool {
        let after = Moment::after(event);
        match self {
            Self::Iterations(a, b) => {
                let place = phases.iterations.recorded_at(after).filter(|_| !phases.iterations.has_numbers());
                phases.iterations.number_at(after).or(place).is_some_and(|number| (a..=b).contains(&number))
            }
            Self::Phase(phase) => {
                let started = phases.phases.iter().rfind(|start| start.event <= event);
                started.map_or(Phase::Unknown, |start| start.phase) == phase
            }
            Self::Range(text) => {
                let shown = lanes(recording);
                let mut ranges = shown.lanes.iter().flatten();
                ranges.any(|range| {
                    let is_named =
                        range.name.text(recording.snapshot()).to_lowercase().contains(&text.to_lowercase());
                    is_named && range.moments[0] <= after && after < range.moments[1]
                })
            }
        }
    }
}

fn all(timeline: &Timeline) -> Vec<Allocation> {
    timeline.ids().map(|id| timeline.allocation(id)).collect()
}

proptest! {
    #[test]
    fn matches_are_those_of_the_plain_reading(
        steps in steps(),
        is_anchored in any::<bool>(),
        terms in prop::collection::vec((any::<bool>(), of_allocation()), 0..4),
        cursor in 0u32..150,
    ) {
        let anchor = if is_anchored { Anchor::EndState } else { Anchor::TraceOnly };
        let recording = recording(&steps, anchor);
        let cursor = Moment(cursor.min(steps.len() as u32));
        let query = query(&terms.iter().map(|(is_negated, term)| (*is_negated, term.text())).collect::<Vec<_>>());
        let filter = Filter::parse(&query).expect("the generator writes queries");
        let matches = Matches::compute(&filter, &recording, cursor);

        let holds = |a: &Allocation| terms.iter().all(|(is_negated, t)| t.holds(&recording, a, cursor) != *is_negated);
        let plain: Vec<Allocation> = all(&recording).into_iter().filter(|a| holds(a)).collect();
        let ids: Vec<_> = plain.iter().map(|a| a.id).collect();
        prop_assert_eq!(matches.iter().collect::<Vec<_>>(), ids.clone(), "{}", query);
        prop_assert_eq!(matches.count(), ids.len());
        prop_assert!(all(&recording).iter().all(|a| matches.contains(a.id) == ids.contains(&a.id)));

        let live = |m: Moment| plain.iter().filter(move |a| a.start <= m && a.end.is_none_or(|end| m < end));
        let bytes: Vec<Bytes> =
            (0..recording.moments() as u32).map(|m| live(Moment(m)).map(|a| a.size).sum()).collect();
        prop_assert_eq!(matches.bytes_at(&recording, cursor), bytes[cursor.index()]);
        prop_assert_eq!(matches.count_at(&recording, cursor), live(cursor).count());
        let most = bytes.iter().copied().max().unwrap_or_default();
        let first = bytes.iter().position(|&b| b == most).unwrap_or_default();
        prop_assert_eq!(matches.peak(&recording), (Moment(first as u32), most));
        let curve = matches.curve(&recording);
        prop_assert_eq!((0..curve.len() as u32).map(|m| curve.at(Moment(m))).collect::<Vec<_>>(), bytes);
    }

    #[test]
    fn events_are_those_of_the_plain_reading(
        steps in steps(),
        is_anchored in any::<bool>(),
        terms in prop::collection::vec((any::<bool>(), of_event()), 0..4),
    ) {
        let anchor = if is_anchored { Anchor::EndState } else { Anchor::TraceOnly };
        let recording = recording(&steps, anchor);
        let query = query(&terms.iter().map(|(is_negated, term)| (*is_negated, term.text())).collect::<Vec<_>>());
        let parsed = EventQuery::parse(&query).expect("the generator writes queries");
        let matches = EventSearch::new(&parsed, &recording).matches(&recording, None);
        let holds = |ix: &EventIx| terms.iter().all(|(is_negated, t)| t.holds(&recording, *ix) != *is_negated);
        let plain: Vec<EventIx> = recording.events.indices().filter(holds).collect();
        prop_assert_eq!(matches.iter().collect::<Vec<_>>(), plain, "{}", query);
    }

    #[test]
    fn terms_of_structure_are_those_of_the_plain_reading(
        iterations in 1usize..5,
        late in prop::option::of(0usize..4),
        is_ring in any::<bool>(),
        has_stacks in any::<bool>(),
        terms in prop::collection::vec((any::<bool>(), structure_term()), 1..3),
    ) {
        let program = if is_ring { Program::ring() } else { Program::timed() };
        let mut program = if has_stacks { program } else { program.without_stacks() };
        train(&mut program, iterations, late);
        let recording = program.finish();
        let phases = Attribution::of(&recording, &UserRules::default()).phases;
        let query = query(&terms.iter().map(|(is_negated, term)| (*is_negated, term.text())).collect::<Vec<_>>());
        let holds = |event| terms.iter().all(|(is_negated, t)| t.holds(&recording, &phases, event) != *is_negated);

        let parsed = EventQuery::parse(&query).expect("the generator writes queries");
        let events = EventSearch::new(&parsed, &recording).matches(&recording, None);
        let plain: Vec<EventIx> = recording.events.indices().filter(|&event| holds(event)).collect();
        prop_assert_eq!(events.iter().collect::<Vec<_>>(), plain, "{}", query);

        let filter = Filter::parse(&query).expect("the generator writes queries");
        let matches = Matches::compute(&filter, &recording, Moment::START);
        let is_meant = |a: &Allocation| match a.alloc_event() {
            Some(event) => holds(event),
            // What is older than the recording lies in no iteration, phase or range.
            None => terms.iter().all(|(is_negated, _)| *is_negated),
        };
        let plain: Vec<_> = all(&recording).into_iter().filter(is_meant).map(|a| a.id).collect();
        prop_assert_eq!(matches.iter().collect::<Vec<_>>(), plain, "{}", query);
    }

    #[test]
    fn a_common_term_finds_the_allocations_of_the_alloc_events_that_it_finds(steps in steps(), term in plain()) {
        let recording = recording(&steps, Anchor::EndState);
        let filter = Filter::parse(&term.text()).expect("the generator writes queries");
        let matches = Matches::compute(&filter, &recording, Moment::START);
        let query = EventQuery::parse(&format!("{} action:alloc", term.text())).expect("the generator writes queries");
        let events = EventSearch::new(&query, &recording).matches(&recording, None);
        let Timeline { lifetimes, events: table, .. } = recording.timeline();
        for (id, event) in lifetimes.ids().filter_map(|id| Some((id, lifetimes.start(id).event()?))) {
            // The final state adds stacks to allocations whose events lack them.
            if lifetimes.stack(id, table) == table.stack(event) {
                prop_assert_eq!(matches.contains(id), events.contains(event), "{:?}", term);
            }
        }
    }

    #[test]
    fn terms_that_ask_about_something_else_are_refused(
        of_allocation in of_allocation(),
        of_event in prop::sample::select(vec!["action:alloc", "-action:oom", "stream:1 action:free|oom"]),
    ) {
        // `before` alone asks about allocations, `before:41220` about either.
        let is_other = |problem: Problem| {
            matches!(problem, Problem::OtherSubject { .. } | Problem::MissingValue { key: "before", .. })
        };
        let refused = EventQuery::parse(&of_allocation.text()).map_err(|error| is_other(error.problem));
        let is_common = matches!(of_allocation, OfAllocation::Common(_));
        prop_assert_eq!(refused.map(|_| ()), if is_common { Ok(()) } else { Err(true) });
        let refused = Filter::parse(of_event).map_err(|error| is_other(error.problem));
        prop_assert_eq!(refused.map(|_| ()), Err(true));
    }
}
