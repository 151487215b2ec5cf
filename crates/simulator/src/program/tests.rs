//! Tests of changed programs: their sums, and their simulation.

use super::*;
use crate::Subject;
use oomscope_fixtures::alone;
use oomscope_model::{
    Action, Anchor, Bytes, DeviceId, Event, EventTable, PoolKey, SegmentTable, Timeline, TimelineInput,
};

const MIB: Bytes = Bytes(1 << 20);

fn event(action: Action, addr: u64, size: Bytes) -> Event {
    Event { stream: Some(0), pool: Some(PoolKey::DEFAULT), ..Event::new(action, addr, size) }
}

/// 30 MiB, freed at event 2, then 8 and 4 MiB that stay.
fn timeline() -> Timeline {
    let base = 1 << 40;
    let all = [
        event(Action::SegmentAlloc, base, 30 * MIB),
        event(Action::Alloc, base, 30 * MIB),
        event(Action::FreeCompleted, base, 30 * MIB),
        event(Action::Alloc, base, 8 * MIB),
        event(Action::Alloc, base + (8 << 20), 4 * MIB),
    ];
    let mut events = EventTable::default();
    for event in &all {
        events.push(event);
    }
    Timeline::build(TimelineInput {
        device: DeviceId(0),
        events,
        segments: SegmentTable::default(),
        anchor: Anchor::TraceOnly,
    })
}

fn peaks(program: &Program<'_>) -> (u64, u64, u64) {
    let subject = Subject::new(&alone(timeline()));
    let outcome = subject.simulate_program(program, subject.recorded_settings(), &subject.device());
    let (peak, profile) = program.sums();
    assert_eq!(peak.bytes, profile.peak_bytes());
    assert_eq!(peak.bytes, outcome.counters.requested_bytes.peak);
    let mib = |bytes: u64| bytes >> 20;
    (mib(peak.bytes), mib(outcome.peak_allocated_bytes()), mib(outcome.peak_reserved_bytes()))
}

#[test]
fn a_program_is_the_recorded_one_until_it_is_changed() {
    let timeline = timeline();
    let mut program = Program::recorded(&timeline);
    assert_eq!(program.peak(), Peak { bytes: 30 << 20, moment: Moment(2) });
    assert_eq!(peaks(&program), (30, 30, 30));
    program.leave_out(AllocId(0));
    assert_eq!(program.peak().moment, Moment(5));
    assert_eq!(peaks(&program), (12, 12, 20));
}

#[test]
fn what_a_change_leaves_alone_is_a_program_of_its_own() {
    let timeline = timeline();
    let recorded = Program::recorded(&timeline);
    let mut changed = recorded.clone();
    changed.leave_out(AllocId(0));
    changed.free_at(AllocId(1), Point::before(EventIx(4), 0));
    assert_eq!(recorded.touched_by(&changed).collect::<Vec<_>>(), [AllocId(0), AllocId(1)]);
    let least = |stays: &dyn Fn(AllocId) -> bool| recorded.untouched_by(&changed, stays).peak().bytes >> 20;
    assert_eq!(least(&|_| false), 4);
    assert_eq!(least(&|id| id == AllocId(1)), 12, "more than the 8 MiB that the change says");
    assert_eq!(changed.peak().bytes >> 20, 8);
}

#[test]
fn sizes_and_lifetimes_change() {
    let timeline = timeline();
    let mut program = Program::recorded(&timeline);
    program.scale(AllocId(0), 0.5);
    assert_eq!(peaks(&program).0, 15);
    program.keep_until(AllocId(0), Point::after(EventIx(3), 0));
    assert_eq!(peaks(&program).0, 23);
    program.free_at(AllocId(0), Point::before(EventIx(3), 0));
    assert_eq!(peaks(&program).0, 15);
    program.make_at(AllocId(2), Point::before(EventIx(1), 0));
    assert_eq!(peaks(&program).0, 19);
    program.delay_until(AllocId(2), Point::after(EventIx(4), 3));
    assert_eq!(peaks(&program).0, 15);
}

#[test]
fn allocations_are_added_and_gone_in_between() {
    let timeline = timeline();
    let mut program = Program::recorded(&timeline);
    let row = |bytes, start, end| Row { bytes, start, end };
    let at = EventIx(4);
    program.add(AllocId(1), row(20 << 20, Point::after(at, 0), Point::after(at, 1)));
    program.add(AllocId(1), row(21 << 20, Point::after(at, 1), Point::NEVER));
    program.add(AllocId(1), row(1, Point::NEVER, Point::NEVER));
    assert_eq!(program.added().len(), 2);
    assert_eq!(peaks(&program).0, 33);
    program.scale_added(|_| 0.5);
    assert_eq!(peaks(&program).0, 30);
}

#[test]
fn points_lie_around_events() {
    let at = |n| Point::at(EventIx(n));
    let order = [
        Point::START,
        Point::before(EventIx(0), 0),
        Point::before(EventIx(0), 1),
        at(0),
        Point::after(EventIx(0), 0),
        Point::after(EventIx(0), u32::MAX),
        Point::before(EventIx(1), 0),
        at(1),
        Point::NEVER,
    ];
    assert!(order.is_sorted());
    let moments: Vec<u32> = order.iter().map(|point| point.moment().0).collect();
    assert_eq!(moments, [0, 0, 0, 1, 1, 1, 1, 2, u32::MAX]);
    assert_eq!(Point::of(Moment(2)), at(1));
}
