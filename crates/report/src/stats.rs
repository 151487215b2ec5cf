//! `stats`: the figures of each device, as JSON or as a short summary.

use super::baseline::{PeakLine, peak_lines};
use super::damage::DamageRecord;
use super::iterations::{IterationRecord, iteration_records};
use super::modules::{ModulesRecord, modules_record};
use super::position::{PlaceRecord, place, position_text};
use super::predicted::{PredictedRecord, predicted_line};
use super::settings::recorder_line;
use super::stats_request::{
    AtRecord, FilterRecord, StatsRequest, at_record, by_key, filter_record, inferred_by_key, request_text,
};
use super::summary::{MemorySummary, SummaryRecord, summary_text};
use super::trust::{TrustRecord, trust_sentences};
use super::{CATEGORY_LEGEND, category_text, json, non_default_settings};
use oomscope_analysis::comparison::{Side, peak_summary};
use oomscope_analysis::{
    Attribution, DeviceStats, Facts, PoolStats, device_stats, iteration_table, live_at, module_table,
    pool_stats, site_label, sites,
};
use oomscope_model::{Anchor, Bytes, DeviceId, Moment, Recording, Snapshot, Timeline};
use oomscope_units as units;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// The name of the format.
const SCHEMA: &str = "oomscope-stats";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

/// One record of the JSON: the figures of a device and of its file.
#[derive(Serialize)]
struct Record {
    schema: &'static str,
    version: u32,
    file: String,
    #[serde(flatten)]
    stats: DeviceStats,
    /// Whether the whole file was read.
    complete: bool,
    /// The basis of absolute figures: `end_state`, which the segments describe, or `trace_only` if that is
    /// missing; figures then leave out blocks that no event mentions.
    anchor: &'static str,
    /// Requested bytes by category.
    categories: CategoryRecord,
    /// Lines of code at the peak, most bytes first, without those below a thousandth of it.
    peak_lines: Vec<PeakLine>,
    /// Memory of each pool and stream after the last event.
    pools: Vec<PoolStats>,
    /// Iterations, and the phase at certain moments.
    structure: StructureRecord,
    /// All iterations that begin within the recording.
    iterations: Vec<IterationRecord>,
    /// Memory by module, at the peak or at the moment that was asked for.
    modules: ModulesRecord,
    /// The moment that was asked for; null without one, or if the device lacks it.
    at: Option<AtRecord>,
    /// The allocations that were asked for; null without a filter.
    filter: Option<FilterRecord>,
    /// PyTorch's own statistics at that moment or the end; null if they were not asked for.
    summary: Option<SummaryRecord>,
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    trust: TrustRecord,
    settings: Vec<String>,
    annotations: usize,
    unknown_keys: Vec<UnknownKeyRecord>,
    issues: Vec<IssueRecord>,
}

#[derive(Serialize)]
struct CategoryRecord {
    peak: BTreeMap<&'static str, Bytes>,
    end: BTreeMap<&'static str, Bytes>,
    /// Bytes of these that are only inferred.
    peak_inferred: BTreeMap<&'static str, Bytes>,
    end_inferred: BTreeMap<&'static str, Bytes>,
}

/// Iterations are counted from 0; null where the recording starts too late to know their number.
#[derive(Serialize)]
struct StructureRecord {
    iterations: usize,
    peak: PlaceRecord,
    end: PlaceRecord,
    oom: Option<PlaceRecord>,
}

#[derive(Serialize)]
struct UnknownKeyRecord {
    record: &'static str,
    key: String,
    count: u64,
}

#[derive(Serialize)]
struct IssueRecord {
    what: String,
    count: u64,
}

/// Write the figures of all devices of all files as one JSON array. A file's records are written before
/// the next file is asked for, so that only one needs to be in memory.
///
/// # Errors
/// When writing fails.
pub fn stats_json(
    out: &mut dyn Write,
    files: impl Iterator<Item = (String, Arc<Snapshot>)>,
    request: StatsRequest<'_>,
) -> io::Result<()> {
    let records = |(file, snapshot): (String, Arc<Snapshot>)| -> Vec<Record> {
        let facts = Facts::of(&snapshot, request.rules);
        let of = |recording| record(&file, &recording, &facts, request);
        request.devices(&snapshot).map(of).collect()
    };
    json::write_array(out, files.flat_map(records))
}

