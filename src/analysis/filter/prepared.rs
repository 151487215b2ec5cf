//! A filter made ready for one device: what can be answered per stack or per context is in tables,
//! so that an allocation costs a few look-ups.

use super::quantity::Interval;
use super::terms::{AddressRange, PoolIs, Span, Test};
use super::{Filter, Matches, notes, resolve, texts};
use crate::analysis::segments::pools::PoolPlaces;
use crate::analysis::{Attribution, Categories, MomentError, UserRules, Verdict};
use crate::model::{
    AllocId, Allocation, Context, EventIx, Moment, Origin, PoolKey, Snapshot, StackId, Timeline,
};
use rayon::prelude::*;

/// A [`Filter`] with its tables for one timeline.
#[derive(Debug)]
pub struct Prepared {
    /// By stack; empty where stacks do not matter.
    by_stack: Vec<bool>,
    /// By context of the alloc event; empty where contexts do not matter.
    by_context: Vec<bool>,
    /// By id of those from before the first event, of which no context is recorded; as long as
    /// `by_context` is not empty.
    by_initial: Vec<bool>,
    rows: Vec<Row>,
    /// First and last recorded time, where it matters.
    time_range_us: Option<(i64, i64)>,
    notes: Vec<String>,
}

/// A condition that each allocation has to be asked for.
#[derive(Debug)]
struct Row {
    is_negated: bool,
    test: RowTest,
}

#[derive(Debug)]
enum RowTest {
    Size(Vec<Interval>),
    Lifetime(Vec<Span>),
    Addr(Vec<AddressRange>),
    /// By allocation.
    Listed(Vec<bool>),
    Event(Vec<Interval>),
    /// `None` is the cursor.
    Live(Vec<Option<Moment>>),
    Awaiting,
    Kept,
    Before,
}

impl Prepared {
    /// Fill the tables; categories, if the filter asks for one, are found by the user's rules first.
    pub fn new(filter: &Filter, snapshot: &Snapshot, timeline: &Timeline, rules: &UserRules) -> Self {
        let categories =
            filter.needs_categories().then(|| Attribution::of(snapshot, timeline, rules).categories);
        Self::with_categories(filter, snapshot, timeline, &categories.unwrap_or_default())
    }

    /// Fill the tables, with categories that are known already.
    pub fn with_categories(
        filter: &Filter,
        snapshot: &Snapshot,
        timeline: &Timeline,
        categories: &Categories,
    ) -> Self {
        let mut out = Self {
            by_stack: Vec::new(),
            by_context: Vec::new(),
            by_initial: Vec::new(),
            rows: Vec::new(),
            time_range_us: None,
            notes: Vec::new(),
        };
        for term in &filter.terms {
            match &term.test {
                Test::Stack(needles) => out.stacks(term.is_negated, texts::stacks_with(snapshot, needles)),
                Test::Site(needles) => out.stacks(term.is_negated, texts::sites_with(snapshot, needles)),
                Test::Pool(pools) if lacks_pools(timeline) => {
                    let test = RowTest::Listed(in_pools(pools, timeline));
                    out.rows.push(Row { is_negated: term.is_negated, test });
                }
                Test::Category(needles) => {
                    let test =
                        RowTest::Listed(texts::categories_with(snapshot, timeline, categories, needles));
                    out.rows.push(Row { is_negated: term.is_negated, test });
                }
                Test::Basis(wanted) => {
                    let holds = |verdict: Verdict| wanted.contains(&verdict.basis());
                    let test = RowTest::Listed(texts::verdicts_with(timeline, categories, holds));
                    out.rows.push(Row { is_negated: term.is_negated, test });
                }
                Test::Rule(needles) => {
                    let holds = |verdict: Verdict| texts::has_any(verdict.rule.rule().id, needles);
                    let test = RowTest::Listed(texts::verdicts_with(timeline, categories, holds));
                    out.rows.push(Row { is_negated: term.is_negated, test });
                }
                test @ (Test::Stream(_) | Test::Pool(_) | Test::Meta(_)) => {
                    out.contexts(term.is_negated, timeline, |context| context_holds(test, snapshot, context));
                }
                test => {
                    let test = out.row(test, timeline);
                    out.rows.push(Row { is_negated: term.is_negated, test });
                }
            }
        }
        for note in notes::notes(filter, snapshot, timeline) {
            out.note(note);
        }
        out
    }

