//! Facts about the recording: where it stood, how long it is, what it holds.

use crate::damage::damage_line;
use crate::trust::device_sentences;
use oomscope_analysis::{NO_STACK, Phase, PhaseBasis, is_python, site_label};
use oomscope_diagnosis::{Diagnosis, MomentPosition};
use oomscope_model::{FrameId, Moment, Recording, Snapshot, Timeline};
use oomscope_units as units;
use std::sync::Arc;

/// Facts about the recording, each with its label.
pub(super) fn facts(recording: &Recording, diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let snapshot = recording.snapshot();
    let mut facts = Vec::new();
    facts.extend(damage_line(snapshot).map(|text| ("Damage", text)));
    facts.extend(not_known(recording).map(|text| ("Not known", text)));
    facts.extend(request(recording, diagnosis.at.moment).map(|text| ("Request", text)));
    facts.extend(activity(diagnosis.at).map(|text| ("At this moment", text)));
    if diagnosis.dump.moment != diagnosis.at.moment {
        facts.extend(activity(diagnosis.dump).map(|text| ("At the dump", text)));
    }
    facts.push(("Recorded", extent(recording)));
    facts.push(("Stacks", stacks(snapshot).to_owned()));
    facts.push(("Peaks", peaks(recording)));
    facts.extend(other_devices(recording).map(|text| ("Other memory", text)));
    facts
}

/// Why figures of the device are not known; `None` if all are.
fn not_known(recording: &Recording) -> Option<String> {
    let sentences = device_sentences(recording);
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// The request that failed at a moment, with its line of code; `None` if none did.
fn request(recording: &Recording, moment: Moment) -> Option<String> {
    let oom = recording.ooms.iter().rfind(|oom| Some(oom.event) == moment.event())?;
    let label = site_label(recording.snapshot(), recording.events.stack(oom.event));
    let by = if label == NO_STACK { String::new() } else { format!(" by {label}") };
    Some(format!("{}{by} failed (event {})", units::bytes(oom.requested), units::count(oom.event.0)))
}

/// The length of the recording, and the memory in use when it began.
fn extent(timeline: &Timeline) -> String {
    let events = units::counted(timeline.events.len(), "event");
    let mut parts = vec![events.clone()];
    if let Some((first, last)) = timeline.events.time_range_us() {
        parts = vec![format!("{events} over {}", units::duration_us(last.saturating_sub(first)))];
        parts.push(format!("started {}", units::date_time_us(first)));
    }
    match timeline.active_at(Moment::START).known() {
        None => parts.push("what was in use before the first event is unknown".to_owned()),
        Some(_) if timeline.events.is_empty() => {}
        Some(before) => parts.push(format!("{} in use before", units::bytes(before))),
    }
    parts.join(" · ")
}

fn peaks(timeline: &Timeline) -> String {
    let active = peak_text(timeline);
    let reserved = timeline.peak_reserved().1.written(units::bytes);
    format!("{active} in use · {reserved} reserved")
}

fn peak_text(timeline: &Timeline) -> String {
    timeline.peak_active().1.written(units::bytes)
}

/// The peaks of the other devices; `None` if there are none.
fn other_devices(recording: &Recording) -> Option<String> {
    let others = recording.snapshot().timelines.iter().filter(|other| other.device != recording.device);
    let peak = |other: &Arc<Timeline>| format!("{}: peak {}", other.device, peak_text(other));
    let peaks: Vec<String> = others.map(peak).collect();
    (!peaks.is_empty()).then(|| peaks.join(" · "))
}

/// The program's activity at a moment: `backward pass of iteration 3, counted from 0`.
fn activity(at: MomentPosition) -> Option<String> {
    let position = at.position;
    let phase = match position.phase {
        Phase::Init => "building the model",
        Phase::Data => "loading data",
        Phase::Forward => "forward pass",
        Phase::Backward => "backward pass",
        Phase::Optimizer => "optimizer step",
        Phase::Eval => "evaluation",
        Phase::Unknown => return None,
    };
    // Live memory shows that a step is over, not that one is under way.
    let after = if position.basis == Some(PhaseBasis::LiveMemory) && position.phase == Phase::Optimizer {
        "after an "
    } else {
        ""
    };
    let iteration = match (position.iteration, position.iteration_of_recording) {
        (Some(number), _) => format!(" of iteration {}, counted from 0", units::count(number)),
        (None, Some(number)) => {
            format!(" of iteration {} of the recording, counted from 0", units::count(number))
        }
        (None, None) => String::new(),
    };
    let least = position.iteration_at_least.map(|number| {
        let number = units::count(number);
        format!("; at least iteration {number} of the training, as an optimizer had stepped before")
    });
    let basis = position.basis.and_then(PhaseBasis::text).map(|text| format!(", {text}"));
    Some([after, phase, &iteration, &least.unwrap_or_default(), &basis.unwrap_or_default()].concat())
}

/// The languages of the recorded frames.
fn stacks(snapshot: &Snapshot) -> &'static str {
    let (mut python, mut native) = (false, false);
    for id in 0..snapshot.frames.len() as u32 {
        let frame = snapshot.frames.get(FrameId(id));
        let file = snapshot.strings.path(frame.file);
        let is_python = is_python(&file);
        python |= is_python;
        native |= !is_python;
        if python && native {
            break;
        }
    }
    match (python, native) {
        (true, true) => "Python and C++ frames",
        (true, false) => "Python frames only",
        (false, true) => "C++ frames only",
        (false, false) => "none recorded",
    }
}