fn record(file: &str, recording: &Recording, facts: &Facts, request: StatsRequest<'_>) -> Record {
    let snapshot = recording.snapshot();
    let attribution = Attribution::of_device(facts, recording);
    let at = request.moment(recording, &attribution.phases);
    let moment = at.unwrap_or(recording.active.peak().0);
    let unknown = snapshot.unknown_keys.iter();
    Record {
        schema: SCHEMA,
        version: VERSION,
        file: file.to_owned(),
        stats: device_stats(recording),
        complete: snapshot.damage.is_none(),
        anchor: match recording.anchor {
            Anchor::EndState => "end_state",
            Anchor::TraceOnly => "trace_only",
        },
        categories: categories(&attribution, recording),
        peak_lines: peak_lines(peak_summary(&Side {
            recording,
            attribution: &attribution,
            moment: recording.active.peak().0,
        })),
        pools: pool_stats(recording),
        structure: structure(&attribution, recording),
        iterations: iteration_records(&iteration_table(recording, &attribution.phases)),
        modules: modules_record(&module_table(recording, &attribution, moment)),
        at: at.map(|at| at_record(&attribution, recording, at)),
        filter: request.filter.map(|filter| filter_record(filter, recording, &attribution, moment)),
        summary: request
            .has_summary
            .then(|| SummaryRecord::of(&MemorySummary::at(recording, at.unwrap_or_else(|| end(recording))))),
        damage: DamageRecord::of(snapshot),
        predicted: PredictedRecord::in_full(snapshot),
        trust: TrustRecord::of(recording),
        settings: non_default_settings(snapshot),
        annotations: snapshot.annotations.len(),
        unknown_keys: unknown
            .map(|u| UnknownKeyRecord { record: u.record, key: u.key.clone(), count: u.count })
            .collect(),
        issues: snapshot
            .issues
            .iter()
            .map(|i| IssueRecord { what: i.what.clone(), count: i.count })
            .collect(),
    }
}

fn end(timeline: &Timeline) -> Moment {
    timeline.end()
}

fn categories(attribution: &Attribution, timeline: &Timeline) -> CategoryRecord {
    let [peak, end] = [timeline.active.peak().0, end(timeline)]
        .map(|moment| attribution.categories.bytes_at(timeline, moment));
    CategoryRecord {
        peak: by_key(&peak),
        end: by_key(&end),
        peak_inferred: inferred_by_key(&peak),
        end_inferred: inferred_by_key(&end),
    }
}

fn structure(attribution: &Attribution, timeline: &Timeline) -> StructureRecord {
    let phases = &attribution.phases;
    let place = |moment| place(phases, moment);
    StructureRecord {
        iterations: phases.iterations.list.len(),
        peak: place(timeline.active.peak().0),
        end: place(end(timeline)),
        oom: timeline.ooms.last().map(|oom| place(Moment::after(oom.event))),
    }
}

/// Write a summary for people.
///
/// # Errors
/// When writing fails.
pub fn stats_text(
    out: &mut dyn Write,
    file: &str,
    snapshot: &Arc<Snapshot>,
    request: StatsRequest<'_>,
) -> io::Result<()> {
    writeln!(out, "{}", units::printable(file))?;
    if let Some(damage) = &snapshot.damage {
        writeln!(
            out,
            "  PARTIAL: damaged at byte {}: {}",
            units::count(damage.offset),
            units::printable(&damage.reason)
        )?;
    }
    if let Some(predicted) = predicted_line(snapshot) {
        writeln!(out, "  predicted    {predicted}")?;
    }
    if request.has_summary {
        return request.devices(snapshot).try_for_each(|recording| device_summary(out, &recording, request));
    }
    let settings = non_default_settings(snapshot);
    let settings = match (snapshot.settings.is_empty(), settings.is_empty()) {
        (true, _) => "not recorded".to_owned(),
        (_, true) => "default".to_owned(),
        _ => settings.join(" "),
    };
    writeln!(out, "  settings     {settings}")?;
    if let Some(recorder) = recorder_line(snapshot) {
        writeln!(out, "  recorded by  {recorder}")?;
    }
    for key in &snapshot.unknown_keys {
        let name = units::printable(&key.key);
        writeln!(out, "  unknown key  '{name}' of {} ({} times)", key.record, units::count(key.count))?;
    }
    for issue in &snapshot.issues {
        writeln!(out, "  note         {} ({} times)", issue.what, units::count(issue.count))?;
    }
    if snapshot.timelines.is_empty() {
        writeln!(out, "  empty: no segments and no events were recorded")?;
    }
    let facts = Facts::of(snapshot, request.rules);
    for recording in request.devices(snapshot) {
        device_text(out, &recording, &facts, request)?;
    }
    Ok(())
}

