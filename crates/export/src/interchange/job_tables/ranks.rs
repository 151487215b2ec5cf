//! The table of ranks: the figures of each device.

use super::row::{DEVICE, FILE, JobColumn, JobRow, RANK, RowSubject, column, number};
use super::table::JobTable;
use crate::interchange::cell::Cell;
use crate::interchange::column::{Kind, Unit};
use oomscope_analysis::Category;
use oomscope_diagnosis::ranks::{DeviceSummary, FailureSummary, Job};
use oomscope_model::Bytes;

pub(super) static TABLE: JobTable = JobTable {
    name: "ranks",
    about: "the devices of all files, one row each, and a row with `error` for each file that could not be read",
    columns: &COLUMNS,
    rows,
};

fn rows(job: &Job) -> Vec<JobRow<'_>> {
    let mut out = Vec::new();
    for file in job.files() {
        let row = |device| JobRow { file, device, part: RowSubject::Whole };
        match &file.devices {
            Ok(devices) => out.extend(devices.iter().map(|device| row(Some(device)))),
            Err(_) => out.push(row(None)),
        }
    }
    out
}

static COLUMNS: [JobColumn; 35] = [
    FILE,
    RANK,
    DEVICE,
    number("events", Unit::Count, "recorded events", |row| int(row, |device| Some(device.events as i64))),
    column("is_damaged", Kind::Bool, "whether only a part of the file could be read", |row| {
        row.device.map_or(Cell::Null, |device| Cell::Bool(device.is_damaged))
    }),
    column("trust", Kind::Text, "known, at_least or unknown: how far its figures are known", |row| {
        row.device.map_or(Cell::Null, |device| Cell::text(device.trust.least().key()))
    }),
    number("peak_active_bytes", Unit::Bytes, "most active memory", |row| {
        int(row, |device| Some(device.peak.active_bytes))
    }),
    number(
        "peak_event",
        Unit::Event,
        "the event that made it; none if it is the state before the first",
        |row| int(row, |device| device.peak.moment.event().map(|event| event.0)),
    ),
    number("peak_reserved_bytes", Unit::Bytes, "most reserved memory, at whatever moment", |row| {
        int(row, |device| Some(device.peak_reserved_bytes))
    }),
    column(
        "phase",
        Kind::Text,
        "init, data, forward, backward, optimizer, eval or unknown, at the active peak",
        |row| row.device.map_or(Cell::Null, |device| Cell::text(device.peak.position.phase.key())),
    ),
    column("iteration", Kind::Int, "the iteration of the active peak, if they can be numbered", |row| {
        int(row, |device| device.peak.position.iteration.map(i64::from))
    }),
    number("parameter_bytes", Unit::Bytes, PARAMETER, |row| category(row, Category::Parameter)),
    number("gradient_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Gradient)),
    number("optimizer_state_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::OptimizerState)),
    number("activation_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Activation)),
    number("input_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Input)),
    number("temporary_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Temporary)),
    number("comm_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Comm)),
    number("kv_cache_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::KvCache)),
    number("graph_pool_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::GraphPool)),
    number("other_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Other)),
    number("unknown_bytes", Unit::Bytes, OF_CATEGORY, |row| category(row, Category::Unknown)),
    number(
        "inferred_bytes",
        Unit::Bytes,
        "of all categories, memory whose category is only inferred",
        |row| {
            int(row, |device| Some(device.peak.categories.iter().map(|of| of.inferred_bytes).sum::<Bytes>()))
        },
    ),
    number("oom_event", Unit::Event, "the last failed request; none if none failed", |row| {
        failure(row, |failure| failure.moment.event().map(|event| event.0))
    }),
    number("oom_time_us", Unit::TimeUs, "when it failed", |row| failure(row, |failure| failure.time_us)),
    number("oom_requested_bytes", Unit::Bytes, "as it was requested", |row| {
        failure(row, |failure| Some(failure.requested_bytes))
    }),
    number("oom_active_bytes", Unit::Bytes, "active memory then", |row| {
        failure(row, |failure| Some(failure.active_bytes))
    }),
    number("oom_reserved_bytes", Unit::Bytes, "reserved memory then", |row| {
        failure(row, |failure| Some(failure.reserved_bytes))
    }),
    number("capacity_bytes", Unit::Bytes, "what could be reserved, where a failed request says so", |row| {
        int(row, |device| device.capacity_bytes)
    }),
    column("verdict", Kind::Text, "the id of the finding that comes first", |row| {
        row.device.map_or(Cell::Null, |device| Cell::text(device.verdict.id.name()))
    }),
    column("verdict_title", Kind::Text, "what it says; none if nothing was found", |row| {
        row.device
            .filter(|device| !device.verdict.title.is_empty())
            .map_or(Cell::Null, |device| Cell::text(device.verdict.title.as_str()))
    }),
    column("severity", Kind::Text, "critical, warning or info: of the verdict", |row| {
        row.device.map_or(Cell::Null, |device| Cell::text(device.verdict.severity.name()))
    }),
    number("start_time_us", Unit::TimeUs, "the first recorded time", |row| {
        int(row, |device| device.time_us.map(|times| times[0]))
    }),
    number("end_time_us", Unit::TimeUs, "the last recorded time", |row| {
        int(row, |device| device.time_us.map(|times| times[1]))
    }),
    column("error", Kind::Text, "why the file could not be read", |row| {
        row.file.devices.as_ref().err().map_or(Cell::Null, |why| Cell::text(why.as_str()))
    }),
];

const PARAMETER: &str = "parameters at the active peak; all columns of categories add up to it";
const OF_CATEGORY: &str = "of this category at the active peak";

fn int<N: Into<i64>>(row: JobRow<'_>, get: impl Fn(&DeviceSummary) -> Option<N>) -> Cell<'_> {
    Cell::int(row.device.and_then(get))
}

fn failure<N: Into<i64>>(row: JobRow<'_>, get: impl Fn(&FailureSummary) -> Option<N>) -> Cell<'_> {
    Cell::int(row.device.and_then(|device| device.failure.as_ref()).and_then(get))
}

/// Memory of a category; 0 where there is none of it.
fn category(row: JobRow<'_>, category: Category) -> Cell<'_> {
    int(row, |device| {
        let of = device.peak.categories.iter().filter(|of| of.category == category);
        Some(of.map(|of| of.bytes).sum::<Bytes>())
    })
}
