//! `live`: the allocations that are live at a moment, largest first.

use super::because_text::because_text;
use super::csv_text::{io_error, optional, pool, spreadsheet_safe};
use super::damage::DamageRecord;
use super::json;
use super::named_tensor::{NamedRecord, first_name, named_records, tensor_label};
use super::predicted::PredictedRecord;
use super::table::{self, Align};
use super::text_style::TextStyle;
use super::trust::{TrustRecord, trust_lines};
use oomscope_analysis::filter::Matches;
use oomscope_analysis::{Basis, Categories, live_at, recorded, site_label, stack_lines};
use oomscope_model::{Allocation, Bytes, FrameId, Moment, Recording, Snapshot};
use oomscope_units as units;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io::{self, Write};

/// The live set of one device at one moment.
#[derive(Debug)]
pub struct LiveSet {
    /// The device.
    pub recording: Recording,
    /// The moment.
    pub moment: Moment,
    /// The matches of the filter; `None` without one.
    pub matches: Option<Matches>,
    /// The categories of its allocations.
    pub categories: Categories,
}

/// One live allocation, and the index of its live set.
#[derive(Debug)]
pub struct LiveRow {
    set: usize,
    allocation: Allocation,
}

/// The rows of some live sets, largest first over all of them, at most `top`.
pub fn live_rows(sets: &[LiveSet], top: usize) -> Vec<LiveRow> {
    let mut rows: Vec<LiveRow> = Vec::new();
    for (i, set) in sets.iter().enumerate() {
        let mut live = live_at(&set.recording, set.moment);
        live.retain(|a| set.matches.as_ref().is_none_or(|matches| matches.contains(a.id)));
        rows.extend(live.into_iter().map(|allocation| LiveRow { set: i, allocation }));
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.allocation.size), row.allocation.addr));
    rows.truncate(top);
    rows
}

/// The name of the format.
const SCHEMA: &str = "oomscope-live";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

/// The content of a row. It is made when it is written: the stacks of all rows together can be much larger than
/// the file, which holds each stack once.
#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    device: i64,
    addr: String,
    size: Bytes,
    stream: Option<i64>,
    pool: Option<[i64; 2]>,
    alloc_event: Option<u32>,
    alloc_time_us: Option<i64>,
    category: &'static str,
    /// The rule that decided the category.
    rule: &'static str,
    basis: &'static str,
    because: String,
    /// The tensors that the program named in it, at the end of the recording.
    named: Vec<NamedRecord<'a>>,
    stack: FrameRecords<'a>,
    /// Number of frames that `stack` leaves out.
    frames_left_out: usize,
    /// In each row, since an array has no other place for it.
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
    trust: TrustRecord,
    #[serde(skip)]
    age_us: Option<i64>,
}

/// The innermost frames of a stack.
struct FrameRecords<'a> {
    snapshot: &'a Snapshot,
    frames: &'a [FrameId],
}

#[derive(Serialize)]
struct FrameRecord<'a> {
    file: Cow<'a, str>,
    line: i64,
    name: Cow<'a, str>,
}

impl Serialize for FrameRecords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { snapshot, frames } = self;
        serializer.collect_seq(frames.iter().map(|&id| {
            // JSON escapes what a terminal must not see, so the text stays as it was recorded.
            let frame = snapshot.frames.get(id);
            let text = |id| recorded(snapshot, id);
            FrameRecord { file: text(frame.file), line: frame.line, name: text(frame.name) }
        }))
    }
}

fn record<'a>(sets: &'a [LiveSet], row: &LiveRow, max_frames: usize) -> Record<'a> {
    let LiveRow { set, allocation } = row;
    let LiveSet { recording, moment, categories, .. } = &sets[*set];
    let snapshot = recording.snapshot();
    let alloc_event = allocation.alloc_event();
    let alloc_time_us = alloc_event.and_then(|ix| recording.events.time_us(ix));
    let now_us = moment.event().and_then(|ix| recording.events.time_us(ix));
    let frames = snapshot.stacks.frames(allocation.stack);
    let shown = frames.len().min(max_frames);
    let verdict = categories.verdict(allocation.id);
    Record {
        schema: SCHEMA,
        version: VERSION,
        device: recording.device.0,
        addr: units::address(allocation.addr),
        size: allocation.size,
        stream: allocation.stream,
        pool: allocation.pool.map(|pool| [pool.0, pool.1]),
        alloc_event: alloc_event.map(|ix| ix.0),
        alloc_time_us,
        category: verdict.category.key(),
        rule: verdict.rule.rule().id,
        basis: verdict.basis().key(),
        because: because_text(recording, allocation, categories.because(recording, allocation.id)),
        named: named_records(recording, categories, allocation.id),
        stack: FrameRecords { snapshot, frames: &frames[..shown] },
        frames_left_out: frames.len() - shown,
        damage: DamageRecord::of(snapshot),
        predicted: PredictedRecord::of(snapshot),
        trust: TrustRecord::of(recording),
        age_us: alloc_time_us.zip(now_us).map(|(then, now)| now.saturating_sub(then)),
    }
}

/// Write a JSON array of objects, with at most `max_frames` frames of each stack.
///
/// # Errors
/// When writing fails.
pub fn live_json(
    out: &mut dyn Write,
    sets: &[LiveSet],
    rows: &[LiveRow],
    max_frames: usize,
) -> io::Result<()> {
    json::write_array(out, rows.iter().map(|row| record(sets, row, max_frames)))
}