/// The table of PyTorch's own statistics, alone: it is to be laid beside another one.
fn device_summary(out: &mut dyn Write, recording: &Recording, request: StatsRequest<'_>) -> io::Result<()> {
    // Pinned host memory has another allocator.
    if recording.device == DeviceId::HOST {
        return Ok(());
    }
    let phases = &Attribution::of(recording, request.rules).phases;
    let moment = request.moment(recording, phases).unwrap_or_else(|| end(recording));
    let when = match moment.event() {
        None => "before the first event".to_owned(),
        Some(event) => format!("after event {}", units::count(event.0)),
    };
    let summary = MemorySummary::at(recording, moment);
    writeln!(out, "{}, {when}", recording.device)?;
    out.write_all(summary_text(&summary).as_bytes())?;
    if let Some(limits) = summary.limits() {
        writeln!(out, "  not known    {limits}")?;
    }
    Ok(())
}

fn device_text(
    out: &mut dyn Write,
    recording: &Recording,
    facts: &Facts,
    request: StatsRequest<'_>,
) -> io::Result<()> {
    let stats = device_stats(recording);
    let span = stats
        .time_us
        .map(|[first, last]| format!(" over {}", units::duration_us(last.saturating_sub(first))));
    writeln!(out, "{}", recording.device)?;
    writeln!(out, "  events       {}{}", units::count(stats.events as u64), span.unwrap_or_default())?;
    for sentence in trust_sentences(recording) {
        writeln!(out, "  not known    {sentence}")?;
    }
    let at = |moment: Moment| match moment.event() {
        None => "before the first event".to_owned(),
        Some(event) => format!("after event {}", units::count(event.0)),
    };
    for (name, (moment, peak)) in [
        ("peak active", recording.peak_active()),
        ("allocated", recording.peak_allocated()),
        ("reserved", recording.peak_reserved()),
    ] {
        let text = peak.written(|bytes| format!("{} {}", units::bytes_exact(bytes), at(moment)));
        writeln!(out, "  {name:<12} {text}")?;
    }
    let initial = &stats.initial;
    let before = recording.active_at(Moment::START).written(|active| {
        let blocks = units::count(initial.live_blocks as u64);
        format!("{} active in {blocks} blocks", units::bytes_exact(active))
    });
    writeln!(out, "  before trace {before}")?;
    end_text(out, recording, &stats)?;
    for oom in &stats.oom {
        let free = oom.device_free.map_or_else(|| "unknown".to_owned(), units::bytes);
        let requested = units::bytes_exact(oom.requested);
        writeln!(
            out,
            "  OOM          {requested} requested at event {}, device free {free}",
            units::count(oom.index)
        )?;
    }
    let contradictions = stats.anomalies.iter().chain(&stats.segment_anomalies);
    for (kind, n) in contradictions {
        writeln!(out, "  anomaly      {} ({} times)", kind.replace('_', " "), units::count(*n))?;
    }
    pools_text(out, &pool_stats(recording))?;
    let attribution = Attribution::of_device(facts, recording);
    attribution_text(out, recording, &attribution)?;
    top_sites_text(out, recording)?;
    request_text(out, recording, &attribution, request)
}