    fn stacks(&mut self, is_negated: bool, holds: Vec<bool>) {
        let holds = holds.into_iter().map(|holds| holds != is_negated);
        if self.by_stack.is_empty() {
            self.by_stack = holds.collect();
        } else {
            self.by_stack.iter_mut().zip(holds).for_each(|(all, holds)| *all &= holds);
        }
    }

    fn contexts(&mut self, is_negated: bool, timeline: &Timeline, holds: impl Fn(&Context) -> bool + Sync) {
        let events = &timeline.events;
        if self.by_context.is_empty() && self.by_initial.is_empty() {
            self.by_context = vec![true; events.contexts().len()];
            self.by_initial = vec![true; timeline.lifetimes.initial_count()];
        }
        let contexts = self.by_context.par_iter_mut().zip(events.contexts());
        contexts.for_each(|(all, context)| *all &= holds(context) != is_negated);
        let initial = self.by_initial.iter_mut().zip(timeline.lifetimes.ids());
        for (all, id) in initial {
            *all &= holds(&context_of(&timeline.lifetimes.get(id, events))) != is_negated;
        }
    }

    fn row(&mut self, test: &Test, timeline: &Timeline) -> RowTest {
        match test {
            Test::Size(sizes) => RowTest::Size(sizes.clone()),
            Test::Lifetime(spans) => {
                self.time_range_us = timeline.events.time_range_us();
                RowTest::Lifetime(spans.clone())
            }
            Test::Addr(ranges) => RowTest::Addr(ranges.clone()),
            Test::Event(sets) => {
                let events = sets.iter().map(|&set| resolve::events(set, timeline));
                RowTest::Event(self.known(events))
            }
            Test::Live(moments) => {
                let moments = moments.iter().map(|&when| resolve::moment(when, timeline));
                RowTest::Live(self.known(moments))
            }
            Test::Awaiting => RowTest::Awaiting,
            Test::Kept => RowTest::Kept,
            _ => RowTest::Before,
        }
    }

