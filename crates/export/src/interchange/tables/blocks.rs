//! The table of blocks.

use super::memory_state::{BlockRow, STATE_BASIS, blocks, blocks_at_most};
use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "blocks",
    about: "the pieces of all segments at the moment, free ones included, one row each",
    columns: || infos(&COLUMNS),
    count: |selection| selection.portions.iter().map(blocks_at_most).sum(),
    write,
};

static COLUMNS: [Column<BlockRow>; 13] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, row| Cell::Int(row.device)),
    column("segment", Kind::Int, "the segment that it is a piece of, in `segments`", |_, row| {
        Cell::Int(row.segment as i64)
    }),
    column("addr", Kind::Address, "its first byte", |_, row| Cell::Address(row.addr)),
    number("size_bytes", Unit::Bytes, "with rounding", |_, row| row.size.into()),
    number("requested_bytes", Unit::Bytes, "as the program asked; none for free memory", |_, row| {
        Cell::int(row.requested)
    }),
    column(
        "state",
        Kind::Text,
        "active_allocated, active_awaiting_free or inactive, as PyTorch calls them",
        |_, row| Cell::text(row.state),
    ),
    column("allocation", Kind::Int, "the allocation that it holds, in `allocations`", |_, row| {
        Cell::int(row.allocation.map(|id| id.0))
    }),
    column("category", Kind::Text, "the purpose of that allocation", |_, row| {
        row.category.map_or(Cell::Null, |category| Cell::text(category.key()))
    }),
    column("stream", Kind::Int, "the stream of the segment", |_, row| Cell::int(row.stream)),
    column("pool", Kind::Text, "the pool of the segment", |_, row| Cell::pool(row.pool)),
    column("stack", Kind::Int, "the stack in `stacks` and `frames`", |_, row| Cell::stack(row.stack)),
    column("site", Kind::Text, "the line of your own code in that stack", |all, row| {
        all.site(row.stack).map_or(Cell::Null, Cell::text)
    }),
    column("state_basis", Kind::Text, STATE_BASIS, |_, row| Cell::text(row.basis)),
];

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    let selection = rows.selection;
    for portion in &selection.portions {
        for row in blocks(portion) {
            rows.push(&COLUMNS, &row)?;
        }
    }
    Ok(())
}
