//! Where iterations start, over all devices that a process uses.

use super::walk::{Begin, Walk, walk};
use crate::analysis::attribution::facts::{Announced, Work};
use crate::analysis::attribution::facts::{Facts, Flow};
use crate::model::{EventIx, Snapshot, Timeline};

/// A begin or the end of a step on some device, at a time.
struct Mark {
    time_us: i64,
    device: i64,
    what: What,
}

enum What {
    Step,
    Begin { caller: u32, trains: bool, start: Start },
}

/// Where an iteration would start: an event of the device in question, or a time.
#[derive(Clone, Copy)]
enum Start {
    Event(u32),
    TimeUs(i64),
}

/// The first event of each iteration of one device. Steps that were announced come before those that stacks show,
/// unless these are more.
pub(super) fn starts(
    snapshot: &Snapshot,
    timeline: &Timeline,
    facts: &Facts,
    own: &Walk<'_>,
    announced: &Announced,
) -> Vec<EventIx> {
    let flow = facts.flow(timeline);
    let is_other = |t: &&Timeline| {
        0 <= t.device.0 && t.device != timeline.device && t.times.has_times() && !t.events.is_empty()
    };
    let others: Vec<&Timeline> = snapshot.timelines.iter().filter(is_other).collect();
    if others.is_empty() || timeline.device.0 < 0 || !timeline.times.has_times() {
        let told = announced.ends();
        let is_told = announced.is_complete && !told.is_empty() && flow.steps.seen.len() <= told.len();
        return of_marks(&one_device(own, if is_told { &told } else { &flow.steps.all }), timeline);
    }
    let mut most_seen = flow.steps.seen.len();
    let mut marks = timed(timeline, own, flow, true);
    for other in others {
        let flow = facts.flow(other);
        most_seen = most_seen.max(flow.steps.seen.len());
        let walk = walk(other, &facts.places, flow);
        marks.extend(timed(other, &walk, flow, false));
    }
    if announced.is_complete && most_seen.max(1) <= announced.steps.len() {
        marks.retain(|mark| !matches!(mark.what, What::Step));
        marks.extend(told(timeline, announced));
    }
    marks.sort_by_key(|mark| mark.time_us);
    merge_calls(&mut marks);
    of_marks(&marks, timeline)
}

/// The ends of all announced steps, also of those before the device was used.
fn told(timeline: &Timeline, announced: &Announced) -> Vec<Mark> {
    let first_us = timeline.times.first_us().unwrap_or_default();
    let mark = |step: &Work| Mark {
        time_us: step.time_us[1].saturating_add(first_us),
        device: timeline.device.0,
        what: What::Step,
    };
    announced.steps.iter().map(mark).collect()
}

/// Without other devices, events are as good as times.
fn one_device(own: &Walk<'_>, steps: &[u32]) -> Vec<Mark> {
    let steps = steps.iter().map(|&step| (i64::from(step), What::Step));
    let begins = own.begins.iter().map(|b| (i64::from(b.event), begin(b, Start::Event(b.from))));
    let mut marks: Vec<Mark> =
        steps.chain(begins).map(|(time_us, what)| Mark { time_us, device: 0, what }).collect();
    marks.sort_by_key(|mark| mark.time_us);
    marks
}

fn begin(begin: &Begin, start: Start) -> What {
    What::Begin { caller: begin.caller, trains: begin.trains, start }
}

fn timed(timeline: &Timeline, walk: &Walk<'_>, flow: &Flow, is_own: bool) -> Vec<Mark> {
    let device = timeline.device.0;
    let time = |event: u32| timeline.events.time_us(EventIx(event)).unwrap_or_default();
    let last = (timeline.events.len() as u32).saturating_sub(1);
    let steps = flow.steps.all.iter().map(|&step| Mark {
        time_us: time(step.saturating_sub(1).min(last)),
        device,
        what: What::Step,
    });
    let begins = walk.begins.iter().map(|b| {
        let start = if is_own { Start::Event(b.from) } else { Start::TimeUs(time(b.from)) };
        Mark { time_us: time(b.event), device, what: begin(b, start) }
    });
    steps.chain(begins).collect()
}

/// A model that is spread over devices is called once: calls from the same place, one on each.
fn merge_calls(marks: &mut Vec<Mark>) {
    let mut current: Option<(u32, Vec<i64>)> = None;
    marks.retain(|mark| {
        let What::Begin { caller, .. } = mark.what else { return true };
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

fn of_marks(marks: &[Mark], timeline: &Timeline) -> Vec<EventIx> {
    let wanted = marks.iter().any(|mark| matches!(mark.what, What::Begin { trains: true, .. }));
    let has_steps = marks.iter().any(|mark| matches!(mark.what, What::Step));
    let mut out = Vec::new();
    let mut is_under_way = false;
    for mark in marks {
        match mark.what {
            What::Step => is_under_way = false,
            What::Begin { trains, start, .. } if trains == wanted && !is_under_way => {
                out.push(EventIx(event(timeline, start)));
                is_under_way = has_steps;
            }
            What::Begin { .. } => {}
        }
    }
    out
}

fn event(timeline: &Timeline, start: Start) -> u32 {
    match start {
        Start::Event(event) => event,
        Start::TimeUs(time_us) => {
            let since_first = time_us.saturating_sub(timeline.times.first_us().unwrap_or_default());
            if since_first <= 0 { 0 } else { timeline.times.moment_at(&timeline.events, since_first - 1).0 }
        }
    }
}
