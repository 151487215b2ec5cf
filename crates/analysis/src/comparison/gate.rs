//! The figures of a device at its peak that a later recording is held against.

use super::lines::{CodeLine, match_lines};
use super::side::Side;
use super::sites::Sites;
use crate::{Category, CategoryBytes, InferredPart};
use oomscope_model::{Bytes, DeviceId, StackId};
use std::collections::BTreeMap;

/// Lines with less than one part in this many of the peak are left out: a tenth of what any sensible tolerance is.
const SMALLEST_PART: i64 = 1_000;

/// The figures of a device at its peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeakSummary {
    /// The device.
    pub device: DeviceId,
    /// The most active bytes.
    pub peak_bytes: Bytes,
    /// The most reserved bytes.
    pub reserved_bytes: Bytes,
    /// Whether the end of the trace was recorded, and nothing contradicts the figures.
    pub is_complete: bool,
    /// Live bytes by category.
    pub categories: Vec<CategoryBytes>,
    /// Live bytes by line of code, most first, without lines that hold next to nothing.
    pub lines: Vec<(CodeLine, Bytes)>,
}

/// What a figure is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateItem {
    /// The most active bytes.
    Peak,
    /// The most reserved bytes.
    Reserved,
    /// A category at the peak.
    Category(Category),
    /// A line of code at the peak.
    Line(CodeLine),
}

/// A figure beside that of the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRow {
    /// What it is about.
    pub item: GateItem,
    /// Bytes of the baseline.
    pub before_bytes: Bytes,
    /// Bytes now.
    pub now_bytes: Bytes,
    /// Whether it grew by more than is tolerated.
    pub is_exceeded: bool,
    /// Whether only one of both is mostly inferred, so that growth may be another judgement. Such a row is never exceeded.
    pub is_judged_differently: bool,
}

/// The figures of a side, whose moment is the peak of its device.
pub fn peak_summary(side: &Side<'_>) -> PeakSummary {
    let Side { recording, attribution, moment } = *side;
    let snapshot = recording.snapshot();
    let sites = Sites::new(snapshot);
    let mut by_line: BTreeMap<CodeLine, Bytes> = BTreeMap::new();
    let mut by_stack: BTreeMap<StackId, Bytes> = BTreeMap::new();
    for id in recording.lifetimes.live_at(moment) {
        let sum = by_stack.entry(recording.stack(id)).or_default();
        *sum += recording.size(id);
    }
    for (stack, bytes) in by_stack {
        let sum = by_line.entry(sites.line_of(snapshot, stack)).or_default();
        *sum += bytes;
    }
    let peak_bytes = recording.active.at(moment);
    let mut lines: Vec<(CodeLine, Bytes)> =
        by_line.into_iter().filter(|(_, bytes)| peak_bytes / SMALLEST_PART < *bytes).collect();
    lines.sort_by(|(line_a, a), (line_b, b)| b.cmp(a).then(line_a.cmp(line_b)));
    PeakSummary {
        device: recording.device,
        peak_bytes,
        reserved_bytes: recording.reserved.peak().1,
        is_complete: recording.trust.is_sound(),
        categories: attribution.categories.bytes_at(recording, moment),
        lines,
    }
}

/// The figures now beside those of a baseline.
///
/// Growth is tolerated up to a part of the baseline's peak or, of reserved memory, of
/// what it had reserved; `tolerance` is that part. Categories and lines go by the peak too: a small one may double unnoticed.
pub fn held_against(baseline: &PeakSummary, now: &PeakSummary, tolerance: f64) -> Vec<GateRow> {
    let row = |item, before_bytes: Bytes, now_bytes: Bytes, whole: Bytes| GateRow {
        item,
        before_bytes,
        now_bytes,
        is_exceeded: whole.as_f64() * tolerance < (now_bytes - before_bytes).as_f64(),
        is_judged_differently: false,
    };
    let peak = baseline.peak_bytes;
    let mut rows = vec![
        row(GateItem::Peak, peak, now.peak_bytes, peak),
        row(GateItem::Reserved, baseline.reserved_bytes, now.reserved_bytes, baseline.reserved_bytes),
    ];
    for category in Category::ALL {
        let [before, after] = [baseline, now].map(|of| of.categories.iter().find(|c| c.category == category));
        let Some(after) = after else { continue };
        let is_inferred = |of: &CategoryBytes| InferredPart::of(of.bytes, of.inferred_bytes).is_most();
        let differs = before.is_some_and(|before| is_inferred(before) != is_inferred(after));
        let found =
            row(GateItem::Category(category), before.map_or(Bytes::ZERO, |of| of.bytes), after.bytes, peak);
        let is_exceeded = found.is_exceeded && !differs;
        rows.push(GateRow { is_judged_differently: differs, is_exceeded, ..found });
    }
    let lines = |of: &PeakSummary| of.lines.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>();
    for ((line, bytes), before) in now.lines.iter().zip(match_lines(&lines(now), &lines(baseline))) {
        let before = before.and_then(|at| baseline.lines.get(at)).map_or(Bytes::ZERO, |(_, bytes)| *bytes);
        rows.push(row(GateItem::Line(line.clone()), before, *bytes, peak));
    }
    rows
}
