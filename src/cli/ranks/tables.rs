//! The ranks of a job as tables, in one file or a folder.

use crate::cli::failure::Failure;
use crate::cli::output::{Destination, Output};
use crate::cli::table_folder::{table_path, write_folder};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use oomscope_diagnosis::ranks::Job;
use oomscope_export::interchange::{Content, FORMATS, JOB_TABLES, JobTable, OpenTable};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn table_parser() -> impl TypedValueParser<Value = &'static JobTable> {
    let names = JOB_TABLES.iter().map(|table| PossibleValue::new(table.name).help(table.about));
    PossibleValuesParser::new(names)
        .try_map(|name| JOB_TABLES.into_iter().find(|table| table.name == name).ok_or("no such table"))
}

/// Write one table, or all of them into a folder. What cannot be written is refused before the job is read.
pub(super) fn run(
    format: &str,
    table: Option<&JobTable>,
    output: Option<&Path>,
    inputs: &[&Path],
    job: impl FnOnce() -> Result<Job, Failure>,
) -> Result<Job, Failure> {
    let open = opener(format)?;
    match (table, output) {
        (Some(table), _) => {
            let destination = Destination::new(output, inputs.iter().copied())?;
            let job = job()?;
            let mut out = destination.open()?;
            write(table, open, &job, &mut out)?;
            out.finish()?;
            Ok(job)
        }
        (None, Some(folder)) if folder != Path::new("-") => {
            let path = |table: &JobTable| table_path(folder, table.name, format);
            let paths: Vec<PathBuf> = JOB_TABLES.into_iter().map(path).collect();
            let destinations = paths.iter().map(|path| Destination::new(Some(path), inputs.iter().copied()));
            let destinations: Vec<_> = destinations.collect::<Result<_, _>>()?;
            let job = job()?;
            let tables = JOB_TABLES.into_iter().zip(destinations);
            write_folder(folder, tables, |table, out| write(table, open, &job, out))?;
            Ok(job)
        }
        (None, _) => Err(Failure::new(
            "several tables do not fit into one output",
            "name a folder with -o, or one table with --table",
        )),
    }
}

fn opener(format: &str) -> Result<OpenTable, Failure> {
    let found = FORMATS.iter().find(|known| known.name == format);
    match found.map(|found| found.content) {
        Some(Content::Table(open)) => Ok(open),
        _ => Err(Failure::new(format_args!("{format} is no format of tables"), "use --format csv")),
    }
}

fn write(table: &JobTable, open: OpenTable, job: &Job, out: &mut Output) -> io::Result<()> {
    table.write(job, &mut *open(out, &table.columns()))
}