    /// Those that the device has; of the others, it is noted why not.
    fn known<T>(&mut self, all: impl Iterator<Item = Result<T, MomentError>>) -> Vec<T> {
        let mut known = Vec::new();
        for one in all {
            match one {
                Ok(one) => known.push(one),
                Err(error) => self.note(&error.to_string()),
            }
        }
        known
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// What the query asks for and the device cannot answer, in words: what was not recorded.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The allocations that match while the cursor is at a moment.
    pub fn matches(&self, timeline: &Timeline, cursor: Moment) -> Matches {
        let lifetimes = &timeline.lifetimes;
        if let Some(moment) = self.only_live_at(cursor) {
            let live = lifetimes.live_at(moment).filter(|&id| self.holds(timeline, id, cursor));
            return Matches::from_ids(lifetimes.len(), live);
        }
        Matches::from_test(lifetimes.len(), |id| self.holds(timeline, id, cursor))
    }

    /// A moment at which all matches are live, if the terms say one.
    fn only_live_at(&self, cursor: Moment) -> Option<Moment> {
        let moment_of = |row: &Row| match row.test {
            RowTest::Live(ref moments) if moments.len() == 1 => moments.first().copied(),
            RowTest::Awaiting => Some(None),
            _ => None,
        };
        let rows = self.rows.iter().filter(|row| !row.is_negated);
        rows.filter_map(moment_of).map(|moment| moment.unwrap_or(cursor)).next()
    }

    #[inline]
    fn holds(&self, timeline: &Timeline, id: AllocId, cursor: Moment) -> bool {
        let (lifetimes, events) = (&timeline.lifetimes, &timeline.events);
        let by_context = match lifetimes.origin(id) {
            Origin::Event(ix) => self.by_context.get(events.context_index(ix)),
            Origin::Before => self.by_initial.get(id.index()),
        };
        by_context.is_none_or(|&holds| holds)
            && (self.by_stack.is_empty() || self.by_stack[lifetimes.stack(id, events).index()])
            && self.rows.iter().all(|row| self.row_holds(&row.test, timeline, id, cursor) != row.is_negated)
    }

    fn row_holds(&self, test: &RowTest, timeline: &Timeline, id: AllocId, cursor: Moment) -> bool {
        let (lifetimes, events) = (&timeline.lifetimes, &timeline.events);
        match test {
            RowTest::Size(sizes) => {
                let size = lifetimes.size(id, events);
                sizes.iter().any(|interval| interval.contains(size))
            }
            RowTest::Listed(holds) => holds[id.index()],
            RowTest::Lifetime(spans) => spans.iter().any(|&span| self.lives(span, timeline, id)),
            RowTest::Addr(ranges) => {
                let Allocation { addr, size, .. } = lifetimes.get(id, events);
                // An empty block still is at its address.
                let last = addr.saturating_add(size.max(1).unsigned_abs() - 1);
                ranges.iter().any(|range| addr <= range.last && range.first <= last)
            }
            RowTest::Event(sets) => {
                let event = resolve::event_number(lifetimes.start(id));
                sets.iter().any(|interval| interval.contains(event))
            }
            RowTest::Live(moments) => {
                moments.iter().any(|moment| is_live_at(timeline, id, moment.unwrap_or(cursor)))
            }
            RowTest::Awaiting => {
                let is_requested = lifetimes.requested(id).is_some_and(|requested| requested <= cursor);
                is_requested && is_live_at(timeline, id, cursor)
            }
            RowTest::Kept => lifetimes.end(id).is_none(),
            RowTest::Before => lifetimes.origin(id) == Origin::Before,
        }
    }

    /// Whether an allocation is known to live so long.
    fn lives(&self, span: Span, timeline: &Timeline, id: AllocId) -> bool {
        let (lifetimes, moments) = (&timeline.lifetimes, timeline.moments() as i64);
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let is_whole = start != Moment::START && end.is_some();
        match span {
            Span::Events(interval) => {
                // One that survives is freed after the last event at the earliest.
                let end = end.map_or(moments, |end| i64::from(end.0));
                interval.covers(end - i64::from(start.0), is_whole)
            }
            Span::Microseconds(interval) => {
                let Some((first, last)) = self.time_range_us else { return false };
                let time = |event: Option<EventIx>, open| match event {
                    Some(event) => timeline.events.time_us(event),
                    None => Some(open),
                };
                let known = time(start.event(), first).zip(time(end.and_then(Moment::event), last));
                known.is_some_and(|(start, end)| interval.covers(end.saturating_sub(start), is_whole))
            }
        }
    }
}

fn is_live_at(timeline: &Timeline, id: AllocId, moment: Moment) -> bool {
    let lifetimes = &timeline.lifetimes;
    lifetimes.start(id) <= moment && lifetimes.end(id).is_none_or(|end| moment < end)
}

fn context_holds(test: &Test, snapshot: &Snapshot, context: &Context) -> bool {
    match test {
        Test::Stream(streams) => context.stream.is_some_and(|stream| streams.contains(&stream)),
        Test::Pool(pools) => context.pool.is_some_and(|pool| is_one_of(pool, pools)),
        Test::Meta(needles) => texts::metadata_has(snapshot, context, needles),
        _ => false,
    }
}

fn is_one_of(pool: PoolKey, pools: &[PoolIs]) -> bool {
    pools.iter().any(|is| match *is {
        PoolIs::Private => pool.is_private(),
        PoolIs::Key(key) => pool == key,
    })
}

/// Whether events lack their pool while that of the memory is known.
pub(super) fn lacks_pools(timeline: &Timeline) -> bool {
    let is_unknown = timeline.events.contexts().iter().any(|context| context.pool.is_none());
    is_unknown && !PoolPlaces::new(timeline).is_empty()
}

/// By allocation, whether it is in one of the pools: those of the memory where events do not say.
fn in_pools(pools: &[PoolIs], timeline: &Timeline) -> Vec<bool> {
    let places = PoolPlaces::new(timeline);
    let ids = (0..timeline.lifetimes.len() as u32).into_par_iter().map(AllocId);
    let pool = |id| places.pool_of(&timeline.lifetimes.get(id, &timeline.events));
    ids.map(|id| pool(id).is_some_and(|pool| is_one_of(pool, pools))).collect()
}

/// What is known of an allocation from before the first event.
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