/// Categories of memory at the peak and at the end, and the phases of these moments.
fn attribution_text(out: &mut dyn Write, timeline: &Timeline, attribution: &Attribution) -> io::Result<()> {
    let phases = &attribution.phases;
    let peak = timeline.active.peak().0;
    let last = timeline.ooms.last().map_or(end(timeline), |oom| Moment::after(oom.event));
    let iterations = phases.iterations.list.len();
    if 0 < iterations {
        let first = if phases.iterations.first_number.is_none() { " of unknown number" } else { "" };
        let plural = if iterations == 1 { "" } else { "s" };
        writeln!(out, "  structure    {} iteration{plural}{first}", units::count(iterations as u64))?;
    }
    let peak_lies = (peak != last).then_some(("peak lies", peak));
    for (name, moment) in peak_lies.into_iter().chain([("dump lies", last)]) {
        if let Some(text) = position_text(phases.position_at(moment)) {
            writeln!(out, "  {name:<12} {text}")?;
        }
    }
    let mut has_inferred = false;
    for (name, moment) in [("peak is for", peak), ("end is for", end(timeline))] {
        let mut totals = attribution.categories.bytes_at(timeline, moment);
        totals.sort_by_key(|of| (std::cmp::Reverse(of.bytes), of.category));
        let parts: Vec<String> = totals.iter().map(category_text).collect();
        if !parts.is_empty() {
            writeln!(out, "  {name:<12} {}", parts.join(", "))?;
        }
        has_inferred |= totals.iter().any(|of| of.inferred_bytes != 0);
    }
    if has_inferred {
        writeln!(out, "  {:<12} {CATEGORY_LEGEND}", "")?;
    }
    Ok(())
}

fn end_text(out: &mut dyn Write, timeline: &Timeline, stats: &DeviceStats) -> io::Result<()> {
    let end = &stats.r#final;
    writeln!(
        out,
        "  at the end   {} active, {} reserved in {} segments, {} free in {} holes, the largest {}",
        timeline.active_at(timeline.end()).written(units::bytes),
        timeline.reserved_at(timeline.end()).written(units::bytes),
        units::count(stats.segments as u64),
        units::bytes(end.hole_bytes),
        units::count(end.holes as u64),
        units::bytes(end.largest_hole),
    )
}

/// The largest pools and streams, if there are several.
fn pools_text(out: &mut dyn Write, pools: &[PoolStats]) -> io::Result<()> {
    const LISTED: usize = 8;
    if pools.len() < 2 {
        return Ok(());
    }
    let mut largest: Vec<&PoolStats> = pools.iter().collect();
    largest.sort_by_key(|pool| std::cmp::Reverse(pool.reserved));
    for (i, pool) in largest.iter().take(LISTED).enumerate() {
        let name = match pool.pool {
            Some([0, 0]) => "default pool".to_owned(),
            Some([a, b]) => format!("pool {a}.{b}"),
            None => "pool not recorded".to_owned(),
        };
        let stream = pool.stream.map_or_else(String::new, |stream| format!(", stream {stream}"));
        writeln!(
            out,
            "  {:<12} {name}{stream}: {} reserved, {} active, {} free, {} of it for none else",
            if i == 0 { "pools" } else { "" },
            units::bytes(pool.reserved),
            units::bytes(pool.active),
            units::bytes(pool.free),
            units::bytes(pool.free_for_none_else),
        )?;
    }
    match pools.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "  {:<12} and {more} more, in --format json", ""),
    }
}

/// The lines of code that hold most at the peak.
fn top_sites_text(out: &mut dyn Write, recording: &Recording) -> io::Result<()> {
    let snapshot = recording.snapshot();
    const LISTED: usize = 5;
    let (moment, active) = recording.active.peak();
    let mut live = live_at(recording, moment);
    for a in &mut live {
        a.stack = snapshot.first_alike(a.stack);
    }
    for (i, site) in sites(&live).iter().take(LISTED).enumerate() {
        let label = if i == 0 { "at the peak" } else { "" };
        let share = units::percent(site.bytes, active);
        let blocks = units::counted(site.count, "block");
        writeln!(
            out,
            "  {label:<12} {:>9} {share:>7}  {} ({blocks})",
            units::bytes(site.bytes),
            site_label(snapshot, site.stack)
        )?;
    }
    Ok(())
}