/// Write CSV with a header line; the stack is one field, at most `max_frames` frames separated by ` < `.
///
/// # Errors
/// When writing fails.
pub fn live_csv(
    out: &mut dyn Write,
    sets: &[LiveSet],
    rows: &[LiveRow],
    max_frames: usize,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "device",
        "addr",
        "size",
        "stream",
        "pool",
        "alloc_event",
        "alloc_time_us",
        "age_us",
        "category",
        "rule",
        "basis",
        "because",
        "stack",
        "frames_left_out",
        "name",
    ])
    .map_err(io_error)?;
    for row in rows {
        let frames: Vec<String> =
            stack_lines(sets[row.set].recording.snapshot(), row.allocation.stack).take(max_frames).collect();
        let record = record(sets, row, max_frames);
        csv.write_record([
            record.device.to_string(),
            record.addr,
            record.size.0.to_string(),
            optional(record.stream),
            pool(row.allocation.pool),
            optional(record.alloc_event.map(i64::from)),
            optional(record.alloc_time_us),
            optional(record.age_us),
            record.category.to_owned(),
            record.rule.to_owned(),
            record.basis.to_owned(),
            spreadsheet_safe(&record.because).into_owned(),
            spreadsheet_safe(&frames.join(" < ")).into_owned(),
            record.frames_left_out.to_string(),
            spreadsheet_safe(&name(sets, row)).into_owned(),
        ])
        .map_err(io_error)?;
    }
    csv.flush()
}

/// Write a table for people.
///
/// # Errors
/// When writing fails.
pub fn live_text(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    sets: &[LiveSet],
    rows: &[LiveRow],
    style: TextStyle,
) -> io::Result<()> {
    for line in trust_lines(snapshot, sets.iter().map(|set| &set.recording)) {
        writeln!(out, "{line}")?;
    }
    for set in sets {
        let moment = set.moment.event().map_or_else(
            || "before the first event".to_owned(),
            |event| {
                format!(
                    "after event {} of {}",
                    units::count(event.0),
                    units::count(set.recording.events.len() as u64)
                )
            },
        );
        let live = set.recording.lifetimes.live_at(set.moment).count() as u64;
        let active = set.recording.active_at(set.moment).written(|active| {
            format!("{} active in {} blocks", units::bytes_exact(active), units::count(live))
        });
        writeln!(out, "{} {moment}: {active}", set.recording.device)?;
        if let Some(matches) = &set.matches {
            let bytes = units::bytes_exact(matches.bytes_at(&set.recording, set.moment));
            let count = units::count(matches.count_at(&set.recording, set.moment) as u64);
            writeln!(out, "of these match the filter: {bytes} in {count} blocks")?;
        }
    }
    // Where the program named nothing, there is no column for it.
    let columns = HEADER.len() - usize::from(snapshot.census.tensors().is_empty());
    let header = &HEADER[..columns];
    let mut table: Vec<Vec<String>> = vec![header.iter().map(|(name, _)| (*name).to_owned()).collect()];
    table.extend(rows.iter().map(|row| {
        let mut cells = text_cells(snapshot, row, &record(sets, row, 0));
        cells.push(label(sets, row));
        cells.truncate(columns);
        cells
    }));
    let align: Vec<Align> = header.iter().map(|(_, align)| *align).collect();
    let is_one = rows.iter().all(|row| row.set == rows[0].set);
    let may_go = if is_one { &MAY_GO[..] } else { &MAY_GO[1..] };
    table::write_fitted(out, style.table_width, &align, may_go, table)
}

/// The program's own name for what lies in a block.
fn name(sets: &[LiveSet], row: &LiveRow) -> String {
    let LiveSet { recording, categories, .. } = &sets[row.set];
    first_name(recording, categories, row.allocation.id).unwrap_or_default()
}

/// The same for people: where it has none, the variable that holds it.
fn label(sets: &[LiveSet], row: &LiveRow) -> String {
    let LiveSet { recording, categories, .. } = &sets[row.set];
    tensor_label(recording, categories, row.allocation.id).unwrap_or_default()
}

const HEADER: [(&str, Align); 11] = [
    ("device", Align::Right),
    ("address", Align::Left),
    ("size", Align::Right),
    ("bytes", Align::Right),
    ("stream", Align::Right),
    ("pool", Align::Left),
    ("event", Align::Right),
    ("age", Align::Right),
    ("category", Align::Left),
    ("site", Align::Left),
    ("tensor", Align::Left),
];

/// The columns that a narrow terminal does not show, the least important first: the only device, addresses and places in pools, and
/// what the size says, too. Of several devices, each row has its own: events are counted on each.
const MAY_GO: [usize; 7] = [0, 1, 5, 4, 3, 7, 6];

fn text_cells(snapshot: &Snapshot, row: &LiveRow, record: &Record<'_>) -> Vec<String> {
    let unknown = || "?".to_owned();
    vec![
        if record.device < 0 { "host".to_owned() } else { record.device.to_string() },
        record.addr.clone(),
        units::bytes(record.size),
        units::count(record.size),
        record.stream.map_or_else(unknown, |stream| stream.to_string()),
        match record.pool {
            None => unknown(),
            Some([0, 0]) => "default".to_owned(),
            Some([a, b]) => format!("{a}.{b}"),
        },
        record.alloc_event.map_or_else(|| "before".to_owned(), units::count),
        record.age_us.map_or_else(unknown, units::duration_us),
        format!("{}{}", if record.basis == Basis::Inferred.key() { "≈ " } else { "" }, record.category),
        site_label(snapshot, row.allocation.stack),
    ]
}
