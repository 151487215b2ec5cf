//! Tests that an allocation and an event can be asked alike: their meaning, once for both.

use super::compare::Interval;
use super::named_moments::NamedEvents;
use super::notes::Notes;
use super::texts;
use crate::{EventRanges, Phases, RangeQuery};
use oomscope_model::{Allocation, Bytes, Context, PoolKey, Recording, Snapshot, StackId, Timeline};
use rayon::prelude::*;

/// A test, by what it looks at: that decides how often it has to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommonTest {
    /// Answered once per stack.
    Stack(StackTest),
    /// Answered once per context of events.
    Context(ContextTest),
    /// Answered once per context where events have their pool, else for each row.
    Pool(Vec<PoolIs>),
    /// Answered for each row.
    Row(RowTest),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StackTest {
    /// Any frame of the stack, as `file:line function`, has one of the texts.
    AnyFrame(Vec<String>),
    /// The first frame of the user's own code has one of the texts.
    Site(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContextTest {
    Stream(Vec<i64>),
    /// Metadata or the compile context has one of the texts.
    Meta(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowTest {
    Size(Vec<Interval>),
    Addr(Vec<AddressRange>),
    /// The event that made it, or that it is.
    Event(Vec<NamedEvents>),
    /// The event that made it, or that it is, lies in an iteration, in a phase, or in a range of the program's own.
    Range(Vec<RangeQuery>),
}

/// Which pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolIs {
    /// Any but the default.
    Private,
    /// This one.
    Key(PoolKey),
}

/// Addresses from `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddressRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// An allocation or an event that is asked.
pub(super) trait Queried {
    /// Its place in lists of all rows.
    fn index(&self) -> usize;
    fn stack(&self) -> StackId;
    /// Its place in a table by context; see [`Conditions`](super::conditions::Conditions).
    fn context(&self) -> usize;
    fn size(&self) -> Bytes;
    fn addr(&self) -> Option<u64>;
    /// The number of the event that it is or that made it; -1 where that is not recorded.
    fn event_number(&self) -> i64;
}

impl CommonTest {
    /// Whether iterations and phases have to be known to answer it.
    pub(super) fn needs_attribution(&self) -> bool {
        match self {
            Self::Row(RowTest::Range(ranges)) => ranges.iter().any(RangeQuery::needs_attribution),
            Self::Stack(_) | Self::Context(_) | Self::Pool(_) | Self::Row(_) => false,
        }
    }

    /// Why the test cannot hold for anything on a device: it asks for what was not recorded.
    pub(super) fn missing(&self, recording: &Recording, phases: &Phases) -> Option<&'static str> {
        if let Self::Row(RowTest::Range(ranges)) = self {
            return ranges.iter().find_map(|range| range.missing(recording, phases));
        }
        let has = |known: fn(&Context) -> bool| recording.events.contexts().iter().any(known);
        let (is_known, note) = match self {
            Self::Stack(_) => (texts::has_stacks(recording.snapshot()), texts::NO_STACKS),
            Self::Context(ContextTest::Stream(_)) => {
                (!recording.streams().is_empty(), "no streams were recorded")
            }
            Self::Context(ContextTest::Meta(_)) => {
                let is_known = has(|c| {
                    c.user_metadata.is_some() || c.internal_metadata.is_some() || c.compile_context.is_some()
                });
                (is_known, "no metadata was recorded")
            }
            Self::Pool(_) => {
                let segments = &recording.segments.segments;
                let is_known = has(|c| c.pool.is_some()) || segments.iter().any(|s| s.pool.is_some());
                (is_known, "no pools were recorded")
            }
            Self::Row(_) => (true, ""),
        };
        (!is_known).then_some(note)
    }
}

impl StackTest {
    /// By stack, whether the test holds.
    pub(super) fn by_stack(&self, snapshot: &Snapshot) -> Vec<bool> {
        match self {
            Self::AnyFrame(needles) => texts::stacks_with(snapshot, needles),
            Self::Site(needles) => texts::sites_with(snapshot, needles),
        }
    }
}

impl ContextTest {
    /// By context of the events and of the allocations from before the first event, whether the test holds.
    pub(super) fn by_context(&self, recording: &Recording) -> Vec<bool> {
        match self {
            Self::Stream(streams) => by_context(recording, |context| {
                context.stream.is_some_and(|stream| streams.contains(&stream))
            }),
            Self::Meta(needles) => {
                let contexts = recording.events.contexts();
                let mut out = texts::contexts_with(recording.snapshot(), contexts, texts::metadata, needles);
                // What is older than the recording has no metadata.
                out.resize(out.len() + recording.lifetimes.initial_count(), false);
                out
            }
        }
    }
}

impl PoolIs {
    /// Whether a pool is one of those that are meant.
    pub(super) fn any(all: &[Self], pool: PoolKey) -> bool {
        all.iter().any(|is| match *is {
            Self::Private => pool.is_private(),
            Self::Key(key) => pool == key,
        })
    }
}

/// A [`RowTest`] that knows the device's events.
#[derive(Debug)]
pub(super) enum RowCheck {
    Size(Vec<Interval>),
    Addr(Vec<AddressRange>),
    Event(Vec<Interval>),
    Range(EventRanges),
}

impl RowTest {
    pub(super) fn check(&self, recording: &Recording, phases: &Phases, notes: &mut Notes) -> RowCheck {
        match self {
            Self::Size(sizes) => RowCheck::Size(sizes.clone()),
            Self::Addr(ranges) => RowCheck::Addr(ranges.clone()),
            Self::Event(events) => {
                RowCheck::Event(notes.known(events.iter().map(|events| events.numbers(recording))))
            }
            Self::Range(ranges) => {
                let all = ranges.iter().flat_map(|range| range.find_all(recording, phases));
                RowCheck::Range(EventRanges::new(all.collect()))
            }
        }
    }
}

impl RowCheck {
    #[inline]
    pub(super) fn holds(&self, row: &impl Queried) -> bool {
        match self {
            Self::Size(sizes) => is_within(row.size().0, sizes),
            Self::Addr(ranges) => row.addr().is_some_and(|addr| {
                // What is empty still is at its address.
                let last = addr.saturating_add(row.size().max(Bytes(1)).unsigned_abs() - 1);
                ranges.iter().any(|range| addr <= range.last && range.first <= last)
            }),
            Self::Event(numbers) => is_within(row.event_number(), numbers),
            Self::Range(ranges) => ranges.contains(row.event_number()),
        }
    }
}

#[inline]
fn is_within(n: i64, intervals: &[Interval]) -> bool {
    intervals.iter().any(|interval| interval.contains(n))
}

/// A table by context, that of the events first, then one for each allocation from before the
/// first event, whose context no event has.
pub(super) fn by_context(timeline: &Timeline, holds: impl Fn(&Context) -> bool + Sync) -> Vec<bool> {
    let lifetimes = &timeline.lifetimes;
    let initial = lifetimes.ids().take(lifetimes.initial_count());
    let initial = initial.map(|id| holds(&context_of(&timeline.allocation(id))));
    let mut out: Vec<bool> = timeline.events.contexts().par_iter().map(&holds).collect();
    out.extend(initial);
    out
}

/// All that is known of an allocation from before the first event.
fn context_of(allocation: &Allocation) -> Context {
    Context {
        stream: allocation.stream,
        pool: allocation.pool,
        compile_context: None,
        user_metadata: None,
        internal_metadata: None,
        category: None,
        forward_stack: StackId::EMPTY,
    }
}
