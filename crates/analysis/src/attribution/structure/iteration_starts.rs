//! The starts of iterations, over all devices that a process uses.

use super::phase_builder::{CallStart, build_phases};
use crate::attribution::facts::{Announced, AnnouncedRange, DeviceFacts, Facts};
use oomscope_model::{EventIx, Recording, Timeline};

/// The start of a call or the end of a step on some device, in the order of time.
struct Mark {
    /// A time in microseconds; of a single device, the number of an event does as well.
    time: i64,
    device: i64,
    /// The call, its data told by an event of the device in question; `None` if it is a step that ends.
    call: Option<CallStart>,
}

/// The first event of each iteration of one device, whose calls are given. Announced steps are preferred to those that
/// stacks show, unless stacks show more.
pub(super) fn iteration_starts(
    recording: &Recording,
    facts: &Facts,
    calls: &[CallStart],
    announced: &Announced,
) -> Vec<EventIx> {
    let device = facts.of_device(recording);
    let others = other_devices(recording);
    if others.is_empty() || recording.device.0 < 0 || !recording.times.has_times() {
        let ends = announced.ends();
        let is_announced = announced.is_complete && !ends.is_empty() && device.steps.seen.len() <= ends.len();
        let steps = if is_announced { &ends } else { &device.steps.all };
        return starts_from_marks(&marks_by_event(calls, steps));
    }
    let mut most_seen = device.steps.seen.len();
    let mut marks = marks_by_time(recording, calls.iter().copied(), device);
    for other in others {
        let device = facts.of_device(other);
        most_seen = most_seen.max(device.steps.seen.len());
        let (_, calls) = build_phases(other, &facts.stacks, device, announced);
        let here =
            |call: CallStart| CallStart { from: event_at(recording, time_us(other, call.from)), ..call };
        marks.extend(marks_by_time(other, calls.into_iter().map(here), device));
    }
    if announced.is_complete && most_seen.max(1) <= announced.steps.len() {
        marks.retain(|mark| mark.call.is_some());
        marks.extend(announced_step_ends(recording, announced));
    }
    // The order of marks of one time matters, so the sort has to be stable.
    marks.sort_by_key(|mark| mark.time);
    merge_calls(&mut marks);
    starts_from_marks(&marks)
}

/// The other devices whose events can be put in order with those of a device.
fn other_devices(recording: &Recording) -> Vec<&Timeline> {
    let is_other = |other: &&Timeline| {
        let is_used = 0 <= other.device.0 && !other.events.is_empty();
        is_used && other.device != recording.device && other.times.has_times()
    };
    recording.snapshot().timelines.iter().map(|other| &**other).filter(is_other).collect()
}

/// The ends of all announced steps, also of those before the device was used.
fn announced_step_ends(timeline: &Timeline, announced: &Announced) -> Vec<Mark> {
    let first_us = timeline.times.first_us().unwrap_or_default();
    let mark = |step: &AnnouncedRange| Mark {
        time: step.time_us[1].saturating_add(first_us),
        device: timeline.device.0,
        call: None,
    };
    announced.steps.iter().map(mark).collect()
}

/// The marks of a single device, in the order of its events: they need no times.
fn marks_by_event(calls: &[CallStart], steps: &[u32]) -> Vec<Mark> {
    let steps = steps.iter().map(|&step| (step, None));
    let calls = calls.iter().map(|&call| (call.event, Some(call)));
    let mark = |(event, call)| Mark { time: i64::from(event), device: 0, call };
    let mut marks: Vec<Mark> = steps.chain(calls).map(mark).collect();
    marks.sort_by_key(|mark| mark.time);
    marks
}

fn marks_by_time(
    timeline: &Timeline,
    calls: impl Iterator<Item = CallStart>,
    facts: &DeviceFacts,
) -> Vec<Mark> {
    let last = (timeline.events.len() as u32).saturating_sub(1);
    let steps = facts.steps.all.iter().map(|&step| (step.saturating_sub(1).min(last), None));
    let calls = calls.map(|call| (call.event, Some(call)));
    let mark = |(event, call)| Mark { time: time_us(timeline, event), device: timeline.device.0, call };
    steps.chain(calls).map(mark).collect()
}

fn time_us(timeline: &Timeline, event: u32) -> i64 {
    timeline.events.time_us(EventIx(event)).unwrap_or_default()
}

/// Merge calls from the same place on different devices: a model that is spread over devices is called once.
fn merge_calls(marks: &mut Vec<Mark>) {
    let mut current: Option<(u32, Vec<i64>)> = None;
    marks.retain(|mark| {
        let Some(CallStart { caller, .. }) = mark.call else { return true };
        match &mut current {
            Some((known, devices)) if *known == caller && !devices.contains(&mark.device) => {
                devices.push(mark.device);
                false
            }
            _ => {
                current = Some((caller, vec![mark.device]));
                true
            }
        }
    });
}

/// An iteration starts with the first call after a step; without steps, with every call that goes on with no other. If any
/// call trains, only such calls count.
fn starts_from_marks(marks: &[Mark]) -> Vec<EventIx> {
    let wanted = marks.iter().any(|mark| mark.call.is_some_and(|call| call.trains));
    let has_steps = marks.iter().any(|mark| mark.call.is_none());
    let mut out = Vec::new();
    let mut is_under_way = false;
    for mark in marks {
        match mark.call {
            None => is_under_way = false,
            Some(call) if call.trains == wanted && !is_under_way && (has_steps || !call.is_part) => {
                out.push(EventIx(call.from));
                is_under_way = has_steps;
            }
            Some(_) => {}
        }
    }
    out
}

/// The first event of a device at a time or after it.
fn event_at(timeline: &Timeline, time_us: i64) -> u32 {
    let since_first = time_us.saturating_sub(timeline.times.first_us().unwrap_or_default());
    if since_first <= 0 { 0 } else { timeline.times.moment_at(&timeline.events, since_first - 1).0 }
}
