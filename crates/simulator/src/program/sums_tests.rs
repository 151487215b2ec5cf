//! Sums of changed programs, compared with adding up one change after another.

use super::*;
use oomscope_model::{
    Action, Anchor, Bytes, DeviceId, Event, EventTable, PoolKey, SegmentTable, TimelineInput,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Allocations of some sizes, each given back after a number of others, if it is.
fn timeline(made: &[(i64, Option<usize>)]) -> Timeline {
    let mut events = EventTable::default();
    let mut push = |action, index: usize, size| {
        let event = Event::new(action, (1 << 40) + ((index as u64) << 20), size);
        events.push(&Event { stream: Some(0), pool: Some(PoolKey::DEFAULT), ..event });
    };
    for (index, &(size, _)) in made.iter().enumerate() {
        push(Action::Alloc, index, size);
        for (other, &(size, lasts)) in made.iter().enumerate().take(index + 1) {
            if lasts.is_some_and(|lasts| other + lasts == index) {
                push(Action::FreeCompleted, other, size);
            }
        }
    }
    let (device, segments, anchor) = (DeviceId(0), SegmentTable::default(), Anchor::TraceOnly);
    Timeline::build(TimelineInput { device, events, segments, anchor })
}

/// A change of a program: its kind, an allocation, a point and a factor.
type AnyChange = (u8, usize, (u32, u32, bool), f64);

fn change(program: &mut Program<'_>, &(kind, index, (event, rank, is_before), factor): &AnyChange) {
    let id = AllocId((index % program.recorded_count()) as u32);
    let event = EventIx(event % program.timeline().events.len() as u32);
    let at = if is_before { Point::before(event, rank) } else { Point::after(event, rank) };
    match kind {
        0 => program.leave_out(id),
        1 => program.scale(id, factor),
        2 => program.free_at(id, at),
        3 => program.keep_until(id, if rank == 0 { Point::at(event) } else { at }),
        4 => program.make_at(id, at),
        5 => program.delay_until(id, at),
        _ => program.add(id, Row { bytes: 7, start: Point::at(event), end: at.max(Point::after(event, 9)) }),
    }
}

/// The peak of a program, by adding up what it gains at each point. What happens at events counts as one change for each.
fn one_by_one(program: &Program<'_>) -> Peak {
    let mut at_events: BTreeMap<Point, Bytes> = BTreeMap::new();
    let mut between: BTreeMap<Point, Vec<Bytes>> = BTreeMap::new();
    let ids = (0..program.recorded_count() as u32).map(AllocId);
    let rows = ids.map(|id| (program.row(id), program.is_in_place(id)));
    for (row, is_in_place) in rows.chain(program.added.iter().map(|added| (added.row, false))) {
        for (point, change) in [(row.start, row.bytes_there()), (row.end, -row.bytes_there())] {
            if is_in_place {
                *at_events.entry(point).or_default() += change;
            } else {
                between.entry(point).or_default().push(change);
            }
        }
    }
    at_events.remove(&Point::NEVER);
    between.remove(&Point::NEVER);
    let last = Moment(program.timeline().events.len() as u32);
    let moment_behind = |point: Point| {
        let mut moments = (0..=last.0).map(Moment);
        moments.find(|&moment| point < Point::of(moment)).unwrap_or(last)
    };
    let mut order: Vec<(Point, bool, Bytes, Moment)> = Vec::new();
    order.extend(at_events.into_iter().map(|(point, change)| (point, false, change, point.moment())));
    for (point, changes) in between {
        order.extend(changes.into_iter().map(|change| (point, true, change, moment_behind(point))));
    }
    order.sort_unstable();
    let mut peak = Peak { bytes: 0, moment: Moment::START };
    let mut now = Bytes::ZERO;
    for (.., change, moment) in order {
        now += change;
        if peak.bytes < now.as_u64() {
            peak = Peak { bytes: now.unsigned_abs(), moment };
        }
    }
    peak
}

proptest! {
    #[test]
    fn a_changed_program_is_added_up_from_the_recorded_one(
        made in proptest::collection::vec((0..9i64, proptest::option::of(0..12usize)), 1..700),
        changes in proptest::collection::vec(
            (0..7u8, 0..700usize, (0..1400u32, 0..3u32, any::<bool>()), 0.0..2.0f64), 0..60),
    ) {
        let timeline = timeline(&made);
        let recorded = Program::recorded(&timeline);
        let mut changed = recorded.clone();
        for one in &changes {
            change(&mut changed, one);
        }
        for program in [&recorded, &changed] {
            let (peak, profile) = program.sums();
            prop_assert_eq!(peak, one_by_one(program));
            prop_assert_eq!(peak.bytes, profile.peak_bytes());
        }
        // What it leaves as it is is a part of it.
        prop_assert!(recorded.untouched_by(&changed, |_| false).peak().bytes <= changed.peak().bytes);
    }
}
