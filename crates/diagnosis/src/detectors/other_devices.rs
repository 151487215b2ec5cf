//! What the other devices of the file held when a request failed on this one.

use crate::assessment::Assessment;
use crate::case::{Case, Shortage};
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::sentence::{Sentence, name, say};
use oomscope_model::{Bytes, DeviceId, Moment, OomEvent, Timeline};
use oomscope_program::share::MOST;
use oomscope_units::capitalised;

/// Devices that are listed one by one, at most: a machine has eight.
const MAX_LISTED: usize = 8;

/// Another device at the time of the failure.
struct Other<'a> {
    timeline: &'a Timeline,
    active_bytes: Bytes,
    reserved_bytes: Bytes,
    /// Whether a request has failed there as well by then.
    has_failed: bool,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some(shortage) = &case.shortage else { return Vec::new() };
    let mut others = others(case, &shortage.oom);
    others.sort_by_key(|other| (other.active_bytes, other.timeline.device));
    let Some(least) = others.first() else { return Vec::new() };
    let mut finding = Finding::new(FindingId::OtherDevices, Severity::Info, title(&others, case));
    for other in others.iter().take(MAX_LISTED) {
        finding.explain(sentence(other, shortage));
    }
    let evidence = &mut finding.evidence;
    evidence.count("other_devices", "other devices", others.len());
    evidence.bytes("least_active_bytes", "in use on the one with least", least.active_bytes);
    let most = others.iter().map(|other| other.active_bytes).max().unwrap_or_default();
    evidence.bytes("most_active_bytes", "in use on the one with most", most);
    if !MOST.is_reached(least.active_bytes, shortage.active_bytes) {
        finding.advise("Spread the memory more evenly: move layers or batches to the emptier device (device_map, pipeline or tensor parallelism, FSDP), and check that nothing lands on this one by default (set_device, map_location).");
    }
    finding.limit("A recording has what a device has left only where a request fails on it. Times are those of the host.");
    vec![finding]
}

/// The other devices that can be seen at the time of a failure.
fn others<'a>(case: &Case<'a>, oom: &OomEvent) -> Vec<Other<'a>> {
    let time_us = case.recording.events.time_us(oom.event);
    let all = case.recording.snapshot().timelines.iter();
    let others = all.filter(|other| other.device != case.recording.device && other.device != DeviceId::HOST);
    others
        .filter_map(|timeline| {
            let at = moment(timeline, time_us)?;
            let (active_bytes, reserved_bytes) = (timeline.active.at(at), timeline.reserved.at(at));
            let has_failed = timeline.ooms.iter().any(|oom| Moment::after(oom.event) <= at);
            Some(Other { timeline, active_bytes, reserved_bytes, has_failed })
        })
        .collect()
}

/// The moment of a device at a time of the host; `None` if it cannot be told.
fn moment(timeline: &Timeline, time_us: Option<i64>) -> Option<Moment> {
    if timeline.events.is_empty() {
        return Some(Moment::START);
    }
    time_us.filter(|_| timeline.times.has_times()).map(|us| timeline.times.moment_at(&timeline.events, us))
}

fn title(others: &[Other<'_>], case: &Case<'_>) -> Sentence {
    let this = name(case.recording.device.to_string());
    if let [other] = others {
        let device = name(capitalised(&other.timeline.device.to_string()));
        return say!(
            "{} had {} in use when {} ran out of memory",
            device,
            figure::bytes(other.active_bytes),
            this
        );
    }
    let together = others.iter().map(|other| other.active_bytes).sum::<Bytes>();
    say!(
        "{} other devices had {} in use together when {} ran out of memory",
        figure::count(others.len()),
        figure::bytes(together),
        this
    )
}

fn sentence(other: &Other<'_>, shortage: &Shortage) -> Sentence {
    // The devices of a machine are mostly alike, but no file says so.
    let left = shortage.available_bytes().map(|had| had - other.reserved_bytes);
    let left = left.filter(|&left| 0 < left && !other.has_failed);
    let left =
        left.map(|left| say!("; if it is as large as this one, about {} were left", figure::bytes(left)));
    let failed = if other.has_failed { ", and had failed a request before" } else { "" };
    say!(
        "{}: {} in use of {} reserved{}{}.",
        name(capitalised(&other.timeline.device.to_string())),
        figure::bytes(other.active_bytes),
        figure::bytes(other.reserved_bytes),
        left,
        failed
    )
}
