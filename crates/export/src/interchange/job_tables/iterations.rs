//! The table of iterations: the course of each rank.

use super::row::{DEVICE, FILE, JobColumn, RANK, RowSubject, column, number, parts};
use super::table::JobTable;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Kind, Unit};

pub(super) static TABLE: JobTable = JobTable {
    name: "iterations",
    about: "the peaks of all iterations of all ranks, one row each",
    columns: &COLUMNS,
    rows: |job| {
        parts(job, |device| (0..).zip(&device.iterations).map(|(at, peak)| RowSubject::Iteration(at, *peak)))
    },
};

static COLUMNS: [JobColumn; 6] = [
    FILE,
    RANK,
    DEVICE,
    column("position", Kind::Int, "its place among the iterations of the recording, from 0", |row| match row
        .part
    {
        RowSubject::Iteration(at, _) => Cell::Int(at),
        RowSubject::Whole | RowSubject::Line(_) => Cell::Null,
    }),
    column("iteration", Kind::Int, "its number, from 0, if iterations can be numbered", |row| {
        match row.part {
            RowSubject::Iteration(_, peak) => Cell::int(peak.number),
            RowSubject::Whole | RowSubject::Line(_) => Cell::Null,
        }
    }),
    number("peak_active_bytes", Unit::Bytes, "most active memory in it", |row| match row.part {
        RowSubject::Iteration(_, peak) => peak.active_bytes.into(),
        RowSubject::Whole | RowSubject::Line(_) => Cell::Null,
    }),
];
