//! A table of a job: its name, its columns and its rows.

use super::row::{JobColumn, JobRow};
use crate::interchange::column::ColumnInfo;
use crate::interchange::writers::TableWriter;
use oomscope_diagnosis::ranks::Job;
use std::io;

/// A table of a job.
#[derive(Debug)]
pub struct JobTable {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// Its rows, as a phrase.
    pub about: &'static str,
    pub(super) columns: &'static [JobColumn],
    pub(super) rows: for<'a> fn(&'a Job) -> Vec<JobRow<'a>>,
}

impl JobTable {
    /// Its columns, in order.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        self.columns.iter().map(|column| column.info).collect()
    }

    /// Write all rows.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, job: &Job, writer: &mut dyn TableWriter) -> io::Result<()> {
        writer.begin()?;
        for row in (self.rows)(job) {
            for column in self.columns {
                writer.cell((column.get)(row))?;
            }
            writer.end_row()?;
        }
        writer.finish()
    }
}
