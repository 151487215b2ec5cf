//! `live`: what is live at a moment, largest first.

use super::csv_text::{io_error, optional, pool, spreadsheet_safe};
use super::table::{self, Align};
use crate::analysis::filter::Matches;
use crate::analysis::{Categories, live_at, site_label, stack_lines};
use crate::model::{Allocation, Anchor, Moment, Snapshot, Timeline};
use crate::units;
use serde::Serialize;
use std::io::{self, Write};

/// The live set of one device at one moment.
#[derive(Debug)]
pub struct LiveSet<'a> {
    /// The device.
    pub timeline: &'a Timeline,
    /// The moment.
    pub moment: Moment,
    /// What a filter lets through; `None` without one.
    pub matches: Option<Matches>,
    /// What its allocations are for.
    pub categories: Categories,
}

/// One live allocation, as text sees it.
#[derive(Debug, Serialize)]
pub struct LiveRow {
    device: i64,
    addr: String,
    size: i64,
    stream: Option<i64>,
    pool: Option<[i64; 2]>,
    alloc_event: Option<u32>,
    alloc_time_us: Option<i64>,
    category: &'static str,
    stack: Vec<RowFrame>,
    #[serde(skip)]
    age_us: Option<i64>,
    #[serde(skip)]
    allocation: Allocation,
}

#[derive(Debug, Serialize)]
struct RowFrame {
    file: String,
    line: i64,
    name: String,
}

/// The rows of some live sets, largest first over all of them, at most `top`.
pub fn live_rows(snapshot: &Snapshot, sets: &[LiveSet<'_>], top: usize) -> Vec<LiveRow> {
    let mut all: Vec<(usize, Allocation)> = Vec::new();
    for (i, set) in sets.iter().enumerate() {
        let mut live = live_at(set.timeline, set.moment);
        live.retain(|a| set.matches.as_ref().is_none_or(|matches| matches.contains(a.id)));
        all.extend(live.into_iter().map(|a| (i, a)));
    }
    all.sort_by_key(|(_, a)| (std::cmp::Reverse(a.size), a.addr));
    all.into_iter().take(top).map(|(i, allocation)| row(snapshot, &sets[i], allocation)).collect()
}

fn row(snapshot: &Snapshot, set: &LiveSet<'_>, allocation: Allocation) -> LiveRow {
    let &LiveSet { timeline, moment, .. } = set;
    let alloc_event = allocation.alloc_event();
    let alloc_time_us = alloc_event.and_then(|ix| timeline.events.time_us(ix));
    let now_us = moment.event().and_then(|ix| timeline.events.time_us(ix));
    let frames = snapshot.stacks.frames(allocation.stack).iter();
    LiveRow {
        device: timeline.device.0,
        addr: units::address(allocation.addr),
        size: allocation.size,
        stream: allocation.stream,
        pool: allocation.pool.map(|pool| [pool.0, pool.1]),
        alloc_event: alloc_event.map(|ix| ix.0),
        alloc_time_us,
        category: set.categories.get(allocation.id).key(),
        stack: frames
            .map(|&id| {
                // JSON escapes what a terminal must not see, so the text stays as it was recorded.
                let frame = snapshot.frames.get(id);
                let text = |id| snapshot.strings.get(id).into_owned();
                RowFrame { file: text(frame.file), line: frame.line, name: text(frame.name) }
            })
            .collect(),
        age_us: alloc_time_us.zip(now_us).map(|(then, now)| now.saturating_sub(then)),
        allocation,
    }
}

/// Write a JSON array of objects.
///
/// # Errors
/// When writing fails.
pub fn live_json(out: &mut dyn Write, rows: &[LiveRow]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, rows)?;
    writeln!(out)
}

/// Write CSV with a header line; the stack is one field, frames separated by ` < `.
///
/// # Errors
/// When writing fails.
pub fn live_csv(out: &mut dyn Write, snapshot: &Snapshot, rows: &[LiveRow]) -> io::Result<()> {
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
        "stack",
    ])
    .map_err(io_error)?;
    for row in rows {
        csv.write_record([
            row.device.to_string(),
            row.addr.clone(),
            row.size.to_string(),
            optional(row.stream),
            pool(row.allocation.pool),
            optional(row.alloc_event.map(i64::from)),
            optional(row.alloc_time_us),
            optional(row.age_us),
            row.category.to_owned(),
            spreadsheet_safe(&stack_lines(snapshot, row.allocation.stack).join(" < ")),
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
    sets: &[LiveSet<'_>],
    rows: &[LiveRow],
) -> io::Result<()> {
    for set in sets {
        let moment = set.moment.event().map_or_else(
            || "before the first event".to_owned(),
            |event| {
                format!(
                    "after event {} of {}",
                    units::count(event.0),
                    units::count(set.timeline.events.len() as u64)
                )
            },
        );
        let live = set.timeline.lifetimes.live_at(set.moment).count();
        let active = units::bytes_exact(set.timeline.active.at(set.moment));
        writeln!(
            out,
            "{} {moment}: {active} active in {} blocks",
            set.timeline.device,
            units::count(live as u64)
        )?;
        if let Some(matches) = &set.matches {
            let bytes = units::bytes_exact(matches.bytes_at(set.timeline, set.moment));
            let count = units::count(matches.count_at(set.timeline, set.moment) as u64);
            writeln!(out, "of these match the filter: {bytes} in {count} blocks")?;
        }
    }
    if sets.iter().any(|set| set.timeline.anchor == Anchor::TraceOnly) {
        writeln!(out, "the trace is cut off: blocks that it does not mention are missing")?;
    }
    let mut table: Vec<Vec<String>> = vec![HEADER.map(|(name, _)| name.to_owned()).to_vec()];
    table.extend(rows.iter().map(|row| text_cells(snapshot, row)));
    table::write(out, &HEADER.map(|(_, align)| align), &table)
}

const HEADER: [(&str, Align); 10] = [
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
];

fn text_cells(snapshot: &Snapshot, row: &LiveRow) -> Vec<String> {
    let unknown = || "?".to_owned();
    vec![
        if row.device < 0 { "host".to_owned() } else { row.device.to_string() },
        row.addr.clone(),
        units::bytes(row.size),
        units::count(row.size),
        row.stream.map_or_else(unknown, |stream| stream.to_string()),
        match row.pool {
            None => unknown(),
            Some([0, 0]) => "default".to_owned(),
            Some([a, b]) => format!("{a}.{b}"),
        },
        row.alloc_event.map_or_else(|| "before".to_owned(), units::count),
        row.age_us.map_or_else(unknown, units::duration_us),
        row.category.to_owned(),
        site_label(snapshot, row.allocation.stack),
    ]
}
