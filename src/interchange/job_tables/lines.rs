//! The table of lines of code: those of a rank add up to its peak.

use super::row::{DEVICE, FILE, JobColumn, Part, RANK, column, number, parts};
use super::table::JobTable;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Kind, Unit};

pub(super) static TABLE: JobTable = JobTable {
    name: "lines",
    about: "the lines of code that hold memory at the peak of a rank, one row each; those of a rank add up to its peak",
    columns: &COLUMNS,
    rows: |job| parts(job, |device| device.peak.lines.iter().map(Part::Line)),
};

static COLUMNS: [JobColumn; 6] = [
    FILE,
    RANK,
    DEVICE,
    column("line", Kind::Text, "file name, line and function", |row| match row.part {
        Part::Line(line) => Cell::text(line.line.as_str()),
        Part::Whole | Part::Iteration(..) => Cell::Null,
    }),
    number("bytes", Unit::Bytes, "requested memory", |row| match row.part {
        Part::Line(line) => Cell::Int(line.bytes),
        Part::Whole | Part::Iteration(..) => Cell::Null,
    }),
    number("blocks", Unit::Count, "its blocks", |row| match row.part {
        Part::Line(line) => Cell::Int(line.blocks as i64),
        Part::Whole | Part::Iteration(..) => Cell::Null,
    }),
];
