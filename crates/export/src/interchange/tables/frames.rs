//! The table of frames.

use super::rows::{Rows, infos};
use super::table::Table;
use super::used_stacks::used_stacks;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, column};
use oomscope_model::{Frame, StackId};
use std::io;

pub(super) static TABLE: Table = Table {
    name: "frames",
    about: "the frames of those stacks, one row each",
    columns: || infos(&COLUMNS),
    // The number of frames takes a pass of its own; stacks have about this many.
    count: |selection| (selection.snapshot.stacks.len() as u64).saturating_mul(FRAMES_PER_STACK),
    write,
};

/// Number of frames that stacks have on average in recordings with Python and C++ frames, for progress only.
const FRAMES_PER_STACK: u64 = 30;

struct ExportedFrame {
    stack: StackId,
    position: usize,
    frame: Frame,
}

static COLUMNS: [Column<ExportedFrame>; 5] = [
    column("stack", Kind::Int, "the stack", |_, row| Cell::Int(row.stack.0.into())),
    column("position", Kind::Int, "0 for the innermost frame", |_, row| Cell::Int(row.position as i64)),
    column("file", Kind::Text, "the path, as it was recorded", |all, row| {
        Cell::Text(all.snapshot.strings.whole(row.frame.file))
    }),
    column("line", Kind::Int, "the line, from 1; 0 if unknown", |_, row| Cell::Int(row.frame.line)),
    column("function", Kind::Text, "the function", |all, row| {
        Cell::Text(all.snapshot.strings.whole(row.frame.name))
    }),
];

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    let snapshot = rows.selection.snapshot;
    for stack in used_stacks(rows.selection) {
        for (position, &frame) in snapshot.stacks.frames(stack).iter().enumerate() {
            rows.push(&COLUMNS, &ExportedFrame { stack, position, frame: snapshot.frames.get(frame) })?;
        }
    }
    Ok(())
}
