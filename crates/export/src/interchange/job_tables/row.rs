//! Rows of a job's tables, and how columns take their values from them.

use crate::interchange::cell::Cell;
use crate::interchange::column::{ColumnInfo, Kind, Unit};
use oomscope_diagnosis::ranks::{DeviceSummary, FileSummary, IterationPeak, Job, LineBytes};

/// A device of a file, or a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobRow<'a> {
    pub(super) file: &'a FileSummary,
    /// `None` for a file that could not be read.
    pub(super) device: Option<&'a DeviceSummary>,
    pub(super) part: RowSubject<'a>,
}

/// The part of a device that a row is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowSubject<'a> {
    Whole,
    /// An iteration, with its place in the recording from 0.
    Iteration(i64, IterationPeak),
    Line(&'a LineBytes),
}

/// A column of a job's table.
#[derive(Debug)]
pub(super) struct JobColumn {
    pub(super) info: ColumnInfo,
    pub(super) get: for<'a> fn(JobRow<'a>) -> Cell<'a>,
}

/// A column without a unit.
pub(super) const fn column(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    get: for<'a> fn(JobRow<'a>) -> Cell<'a>,
) -> JobColumn {
    JobColumn { info: ColumnInfo { name, kind, unit: Unit::None, about }, get }
}

/// A column of numbers with a unit.
pub(super) const fn number(
    name: &'static str,
    unit: Unit,
    about: &'static str,
    get: for<'a> fn(JobRow<'a>) -> Cell<'a>,
) -> JobColumn {
    JobColumn { info: ColumnInfo { name, kind: Kind::Int, unit, about }, get }
}

/// The columns by which tables are joined.
pub(super) const FILE: JobColumn =
    column("file", Kind::Text, "the file, below the directory that all have in common", |row| {
        Cell::text(row.file.name.as_str())
    });
pub(super) const RANK: JobColumn =
    column("rank", Kind::Int, "its rank, if names tell it", |row| Cell::int(row.file.rank));
pub(super) const DEVICE: JobColumn =
    column("device", Kind::Int, "the device; -1 is pinned host memory", |row| {
        Cell::int(row.device.map(|device| device.device.0))
    });

/// Every device of the files that could be read, with the parts of each.
pub(super) fn parts<'a, I: Iterator<Item = RowSubject<'a>>>(
    job: &'a Job,
    parts: impl Fn(&'a DeviceSummary) -> I,
) -> Vec<JobRow<'a>> {
    let mut out = Vec::new();
    for row in job.rows() {
        let of = |part| JobRow { file: row.file, device: Some(row.device), part };
        out.extend(parts(row.device).map(of));
    }
    out
}
