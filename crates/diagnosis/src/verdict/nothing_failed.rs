//! The verdict about a moment at which no request failed.

use super::composition;
use crate::case::{Case, own_tree};
use crate::figure;
use crate::finding::{Finding, Role, Severity, command};
use crate::findings::FindingId;
use crate::retained::{self, Retained};
use crate::sentence::{Sentence, name, say};
use oomscope_model::{Anchor, DeviceId, Moment, OomEvent};

/// The verdict that no request failed at the moment, and how far that is good news.
pub(super) fn nothing_failed(case: &Case<'_>, retained: Option<&Retained>) -> Finding {
    let timeline = case.recording.timeline();
    let mut finding = Finding::new(FindingId::Nothing, Severity::Info, title(case, retained));
    if let Some(why) = composition::why(case) {
        finding.because(why);
    }
    finding.evidence.tree = Some(own_tree(&case.code, "In use", Role::Live, &case.live_stacks()));
    damage(&mut finding, case);
    let oom = nearest_oom(case);
    if let Some(oom) = oom {
        failure(&mut finding, oom);
    }
    let total = &case.state.total;
    let evidence = &mut finding.evidence;
    evidence.bytes("active_bytes", "active", total.active_rounded_bytes());
    evidence.bytes("reserved_bytes", "reserved", total.reserved_bytes);
    evidence.bytes("hole_bytes", "reserved and free", total.hole_bytes);
    if case.has_history() {
        let (moment, bytes) = timeline.active.peak();
        // torch writes the sizes of pinned blocks as they are once rounded.
        let is_host = timeline.device == DeviceId::HOST;
        let label = if is_host { "peak active, rounded" } else { "peak active, as requested" };
        evidence.bytes("peak_active_bytes", label, bytes);
        evidence.bytes("peak_reserved_bytes", "peak reserved", timeline.reserved.peak().1);
        evidence.events.extend(moment.event());
    } else if oom.is_none() && is_whole(case) {
        finding.limit("Without events only the state at the dump is known, not what came before it.");
    }
    if oom.is_none() && timeline.device != DeviceId::HOST {
        capacity(&mut finding, case);
    }
    finding
}

fn title(case: &Case<'_>, retained: Option<&Retained>) -> Sentence {
    let timeline = case.recording.timeline();
    let in_use = figure::bytes(timeline.active.at(case.moment));
    if let Some(oom) = nearest_oom(case) {
        let failed = when(case, oom);
        return say!("No request failed at this moment, with {} in use; {}", in_use, failed);
    }
    if case.recording.snapshot().damage.is_some() {
        return "Cannot tell: the file is damaged; no request failed in what could be read".into();
    }
    if !is_whole(case) {
        return "Cannot tell: the end state is missing; no request failed in what was recorded".into();
    }
    if !case.has_history() {
        return say!("No history was recorded; {}", composition::headline(case));
    }
    let headline = composition::headline(case);
    match retained.and_then(|retained| growth(case, retained)) {
        Some(growth) => say!("{}; {}", headline, growth),
        None => headline,
    }
}

/// How much memory comes with each repetition, and by which line, if it goes on growing.
pub(super) fn growth(case: &Case<'_>, retained: &Retained) -> Option<Sentence> {
    let times = retained.steady.filter(|_| retained.is_worth_a_word(case))?;
    let line = retained::line(retained, case).map(|site| say!(" ({})", name(site.place())));
    Some(say!(
        "memory grows by {} with each of {} {}{}",
        figure::bytes(retained.per_repetition_bytes),
        figure::count(times),
        retained.noun.plural(),
        line
    ))
}

/// Whether the file is undamaged, so that its end is known.
fn is_whole(case: &Case<'_>) -> bool {
    case.recording.trust.is_sound()
}

fn damage(finding: &mut Finding, case: &Case<'_>) {
    if let Some(damage) = &case.recording.snapshot().damage {
        let offset = figure::count(damage.offset);
        finding.limit(say!("The file is damaged at byte {}: what came later is not in this report.", offset));
    }
    if case.recording.anchor == Anchor::TraceOnly {
        finding.limit(
            "The end state is missing, so memory from before the recording is missing from all figures.",
        );
    }
}

/// The first request that fails after the moment, else the last one before it.
fn nearest_oom<'a>(case: &Case<'a>) -> Option<&'a OomEvent> {
    let ooms = &case.recording.ooms;
    ooms.iter().find(|oom| case.moment < Moment::after(oom.event)).or(ooms.last())
}

/// `1.88 GiB fail 8 events later, at event 1,988`.
fn when(case: &Case<'_>, oom: &OomEvent) -> Sentence {
    let (at, moment) = (Moment::after(oom.event), case.moment);
    let event = figure::event(oom.event);
    let requested = figure::bytes(oom.requested);
    let events = |n: u32| figure::counted(n as usize, "event");
    if moment < at {
        say!("{} fail {} later, at {}", requested, events(at.0 - moment.0), event)
    } else {
        say!("{} failed {} before, at {}", requested, events(moment.0.saturating_sub(at.0)), event)
    }
}

fn failure(finding: &mut Finding, oom: &OomEvent) {
    finding.evidence.event("oom_event", "failed request", oom.event);
    finding.evidence.bytes("oom_requested_bytes", "requested in vain", oom.requested);
    finding.advise_code(
        "Why it failed is told about that moment:",
        command("oomscope report FILE --at", oom.event.0),
    );
}

/// Say how much of the device was left, if its memory is given.
fn capacity(finding: &mut Finding, case: &Case<'_>) {
    let Some(device) = case.device_memory else {
        finding
            .limit("The recording does not state the device's memory, so it cannot say how much was left; --capacity does.");
        return;
    };
    let timeline = case.recording.timeline();
    let (at, reserved) = timeline.reserved.peak();
    let when = at.event().map(|event| say!(" ({})", figure::event(event)));
    let (most, has) = (figure::bytes(reserved), figure::bytes(device));
    finding.evidence.bytes("device_memory_bytes", "memory of the device, as given or recorded", device);
    if device < reserved {
        let excess = reserved - device;
        (finding.id, finding.severity) = (FindingId::Capacity, Severity::Warning);
        finding.title = say!("{} were reserved, more than the {} that the device is said to have", most, has);
        finding.evidence.bytes("over_capacity_bytes", "reserved beyond it at the peak", excess);
        let active = timeline.active.peak().1;
        let fits = if device < active {
            say!("{} were in use at once, so the program does not fit into {}.", figure::bytes(active), has)
        } else {
            say!(
                "{} were in use at most: with less cached the program may fit into {}.",
                figure::bytes(active),
                has
            )
        };
        finding.explain(say!("It was recorded on a device with more{}. {}", when, fits));
        finding.advise_code(
            "Try the recorded requests on such a device:",
            command("oomscope simulate FILE --capacity", device.0),
        );
    } else {
        let left = device - reserved;
        let most = if is_whole(case) { "" } else { "at most " };
        finding.evidence.bytes("left_bytes", "not reserved when most was", left);
        finding.explain(say!(
            "Of the device's {}, {}{} were left to all others when most was reserved{}.",
            has,
            most,
            figure::bytes(left).of(device),
            when
        ));
        finding.limit("What other libraries and programs held of the device is not in the recording.");
    }
    finding.evidence.events.extend(at.event());
}
