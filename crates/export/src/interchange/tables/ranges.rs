//! The table of named ranges: iterations, phases and the program's own.

use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use crate::interchange::selection::Portion;
use oomscope_analysis::{NamedRange, RangeName, annotation_ranges, structure_lanes};
use oomscope_model::{Bytes, Moment, Timeline};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "ranges",
    about: "iterations, phases and the ranges of the program's own (`record_function`), one row each",
    columns: || infos(&COLUMNS),
    count: |selection| selection.portions.iter().map(|portion| named_ranges(portion).count() as u64).sum(),
    write,
};

struct ExportedRange {
    device: i64,
    range: NamedRange,
    /// The first event and the last; `None` if no event lies in it.
    events: Option<[u32; 2]>,
    times_us: Option<[i64; 2]>,
    peak_bytes: Option<Bytes>,
}

static COLUMNS: [Column<ExportedRange>; 9] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, row| Cell::Int(row.device)),
    column("kind", Kind::Text, "iteration, phase or annotation", |_, row| Cell::text(kind(row.range.name))),
    column("name", Kind::Text, "its name", |all, row| match row.range.name {
        RangeName::Recorded(name) => Cell::Text(all.snapshot.strings.whole(name)),
        found => Cell::Text(found.text(all.snapshot)),
    }),
    column(
        "iteration",
        Kind::Int,
        "the number of an iteration, from 0, if they can be numbered",
        |_, row| match row.range.name {
            RangeName::Iteration { number, is_known: true } => Cell::Int(number.into()),
            _ => Cell::Null,
        },
    ),
    number("first_event", Unit::Event, "its first event; none if no event lies in it", |_, row| {
        Cell::int(row.events.map(|events| events[0]))
    }),
    number("last_event", Unit::Event, "its last event", |_, row| {
        Cell::int(row.events.map(|events| events[1]))
    }),
    number("start_time_us", Unit::TimeUs, "when it begins", |_, row| {
        Cell::int(row.times_us.map(|times| times[0]))
    }),
    number("end_time_us", Unit::TimeUs, "when it ends", |_, row| {
        Cell::int(row.times_us.map(|times| times[1]))
    }),
    number("peak_active_bytes", Unit::Bytes, "most active memory after one of its events", |_, row| {
        Cell::int(row.peak_bytes)
    }),
];

fn kind(name: RangeName) -> &'static str {
    match name {
        RangeName::Recorded(_) => "annotation",
        RangeName::Iteration { .. } => "iteration",
        RangeName::Phase(_) => "phase",
    }
}

/// The ranges of which an exported event is a part.
fn named_ranges(portion: &Portion) -> impl Iterator<Item = NamedRange> {
    let Portion { recording, attribution, events, .. } = portion;
    let events = events.clone();
    let found = structure_lanes(recording, &attribution.phases).into_iter().flatten();
    let all = found.chain(annotation_ranges(recording));
    all.filter(move |range| range.moments[0].0 <= events.end && events.start < range.moments[1].0)
}

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for portion in &rows.selection.portions {
        for range in named_ranges(portion) {
            rows.push(&COLUMNS, &row(&portion.recording, range))?;
        }
    }
    Ok(())
}

fn row(timeline: &Timeline, range: NamedRange) -> ExportedRange {
    // The moments come after the first event and after the one behind the last.
    let [from, to] = range.moments.map(|Moment(moment)| moment.saturating_sub(1));
    let events = (from < to).then(|| [from, to - 1]);
    let peak = timeline.active.peak_in(from as usize + 1..to as usize + 1);
    ExportedRange {
        device: timeline.device.0,
        range,
        events,
        times_us: timeline.times.first_us().map(|first| range.time_us.map(|us| first.saturating_add(us))),
        peak_bytes: peak.map(|(_, bytes)| bytes),
    }
}
