//! What a comparison of ranks needs to know of a recording.

use crate::{DiagnosisRequest, Finding, FindingId, Severity, diagnose};
use oomscope_analysis::{
    Attribution, CategoryBytes, Facts, Phases, Position, StackLabels, UserRules, capacity, iteration_table,
    live_at, sites,
};
use oomscope_model::{Bytes, DeviceId, DeviceTrust, Moment, Recording, Snapshot, Timeline, TrustedBytes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Slices of equal numbers of events in which the course of a recording is kept: more than a picture of it has columns.
pub(super) const SLICES: usize = 240;

/// Changes of reserved memory that are kept at most. They are segments, of which recordings have hundreds.
const MAX_CHANGES: usize = 100_000;

/// One device of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSummary {
    /// The device, by the number that its process gave it.
    pub device: DeviceId,
    /// Number of events.
    pub events: usize,
    /// Most active memory.
    pub peak: PeakSummary,
    /// Most reserved bytes.
    pub peak_reserved_bytes: Bytes,
    /// The last failed request, if one failed.
    pub failure: Option<FailureSummary>,
    /// Bytes that could be reserved on the device, where an OOM says so.
    pub capacity_bytes: Option<Bytes>,
    /// The verdict about it alone.
    pub verdict: VerdictSummary,
    /// The peaks of the iterations, in order.
    pub iterations: Vec<IterationPeak>,
    /// Most active bytes in equal parts of the recording's events; at least one.
    pub slices: Vec<Bytes>,
    /// Reserved bytes after each change, with its time in microseconds since 1970. Empty without times, and where there
    /// are more changes than are kept.
    pub reserved: Vec<(i64, Bytes)>,
    /// First and last recorded time, in microseconds since 1970.
    pub time_us: Option<[i64; 2]>,
    /// When the file was written, where the recorder says so, in microseconds since 1970: nothing changed between the last event and then.
    pub taken_us: Option<i64>,
    /// How many ranks the job has, where the recorder says so.
    pub world_size: Option<u32>,
    /// True if only a part of the file could be read.
    pub is_damaged: bool,
    /// True if no device recorded the file.
    pub is_predicted: bool,
    /// How far its figures can be trusted.
    pub trust: DeviceTrust,
}

impl DeviceSummary {
    /// The most bytes in use.
    pub fn peak_active(&self) -> TrustedBytes {
        TrustedBytes::new(self.peak.active_bytes, self.trust.peak_in_use)
    }

    /// The most bytes reserved.
    pub fn peak_reserved(&self) -> TrustedBytes {
        TrustedBytes::new(self.peak_reserved_bytes, self.trust.peak_reserved)
    }
}

/// The finding that comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictSummary {
    /// Its kind.
    pub id: FindingId,
    /// What it says; empty where nothing was found.
    pub title: String,
    /// Its severity.
    pub severity: Severity,
    /// So many bytes more than the median of the ranks are the verdict instead; `None` where they are not.
    pub uneven_from_bytes: Option<Bytes>,
}

/// Most active memory.
#[derive(Debug, Clone, PartialEq)]
pub struct PeakSummary {
    /// The moment of the peak.
    pub moment: Moment,
    /// Active bytes then.
    pub active_bytes: Bytes,
    /// The phase and iteration of the program.
    pub position: Position,
    /// What the memory is for, most bytes first.
    pub categories: Vec<CategoryBytes>,
    /// The lines of code that allocated it, most bytes first.
    pub lines: Vec<LineBytes>,
}

/// Memory of a line of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineBytes {
    /// The line with its function, as `train.py:55 forward`.
    pub line: String,
    /// Requested bytes.
    pub bytes: Bytes,
    /// Number of blocks.
    pub blocks: usize,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureSummary {
    /// The moment after it.
    pub moment: Moment,
    /// Bytes that were requested.
    pub requested_bytes: Bytes,
    /// Its time in microseconds since 1970.
    pub time_us: Option<i64>,
    /// Active and reserved bytes then.
    pub active_bytes: Bytes,
    /// Reserved bytes then.
    pub reserved_bytes: Bytes,
}

/// The peak of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IterationPeak {
    /// Its number from 0; `None` where the recording starts too late to know.
    pub number: Option<u32>,
    /// Most active bytes in it.
    pub active_bytes: Bytes,
}

/// Every device of a file, by device.
pub fn summarize(snapshot: &Arc<Snapshot>, rules: &UserRules) -> Vec<DeviceSummary> {
    let facts = Facts::of(snapshot, rules);
    Recording::all(snapshot).map(|recording| summary(&recording, &facts)).collect()
}

