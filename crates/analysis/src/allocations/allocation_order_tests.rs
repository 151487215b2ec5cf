//! Orders against comparing allocations one by one.

use super::*;
use oomscope_fixtures::tables::{TestEvent, any_events, snapshot};
use oomscope_model::{Action, Allocation, Snapshot, StackId};
use proptest::prelude::*;
use std::cmp::Ordering;

const ALL: [OrderBy; 11] = [
    OrderBy::Start,
    OrderBy::Age,
    OrderBy::Size,
    OrderBy::Lifetime,
    OrderBy::Address,
    OrderBy::Stream,
    OrderBy::Pool,
    OrderBy::Site,
    OrderBy::Category,
    OrderBy::Module,
    OrderBy::Tensor,
];

/// The order as its definition reads.
fn compare(snapshot: &Snapshot, by: OrderBy, a: &Allocation, b: &Allocation) -> Ordering {
    let timeline = &snapshot.timelines[0];
    let label = |a: &Allocation| (a.stack == StackId::EMPTY, crate::site_label(snapshot, a.stack));
    let has_times = timeline.events.indices().any(|ix| timeline.events.time_us(ix).is_some());
    let life = |a: &Allocation| {
        let span = LifeSpan::of(timeline, a.id);
        (span.is_open, if has_times { span.us.unwrap_or(0) } else { i64::from(span.events) })
    };
    match by {
        OrderBy::Start => a.start.cmp(&b.start),
        OrderBy::Age => b.start.cmp(&a.start).then(b.id.cmp(&a.id)),
        OrderBy::Size => a.size.cmp(&b.size),
        OrderBy::Lifetime => life(a).cmp(&life(b)),
        OrderBy::Address => a.addr.cmp(&b.addr),
        OrderBy::Stream => a.stream.cmp(&b.stream),
        OrderBy::Pool => a.pool.cmp(&b.pool),
        OrderBy::Site | OrderBy::Module => label(a).cmp(&label(b)),
        // Without categories and names, all are equal.
        OrderBy::Category | OrderBy::Tensor => Ordering::Equal,
    }
    .then(a.id.cmp(&b.id))
}

proptest! {
    #[test]
    fn orders_are_those_of_comparing_one_by_one(events in any_events(), at in 0u32..60) {
        let snapshot = snapshot(&events);
        let timeline = &snapshot.timelines[0];
        let sites = StackLabels::of_sites(&snapshot);
        let sorter = AllocationSorter::new(timeline).with_labels(&sites);
        let naive = |by, ids: &mut dyn Iterator<Item = AllocId>| {
            let mut all: Vec<Allocation> = ids.map(|id| timeline.allocation(id)).collect();
            all.sort_by(|a, b| compare(&snapshot, by, a, b));
            all.into_iter().map(|a| a.id).collect::<Vec<_>>()
        };
        let moment = Moment(at.min(events.len() as u32));
        for by in ALL {
            let all = &mut timeline.ids();
            prop_assert_eq!(sorter.all(by), naive(by, all));
            let live = &mut timeline.lifetimes.live_at(moment);
            prop_assert_eq!(sorter.live_at(moment, by), naive(by, live));
        }
    }
}

#[test]
fn many_are_sorted_as_few_are() {
    let event = |i: usize| TestEvent {
        action: Action::Alloc,
        addr: i as u64,
        size: (i as i64 * 7919) % 5000,
        stream: None,
        pool: None,
        time_us: None,
        stack: StackId::EMPTY,
    };
    let events: Vec<TestEvent> = (0..2 * MIN_PARALLEL).map(event).collect();
    let snapshot = snapshot(&events);
    let many = AllocationSorter::new(&snapshot.timelines[0]).all(OrderBy::Size);
    let mut naive: Vec<AllocId> = (0..events.len() as u32).map(AllocId).collect();
    naive.sort_by_key(|id| (events[id.index()].size, *id));
    assert_eq!(many, naive);
}
