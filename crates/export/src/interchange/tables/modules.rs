//! The table of modules: what of each category they and the modules below them hold at the moment.

use super::rows::{Rows, infos};
use super::table::Table;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Column, Kind, Unit, column, number};
use crate::interchange::selection::Portion;
use oomscope_analysis::{MODULE_COLUMNS, ModulePlace, ModuleRow, module_table};
use oomscope_model::Bytes;
use std::io;

pub(super) static TABLE: Table = Table {
    name: "modules",
    about: "what modules of the program hold at the moment of `blocks`, one row for each of four categories of which a module has \
        any; a filter does not change it",
    columns: || infos(&COLUMNS),
    count: |selection| selection.portions.iter().map(|portion| held(portion).len() as u64).sum(),
    write: |rows| held_of_all(rows),
};

/// What a module holds of a category.
struct Held {
    device: i64,
    module: usize,
    parent: Option<usize>,
    row: ModuleRow,
    /// The place of the category among those of modules.
    category: usize,
}

static COLUMNS: [Column<Held>; 12] = [
    column("device", Kind::Int, "the device; -1 is pinned host memory", |_, held| Cell::Int(held.device)),
    column(
        "module",
        Kind::Int,
        "its number on the device: each before those below it, the largest first",
        |_, held| Cell::int(Some(held.module as i64)),
    ),
    column("parent", Kind::Int, "the module around it; none for the outermost", |_, held| {
        Cell::int(held.parent.map(|parent| parent as i64))
    }),
    column(
        "name",
        Kind::Text,
        "its path or the variable that holds it, where the program said so, else its class or the file and function of its forward; \
         none of memory outside of modules, or of none that is known",
        |_, held| match &held.row.place {
            ModulePlace::Module { name, .. } => Cell::Text(name.into()),
            ModulePlace::Outside | ModulePlace::NotKnown => Cell::Null,
        },
    ),
    column("class", Kind::Text, "its class, where the name is a path", |_, held| match &held.row.place {
        ModulePlace::Module { class: Some(class), .. } => Cell::Text(class.into()),
        _ => Cell::Null,
    }),
    column("called_from", Kind::Text, "the line that calls it, or makes it", |_, held| {
        match &held.row.place {
            ModulePlace::Module { from: Some(from), .. } => Cell::Text(from.into()),
            _ => Cell::Null,
        }
    }),
    column(
        "place",
        Kind::Text,
        "module; outside, of what ran outside of modules; not_known, where neither a stack nor a size tells",
        |_, held| {
            Cell::text(match held.row.place {
                ModulePlace::Module { .. } => "module",
                ModulePlace::Outside => "outside",
                ModulePlace::NotKnown => "not_known",
            })
        },
    ),
    column("category", Kind::Text, "parameter, gradient, optimizer_state or activation", |_, held| {
        Cell::text(MODULE_COLUMNS[held.category].key())
    }),
    number(
        "own_bytes",
        Unit::Bytes,
        "without the modules below it; these add up to what is live of the category",
        |_, held| Cell::from(held.row.own[held.category]),
    ),
    number("total_bytes", Unit::Bytes, "with the modules below it", |_, held| {
        Cell::from(held.row.total[held.category])
    }),
    number(
        "inferred_bytes",
        Unit::Bytes,
        "those of the total whose module is inferred from their size",
        |_, held| Cell::from(held.row.total_inferred[held.category]),
    ),
    number("calls", Unit::Count, "how often it ran in the last pass that left activations", |_, held| {
        Cell::int(Some(i64::from(held.row.calls)))
    }),
];

fn held_of_all(rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for portion in &rows.selection.portions {
        for held in held(portion) {
            rows.push(&COLUMNS, &held)?;
        }
    }
    Ok(())
}

/// What the modules of a device hold.
fn held(portion: &Portion) -> Vec<Held> {
    let Portion { recording, attribution, .. } = portion;
    let table = module_table(recording, attribution, portion.moment());
    // The modules around the one that is read, the outermost first.
    let mut around: Vec<usize> = Vec::new();
    let mut out = Vec::new();
    for (module, row) in table.rows.into_iter().enumerate() {
        around.truncate(row.depth);
        let parent = around.last().copied();
        around.push(module);
        let categories = (0..MODULE_COLUMNS.len()).filter(|&category| row.total[category] != Bytes(0));
        let held = |category| Held { device: recording.device.0, module, parent, row: row.clone(), category };
        out.extend(categories.map(held));
    }
    out
}
