//! The table of lines of code: those of a rank add up to its peak.

use super::row::{DEVICE, FILE, JobColumn, RANK, RowSubject, column, number, parts};
use super::table::JobTable;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Kind, Unit};

pub(super) static TABLE: JobTable = JobTable {
    name: "lines",
    about: "the lines of code that hold memory at the peak of a rank, one row each; those of a rank add up to its peak",
    columns: &COLUMNS,
    rows: |job| parts(job, |device| device.peak.lines.iter().map(RowSubject::Line)),
};

static COLUMNS: [JobColumn; 6] = [
    FILE,
    RANK,
    DEVICE,
    column("line", Kind::Text, "file name, line and function", |row| match row.part {
        RowSubject::Line(line) => Cell::text(line.line.as_str()),
        RowSubject::Whole | RowSubject::Iteration(..) => Cell::Null,
    }),
    number("bytes", Unit::Bytes, "requested memory", |row| match row.part {
        RowSubject::Line(line) => line.bytes.into(),
        RowSubject::Whole | RowSubject::Iteration(..) => Cell::Null,
    }),
    number("blocks", Unit::Count, "its blocks", |row| match row.part {
        RowSubject::Line(line) => Cell::Int(line.blocks as i64),
        RowSubject::Whole | RowSubject::Iteration(..) => Cell::Null,
    }),
];
