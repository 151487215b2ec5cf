//! Random recordings and queries against a slow and plain reading of both.

use super::fixture::Recording;
use super::{Filter, Matches};
use crate::model::{Action, Allocation, Anchor, Event, Moment, PoolKey, Snapshot, Timeline};
use proptest::prelude::*;

/// A term that the generator knows the meaning of.
#[derive(Debug, Clone)]
enum Plain {
    MoreThan(i64),
    Between(i64, i64),
    LifetimeUnderUs(i64),
    LifetimeOverEvents(i64),
    Stack(&'static str),
    Stream(i64),
    Private,
    Contains(u64),
    MetaHas(&'static str),
    Within(i64, i64),
    Kept,
    Before,
    Live,
    Awaiting,
    LiveAfter(u32),
}

fn term() -> impl Strategy<Value = Plain> {
    prop_oneof![
        (0i64..5000).prop_map(Plain::MoreThan),
        (0i64..5000, 0i64..5000).prop_map(|(a, b)| Plain::Between(a.min(b), a.max(b))),
        (0i64..20_000).prop_map(Plain::LifetimeUnderUs),
        (0i64..30).prop_map(Plain::LifetimeOverEvents),
        prop::sample::select(vec!["f0", "f1", "f2", "m.py:3", "none"]).prop_map(Plain::Stack),
        (0i64..3).prop_map(Plain::Stream),
        Just(Plain::Private),
        (0u64..30).prop_map(|slot| Plain::Contains(0x1000 + slot * 500)),
        prop::sample::select(vec!["alpha", "beta"]).prop_map(Plain::MetaHas),
        (0i64..60, 0i64..60).prop_map(|(a, b)| Plain::Within(a.min(b), a.max(b))),
        Just(Plain::Kept),
        Just(Plain::Before),
        Just(Plain::Live),
        Just(Plain::Awaiting),
        (0u32..20).prop_map(Plain::LiveAfter),
    ]
}

impl Plain {
    fn text(&self) -> String {
        match self {
            Self::MoreThan(bytes) => format!("size>{bytes}"),
            Self::Between(a, b) => format!("size:{a}..{b}B"),
            Self::LifetimeUnderUs(us) => format!("lifetime<{us}us"),
            Self::LifetimeOverEvents(events) => format!("lifetime>{events}events"),
            Self::Stack(text) => format!("stack:{text}"),
            Self::Stream(stream) => format!("stream:{stream}"),
            Self::Private => "pool:private".to_owned(),
            Self::Contains(addr) => format!("addr:{addr:#x}"),
            Self::MetaHas(text) => format!("meta:{text}"),
            Self::Within(a, b) => format!("event:{a}..{b}"),
            Self::Kept => "kept".to_owned(),
            Self::Before => "before".to_owned(),
            Self::Live => "live".to_owned(),
            Self::Awaiting => "awaiting".to_owned(),
            Self::LiveAfter(event) => format!("live:{event}"),
        }
    }

    fn holds(&self, snapshot: &Snapshot, a: &Allocation, cursor: Moment) -> bool {
        let timeline = &snapshot.timelines[0];
        let made = a.alloc_event().map(|ix| timeline.events.get(ix));
        let is_live = |at: Moment| a.start <= at && a.end.is_none_or(|end| at < end);
        match *self {
            Self::MoreThan(bytes) => bytes < a.size,
            Self::Between(first, last) => first <= a.size && a.size <= last,
            Self::LifetimeUnderUs(us) => {
                let freed = a.end.and_then(Moment::event).and_then(|ix| timeline.events.time_us(ix));
                let times = made.and_then(|made| made.time_us).zip(freed);
                times.is_some_and(|(made, freed)| freed - made < us)
            }
            Self::LifetimeOverEvents(events) => {
                let until = a.end.map_or(timeline.events.len() as i64 + 1, |end| i64::from(end.0));
                events < until - i64::from(a.start.0)
            }
            Self::Stack(text) => crate::analysis::stack_lines(snapshot, a.stack).any(|l| l.contains(text)),
            Self::Stream(stream) => a.stream == Some(stream),
            Self::Private => {
                let mut ranges = timeline.ranges.all().iter().filter(|range| range.is_live_at(a.start));
                let lies_in = |addr: u64, size: i64| addr <= a.addr && a.addr < addr + size as u64;
                let around = ranges.find(|range| range.pool.is_some() && lies_in(range.addr, range.size));
                let pool = a.pool.or(around.and_then(|range| range.pool));
                pool.is_some_and(|pool| pool != PoolKey(0, 0))
            }
            Self::Contains(addr) => (a.addr..a.addr + a.size.max(1) as u64).contains(&addr),
            Self::MetaHas(text) => {
                let id = made.and_then(|made| made.user_metadata);
                id.is_some_and(|id| snapshot.strings.get(id).contains(text))
            }
            Self::Within(first, last) => {
                a.alloc_event().is_some_and(|ix| first <= i64::from(ix.0) && i64::from(ix.0) <= last)
            }
            Self::Kept => a.end.is_none(),
            Self::Before => made.is_none(),
            Self::Live => is_live(cursor),
            Self::Awaiting => is_live(cursor) && a.requested.is_some_and(|at| at <= cursor),
            Self::LiveAfter(event) => (event as usize) < timeline.events.len() && is_live(Moment(event + 1)),
        }
    }
}

/// What happens to a slot: action, slot, size, time, stack, stream, pool, metadata.
type Step = (u8, u64, i64, Option<i64>, usize, Option<i64>, Option<i64>, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0u8..4,
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
fn recording(steps: &[Step], anchor: Anchor) -> Snapshot {
    let mut r = Recording::default();
    let stacks = [
        r.stack(&[]),
        r.stack(&[("/a/m.py", 3, "f0")]),
        r.stack(&[("/a/m.py", 4, "f1"), ("/a/m.py", 30, "f0")]),
        r.stack(&[("/a/n.py", 3, "f2")]),
    ];
    let texts = [None, Some(r.text("an alpha")), Some(r.text("beta"))];
    let mut now = 1_700_000_000_000_000;
    for &(action, slot, size, time, stack, stream, pool, text) in steps {
        let action =
            [Action::Alloc, Action::Alloc, Action::FreeRequested, Action::FreeCompleted][usize::from(action)];
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

fn all(timeline: &Timeline) -> Vec<Allocation> {
    timeline.lifetimes.ids().map(|id| timeline.lifetimes.get(id, &timeline.events)).collect()
}

proptest! {
    #[test]
    fn matches_are_those_of_the_plain_reading(
        steps in steps(),
        is_anchored in any::<bool>(),
        terms in prop::collection::vec((any::<bool>(), term()), 0..4),
        cursor in 0u32..150,
    ) {
        let anchor = if is_anchored { Anchor::EndState } else { Anchor::TraceOnly };
        let snapshot = recording(&steps, anchor);
        let timeline = &snapshot.timelines[0];
        let cursor = Moment(cursor.min(steps.len() as u32));
        let sign = |is_negated: bool| if is_negated { "-" } else { "" };
        let query: Vec<String> =
            terms.iter().map(|(is_negated, term)| format!("{}{}", sign(*is_negated), term.text())).collect();
        let query = query.join(" ");
        let filter = Filter::parse(&query).expect("the generator writes queries");
        let matches = Matches::compute(&filter, &snapshot, timeline, cursor);

        let holds = |a: &Allocation| terms.iter().all(|(is_negated, t)| t.holds(&snapshot, a, cursor) != *is_negated);
        let plain: Vec<Allocation> = all(timeline).into_iter().filter(|a| holds(a)).collect();
        let ids: Vec<_> = plain.iter().map(|a| a.id).collect();
        prop_assert_eq!(matches.iter().collect::<Vec<_>>(), ids.clone(), "{}", query);
        prop_assert_eq!(matches.count(), ids.len());
        prop_assert!(all(timeline).iter().all(|a| matches.contains(a.id) == ids.contains(&a.id)));

        let live = |m: Moment| plain.iter().filter(move |a| a.start <= m && a.end.is_none_or(|end| m < end));
        let bytes: Vec<i64> =
            (0..timeline.moments() as u32).map(|m| live(Moment(m)).map(|a| a.size).sum()).collect();
        prop_assert_eq!(matches.bytes_at(timeline, cursor), bytes[cursor.index()]);
        prop_assert_eq!(matches.count_at(timeline, cursor), live(cursor).count());
        let most = bytes.iter().copied().max().unwrap_or_default();
        let first = bytes.iter().position(|&b| b == most).unwrap_or_default();
        prop_assert_eq!(matches.peak(timeline), (Moment(first as u32), most));
        let curve = matches.curve(timeline);
        prop_assert_eq!((0..curve.len() as u32).map(|m| curve.at(Moment(m))).collect::<Vec<_>>(), bytes);
    }
}
