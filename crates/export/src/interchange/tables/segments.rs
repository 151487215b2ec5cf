//! The table of segments.

use super::memory_state::{STATE_BASIS, SegmentRow, segments, segments_at_most};
use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "segments",
    about: "memory that was reserved from the driver at the moment, one row per segment; a filter leaves all of them",
    columns: || infos(&COLUMNS),
    count: |selection| selection.portions.iter().map(segments_at_most).sum(),
    write,
};

static COLUMNS: [Column<SegmentRow>; 15] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, row| Cell::Int(row.device)),
    column("segment", Kind::Int, "its number on the device", |_, row| Cell::Int(row.segment as i64)),
    column("addr", Kind::Address, "its first byte", |_, row| Cell::Address(row.addr)),
    number("size_bytes", Unit::Bytes, "reserved memory", |_, row| row.size.into()),
    number("allocated_bytes", Unit::Bytes, "blocks in use, with rounding", |_, row| row.allocated.into()),
    number("awaiting_free_bytes", Unit::Bytes, "blocks that wait for a stream, with rounding", |_, row| {
        row.awaiting.into()
    }),
    number("inactive_bytes", Unit::Bytes, "free memory", |_, row| row.inactive.into()),
    number("blocks", Unit::Count, "blocks in use or waiting", |_, row| Cell::Int(row.blocks as i64)),
    column("stream", Kind::Int, "the number or address of its stream", |_, row| Cell::int(row.stream)),
    column("pool", Kind::Text, "its pool as PyTorch writes it, `(0, 0)` for the default one", |_, row| {
        Cell::pool(row.pool)
    }),
    column("kind", Kind::Text, "small or large", |all, row| {
        row.kind(all.snapshot).map_or(Cell::Null, Cell::Text)
    }),
    column("is_expandable", Kind::Bool, "whether it is part of an expandable segment", |_, row| {
        Cell::Bool(row.is_expandable)
    }),
    column("stack", Kind::Int, "the stack of the request that it was reserved for", |_, row| {
        Cell::stack(row.stack)
    }),
    column("site", Kind::Text, "the line of your own code in that stack", |all, row| {
        all.site(row.stack).map_or(Cell::Null, Cell::text)
    }),
    column("state_basis", Kind::Text, STATE_BASIS, |_, row| Cell::text(row.basis)),
];

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    let selection = rows.selection;
    for portion in &selection.portions {
        for row in segments(portion) {
            rows.push(&COLUMNS, &row)?;
        }
    }
    Ok(())
}
