//! Tables, in one file or a folder.

use super::args::ExportArgs;
use super::selection::{Otherwise, selection};
use crate::cli::failure::Failure;
use crate::cli::max_output::Within;
use crate::cli::progress_bar::with_bar;
use crate::cli::table_folder::{table_path, write_folder};
use oomscope_export::interchange::{OpenTable, Progress, Selection, TABLES, Table};
use oomscope_model::SaturatingSum as _;
use std::io;
use std::path::{Path, PathBuf};

/// Write the table or the tables that the arguments ask for.
pub(super) fn run(args: &ExportArgs, open: OpenTable) -> Result<(), Failure> {
    match (args.table, &args.output) {
        (Some(table), _) => one(args, table, open),
        (None, Some(folder)) if folder != Path::new("-") => all(args, folder, open),
        (None, _) => Err(Failure::new(
            "several tables do not fit into one output",
            "name a folder with -o, or one table with --table",
        )),
    }
}

fn one(args: &ExportArgs, table: &Table, open: OpenTable) -> Result<(), Failure> {
    let destination = args.source.destination(args.output.as_deref())?;
    let recording = args.source.open()?;
    let selection = selection(args, &recording, Otherwise::Whole)?;
    let mut out = destination.open()?;
    let mut budget = args.max_output.budget(&recording);
    with_bar(table.count(&selection), "rows", |progress| {
        write(budget.within(&mut out), table, open, &selection, progress)
    })?;
    out.finish()
}

/// Write all tables. They take their places once all of them are written.
fn all(args: &ExportArgs, folder: &Path, open: OpenTable) -> Result<(), Failure> {
    let path = |table: &Table| table_path(folder, table.name, args.format.name);
    let paths: Vec<PathBuf> = TABLES.into_iter().map(path).collect();
    // Refused before a large recording is read.
    let destinations = paths.iter().map(|path| args.source.destination(Some(path)));
    let destinations: Vec<_> = destinations.collect::<Result<_, _>>()?;
    let recording = args.source.open()?;
    let selection = selection(args, &recording, Otherwise::Whole)?;
    let mut budget = args.max_output.budget(&recording);
    let total = TABLES.iter().map(|table| table.count(&selection)).saturating_sum();
    with_bar(total, "rows", |progress| {
        let tables = TABLES.into_iter().zip(destinations);
        write_folder(folder, tables, |table, out| {
            write(budget.within(out), table, open, &selection, progress)
        })
    })
}

fn write(
    mut out: Within<'_>,
    table: &Table,
    open: OpenTable,
    selection: &Selection<'_>,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let mut writer = open(&mut out, &table.columns());
    table.write(selection, &mut *writer, progress)
}
