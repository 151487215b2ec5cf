//! How far the figures of a device can be trusted: in words, and as JSON has it.

use super::damage::damage_line;
use super::predicted::predicted_line;
use oomscope_model::{Moment, Recording, Snapshot, Timeline, Why};
use oomscope_units as units;
use serde::Serialize;
use std::sync::Arc;

/// How far each kind of figure can be trusted, for JSON: `known`, `at_least` or `unknown`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TrustRecord {
    in_use: &'static str,
    peak_in_use: &'static str,
    reserved: &'static str,
    peak_reserved: &'static str,
    failed_requests: &'static str,
    /// Why some are not known, in sentences.
    why: Vec<String>,
}

impl TrustRecord {
    pub(super) fn of(recording: &Recording) -> Self {
        let trust = recording.trust;
        Self {
            in_use: trust.in_use.key(),
            peak_in_use: trust.peak_in_use.key(),
            reserved: trust.reserved.key(),
            peak_reserved: trust.peak_reserved.key(),
            failed_requests: trust.failed_requests.key(),
            why: trust_sentences(recording),
        }
    }
}

/// Why figures of a device are not known, a sentence for each reason. Empty where all are.
pub fn trust_sentences(recording: &Recording) -> Vec<String> {
    damage_line(recording.snapshot()).into_iter().chain(device_sentences(recording)).collect()
}

/// The same without the damage of the file.
pub(super) fn device_sentences(recording: &Recording) -> Vec<String> {
    recording.trust.whys().into_iter().filter_map(|why| sentence(recording, why)).collect()
}

/// What is to be known of the figures of some devices of a file: that they are predicted, and why they are not known, with the
/// device where the file has several.
pub fn trust_lines<'a>(
    snapshot: &Snapshot,
    recordings: impl IntoIterator<Item = &'a Recording>,
) -> Vec<String> {
    let of_devices = recordings.into_iter().flat_map(lines_of).map(|(_, line)| line);
    predicted_line(snapshot).into_iter().chain(damage_line(snapshot)).chain(of_devices).collect()
}

/// Why figures of the devices of a file are not known, besides the damage of the file.
pub fn device_lines(snapshot: &Arc<Snapshot>) -> Vec<(Why, String)> {
    Recording::all(snapshot).flat_map(|recording| lines_of(&recording)).collect()
}

fn lines_of(recording: &Recording) -> Vec<(Why, String)> {
    let is_one = recording.snapshot().timelines.len() < 2;
    let device = units::capitalised(&recording.device.to_string());
    let line = |why| {
        let text = sentence(recording, why)?;
        Some((why, if is_one { text } else { format!("{device}: {text}") }))
    };
    recording.trust.whys().into_iter().filter_map(line).collect()
}

/// A reason in a few words, for a cell of a table.
pub(super) fn in_short(why: Why) -> &'static str {
    match why {
        Why::StartsLate => "starts late",
        Why::NoHistory => "no history",
        Why::Damaged => "file is damaged",
        Why::EndMissing => "final state is missing",
        Why::SegmentEventsMissing => "segment events are missing",
        Why::LeftOut => "parts could not be used",
        Why::Contradicts => "contradicts itself",
    }
}

/// A reason in a sentence; `None` for damage, which is one of the whole file.
fn sentence(recording: &Recording, why: Why) -> Option<String> {
    Some(match why {
        Why::Damaged => return None,
        Why::StartsLate => format!(
            "The recording starts{}: earlier peaks and failed requests are not in it",
            start_text(recording)
        ),
        Why::NoHistory => {
            "No allocations were recorded: only the end is known, not the peaks and failed requests before it".to_owned()
        }
        Why::EndMissing => {
            "The final state is missing, and with it memory that no event mentions: figures are at least what is shown".to_owned()
        }
        Why::SegmentEventsMissing => format!(
            "Reserved memory is not known, as events of segments are missing: {}",
            contradictions(recording)
        ),
        Why::LeftOut => format!("Figures are not known, as parts of the file could not be used: {}", left_out(recording.snapshot())),
        Why::Contradicts => {
            format!("The recording contradicts itself, so its figures are not known: {}", contradictions(recording))
        }
    })
}

/// Since when there is a history, and what was live before: ` on 2026-01-31 … with 1.80 GiB in use and 2.00 GiB reserved`.
pub fn start_text(timeline: &Timeline) -> String {
    let when = timeline.times.first_us().map(|us| format!(" on {}", units::date_time_us(us)));
    let active = timeline.active_at(Moment::START).written(units::bytes);
    let reserved = timeline.reserved_at(Moment::START).written(units::bytes);
    format!("{} with {active} in use and {reserved} reserved", when.unwrap_or_default())
}

/// What events and segments say that cannot all be true.
fn contradictions(timeline: &Timeline) -> String {
    let mut parts: Vec<String> =
        timeline.anomalies.iter().map(|(kind, count)| times(kind.describe(), count)).collect();
    let least = timeline.reserved.steps().iter().map(|&(_, bytes)| bytes).min().unwrap_or_default();
    if least < 0 {
        parts.push(format!("reserved memory falls to {}", units::bytes(least)));
    }
    parts.join("; ")
}

fn left_out(snapshot: &Snapshot) -> String {
    let parts = snapshot.issues.iter().map(|issue| times(&issue.what, issue.count));
    parts.collect::<Vec<_>>().join("; ")
}

fn times(what: &str, count: u64) -> String {
    match count {
        1 => what.to_owned(),
        _ => format!("{what} ({} times)", units::count(count)),
    }
}
