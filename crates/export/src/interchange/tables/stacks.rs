//! The table of stacks.

use super::rows::{Rows, infos};
use super::table::Table;
use super::used_stacks::used_stacks;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use oomscope_analysis::stack_lines;
use oomscope_model::StackId;
use std::io;

pub(super) static TABLE: Table = Table {
    name: "stacks",
    about: "the call stacks that the other tables mention, each once",
    columns: || infos(&COLUMNS),
    count: |selection| selection.snapshot.stacks.len() as u64,
    write,
};

static COLUMNS: [Column<StackId>; 4] = [
    column("stack", Kind::Int, "its number in the file", |_, stack| Cell::Int(stack.0.into())),
    column(
        "site",
        Kind::Text,
        "the line of your own code: its first frame that is not of a library",
        |all, stack| all.site(*stack).map_or(Cell::Null, Cell::text),
    ),
    number("frames", Unit::Count, "how many frames it has", |all, stack| {
        Cell::Int(all.snapshot.stacks.frames(*stack).len() as i64)
    }),
    column(
        "text",
        Kind::Text,
        "all frames as `file:line function`, innermost first, with ` < ` between them",
        {
            |all, stack| {
                let lines: Vec<String> = stack_lines(all.snapshot, *stack).collect();
                Cell::text(lines.join(" < "))
            }
        },
    ),
];

fn write(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for stack in used_stacks(rows.selection) {
        rows.push(&COLUMNS, &stack)?;
    }
    Ok(())
}
