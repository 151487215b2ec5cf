//! The table of events.

use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use crate::interchange::selection::{Portion, Selection};
use oomscope_model::{Bytes, Event, EventIx, Moment, StrId};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "events",
    about: "what the allocator recorded, one row per event, with the totals after it",
    columns: || infos(&COLUMNS),
    count: |selection| selection.portions.iter().map(|portion| portion.events.len() as u64).sum(),
    write,
};

struct ExportedEvent {
    device: i64,
    ix: EventIx,
    event: Event,
    /// Active, allocated and reserved bytes after it.
    totals: [Bytes; 3],
    iteration: Option<u32>,
    phase: &'static str,
}

static COLUMNS: [Column<ExportedEvent>; 19] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, row| Cell::Int(row.device)),
    number("event", Unit::Event, "its number on the device", |_, row| Cell::Int(row.ix.0.into())),
    number("time_us", Unit::TimeUs, "when it happened", |_, row| Cell::int(row.event.time_us)),
    column(
        "action",
        Kind::Text,
        "alloc, free_requested, free_completed, segment_alloc, oom, …",
        |all, row| Cell::text(all.action(row.event.action)),
    ),
    column("addr", Kind::Address, "the first byte of the block or segment", |_, row| {
        row.event.addr.map_or(Cell::Null, Cell::Address)
    }),
    number("size_bytes", Unit::Bytes, "as requested for blocks, whole for segments", |_, row| {
        row.event.size.into()
    }),
    column("stream", Kind::Int, "the number or address of the stream", |_, row| Cell::int(row.event.stream)),
    column("pool", Kind::Text, "the pool as PyTorch writes it, `(0, 0)` for the default one", |_, row| {
        Cell::pool(row.event.pool)
    }),
    column("stack", Kind::Int, "the stack in `stacks` and `frames`", |_, row| Cell::stack(row.event.stack)),
    column("site", Kind::Text, "the line of your own code in that stack", |all, row| {
        all.site(row.event.stack).map_or(Cell::Null, Cell::text)
    }),
    number("active_bytes", Unit::Bytes, "active memory of the device after the event", |_, row| {
        row.totals[0].into()
    }),
    number("allocated_bytes", Unit::Bytes, "allocated memory of the device after it", |_, row| {
        row.totals[1].into()
    }),
    number("reserved_bytes", Unit::Bytes, "reserved memory of the device after it", |_, row| {
        row.totals[2].into()
    }),
    column("iteration", Kind::Int, "the iteration, if they can be numbered", |_, row| {
        Cell::int(row.iteration)
    }),
    column("phase", Kind::Text, "init, data, forward, backward, optimizer, eval or unknown", |_, row| {
        Cell::text(row.phase)
    }),
    number("device_free_bytes", Unit::Bytes, "of an oom: what the device had left", |_, row| {
        Cell::int(row.event.device_free)
    }),
    column("compile_context", Kind::Text, "the compiled region that was running", |all, row| {
        string(all, row.event.compile_context)
    }),
    column("user_metadata", Kind::Text, "text that the program attached", |all, row| {
        string(all, row.event.user_metadata)
    }),
    column(
        "recorded_category",
        Kind::Text,
        "the category that a profiler wrote into the file",
        |all, row| string(all, row.event.category),
    ),
];

fn string<'a>(all: &'a Selection<'a>, id: Option<StrId>) -> Cell<'a> {
    id.map_or(Cell::Null, |id| Cell::Text(all.snapshot.strings.whole(id)))
}

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for portion in &rows.selection.portions {
        for ix in portion.exported_events() {
            rows.push(&COLUMNS, &row(portion, ix))?;
        }
    }
    Ok(())
}

fn row(portion: &Portion, ix: EventIx) -> ExportedEvent {
    let (timeline, phases, after) =
        (portion.recording.timeline(), &portion.attribution.phases, Moment::after(ix));
    ExportedEvent {
        device: timeline.device.0,
        ix,
        event: timeline.events.get(ix),
        totals: [timeline.active.at(after), timeline.allocated.at(after), timeline.reserved.at(after)],
        iteration: phases.iteration_at(after),
        phase: phases.phase_at(after).key(),
    }
}