fn summary(recording: &Recording, facts: &Facts) -> DeviceSummary {
    let attribution = Attribution::of_device(facts, recording);
    let diagnosis = diagnose(recording, &attribution, DiagnosisRequest::default()).ok();
    DeviceSummary {
        device: recording.device,
        events: recording.events.len(),
        peak: peak(recording, &attribution),
        peak_reserved_bytes: recording.reserved.peak().1,
        failure: failure(recording),
        capacity_bytes: capacity(recording),
        verdict: verdict(diagnosis.as_ref().and_then(|diagnosis| diagnosis.verdict())),
        iterations: iterations(recording, &attribution.phases),
        slices: slices(recording),
        reserved: reserved(recording),
        time_us: recording
            .times
            .first_us()
            .map(|first| [first, first.saturating_add(recording.times.span_us())]),
        taken_us: recording.snapshot().noted("taken_us"),
        world_size: recording.snapshot().noted("world_size").and_then(|ranks| u32::try_from(ranks).ok()),
        is_damaged: recording.snapshot().damage.is_some(),
        is_predicted: recording.snapshot().is_estimate(),
        trust: recording.trust,
    }
}

fn verdict(found: Option<&Finding>) -> VerdictSummary {
    VerdictSummary {
        id: found.map_or(FindingId::Nothing, |verdict| verdict.id),
        title: found.map(|verdict| verdict.title.to_string()).unwrap_or_default(),
        severity: found.map_or(Severity::Info, |verdict| verdict.severity),
        uneven_from_bytes: found.and_then(|verdict| verdict.uneven_from_bytes),
    }
}

fn peak(recording: &Recording, attribution: &Attribution) -> PeakSummary {
    let (moment, active_bytes) = recording.active.peak();
    let mut categories = attribution.categories.bytes_at(recording, moment);
    categories.sort_by_key(|of| (std::cmp::Reverse(of.bytes), of.category));
    PeakSummary {
        moment,
        active_bytes,
        position: attribution.phases.position_at(moment),
        categories,
        lines: lines(recording, moment),
    }
}

/// The lines of code that allocated what is live at a moment.
fn lines(recording: &Recording, moment: Moment) -> Vec<LineBytes> {
    let labels = StackLabels::of_sites(recording.snapshot());
    let mut by_line: BTreeMap<&str, (Bytes, usize)> = BTreeMap::new();
    for site in sites(&live_at(recording, moment)) {
        let (bytes, blocks) = by_line.entry(labels.label(site.stack)).or_default();
        *bytes += site.bytes;
        *blocks += site.count;
    }
    let mut lines: Vec<LineBytes> = by_line
        .into_iter()
        .map(|(line, (bytes, blocks))| LineBytes { line: line.to_owned(), bytes, blocks })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.bytes));
    lines
}

fn failure(timeline: &Timeline) -> Option<FailureSummary> {
    let oom = timeline.ooms.last()?;
    let moment = Moment::after(oom.event);
    Some(FailureSummary {
        moment,
        requested_bytes: oom.requested,
        time_us: timeline.events.time_us(oom.event),
        active_bytes: timeline.active.at(moment),
        reserved_bytes: timeline.reserved.at(moment),
    })
}

fn iterations(timeline: &Timeline, phases: &Phases) -> Vec<IterationPeak> {
    let rows = iteration_table(timeline, phases).into_iter();
    rows.map(|row| IterationPeak { number: row.number, active_bytes: row.peak_bytes }).collect()
}

/// The exact maximum of each of at most [`SLICES`] parts of a recording.
fn slices(timeline: &Timeline) -> Vec<Bytes> {
    let moments = timeline.active.len();
    let count = moments.clamp(1, SLICES);
    let start = |slice: usize| slice * moments / count;
    let peak = |slice| {
        timeline.active.peak_in(start(slice)..start(slice + 1)).map_or(Bytes::ZERO, |(_, bytes)| bytes)
    };
    (0..count).map(peak).collect()
}

/// Reserved bytes by time.
fn reserved(timeline: &Timeline) -> Vec<(i64, Bytes)> {
    let (steps, Some(first_us)) = (timeline.reserved.steps(), timeline.times.first_us()) else {
        return Vec::new();
    };
    if MAX_CHANGES < steps.len() {
        return Vec::new();
    }
    let time_us = |moment: Moment| first_us.saturating_add(timeline.times.at(&timeline.events, moment));
    steps.iter().map(|&(moment, bytes)| (time_us(moment), bytes)).collect()
}
