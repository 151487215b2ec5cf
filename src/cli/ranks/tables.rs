//! The ranks of a job as tables, in one file or a folder.

use crate::cli::failure::Failure;
use crate::cli::names::{named, one_of};
use crate::cli::output::{Destination, Output};
use crate::cli::table_folder::{table_path, write_folder};
use clap::builder::TypedValueParser;
use oomscope_diagnosis::ranks::Job;
use oomscope_export::interchange::{JOB_TABLES, JobTable, OpenTable};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn table_parser() -> impl TypedValueParser<Value = &'static JobTable> {
    one_of(JOB_TABLES.into_iter().map(|table| named(table.name, table).help(table.about)))
}

/// Write one table, or all of them into a folder. What cannot be written is refused before the job is read.
pub(super) fn run(
    (format, open): (&str, OpenTable),
    table: Option<&JobTable>,
    output: Option<&Path>,
    inputs: &[&Path],
    job: impl FnOnce() -> Result<Job, Failure>,
) -> Result<Job, Failure> {
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

fn write(table: &JobTable, open: OpenTable, job: &Job, out: &mut Output) -> io::Result<()> {
    table.write(job, &mut *open(out, &table.columns()))
}
