//! The ranks of a job as JSON.

use crate::json;
use crate::position::{PlaceRecord, place_of};
use crate::stats_request::{by_key, inferred_by_key};
use oomscope_diagnosis::ranks;
use oomscope_diagnosis::ranks::{DeviceSummary, FirstFailure, HeatAxis, Job, JobDevice, Outlier, Standing};
use oomscope_model::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-ranks";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 3;

/// Columns of the peaks over time.
const COLUMNS: usize = 240;

/// Lines of code of a peak that are listed.
const LINES: usize = 50;

#[derive(Serialize)]
struct Record {
    schema: &'static str,
    version: u32,
    files: Vec<FileRecord>,
    /// Ranks that left no file, where the others say how many there are.
    missing: Vec<u32>,
    /// Files of ranks for which a newer one stands.
    older: Vec<String>,
    /// The row with the median peak; null without rows.
    median: Option<RowRecord>,
    apart: Vec<OutlierRecord>,
    first_failure: Option<FailureRecord>,
    /// Null unless the files share one GPU and overlap in time.
    together: Option<TogetherRecord>,
    over_time: HeatRecord,
}

#[derive(Serialize)]
struct FileRecord {
    file: String,
    /// Null where names do not tell it.
    rank: Option<u32>,
    /// Why the file could not be read; null if it was.
    error: Option<String>,
    devices: Vec<DeviceRecord>,
}

#[derive(Serialize)]
struct DeviceRecord {
    device: i64,
    events: usize,
    complete: bool,
    /// Whether no device recorded the file.
    predicted: bool,
    trust: BTreeMap<&'static str, &'static str>,
    peak_active: Bytes,
    peak_event: i64,
    peak_reserved: Bytes,
    peak_place: PlaceRecord,
    peak_categories: BTreeMap<&'static str, Bytes>,
    peak_categories_inferred: BTreeMap<&'static str, Bytes>,
    /// The lines of code with most bytes at the peak.
    peak_lines: Vec<LineRecord>,
    oom: Option<OomRecord>,
    /// The id of the verdict, and what it says.
    verdict: &'static str,
    verdict_title: String,
    time_us: Option<[i64; 2]>,
    iterations: Vec<IterationRecord>,
}

#[derive(Serialize)]
struct LineRecord {
    line: String,
    bytes: Bytes,
    blocks: usize,
}

#[derive(Serialize)]
struct OomRecord {
    event: i64,
    requested: Bytes,
    active: Bytes,
    reserved: Bytes,
    capacity: Option<Bytes>,
    time_us: Option<i64>,
}

#[derive(Serialize)]
struct IterationRecord {
    iteration: Option<u32>,
    peak_active: Bytes,
}

#[derive(Serialize)]
struct RowRecord {
    file: String,
    rank: Option<u32>,
    device: i64,
}

#[derive(Serialize)]
struct OutlierRecord {
    #[serde(flatten)]
    row: RowRecord,
    difference: Bytes,
    /// All lines whose bytes differ; they add up to the difference.
    lines: Vec<ChangeRecord>,
}

#[derive(Serialize)]
struct ChangeRecord {
    line: String,
    bytes: Bytes,
    median_bytes: Bytes,
}

#[derive(Serialize)]
struct FailureRecord {
    #[serde(flatten)]
    row: RowRecord,
    event: i64,
    time_us: Option<i64>,
    others: Vec<StandingRecord>,
}

#[derive(Serialize)]
struct StandingRecord {
    #[serde(flatten)]
    row: RowRecord,
    /// Reserved bytes at that time; null if it was not recorded then.
    reserved: Option<Bytes>,
}

#[derive(Serialize)]
struct TogetherRecord {
    reserved: Bytes,
    time_us: i64,
    /// By row, in the order of files and devices.
    shares: Vec<Bytes>,
    within_us: [i64; 2],
}

#[derive(Serialize)]
struct HeatRecord {
    /// `iteration`, `last_iterations` or `events`.
    axis: &'static str,
    /// The number of the first iteration, if they have numbers.
    first_iteration: Option<u32>,
    /// Most active bytes by row, in the order of files and devices, and column; null where nothing was recorded.
    peaks: Vec<Vec<Option<Bytes>>>,
}

/// Write the ranks of a job as JSON; with the sum of all if they share one GPU.
///
/// # Errors
/// When writing fails.
pub fn ranks_json(out: &mut dyn Write, job: &Job, is_one_gpu: bool) -> io::Result<()> {
    let heat = ranks::heat(job, COLUMNS);
    let record = Record {
        schema: SCHEMA,
        version: VERSION,
        files: job
            .files()
            .iter()
            .map(|file| FileRecord {
                file: file.name.clone(),
                rank: file.rank,
                error: file.devices.as_ref().err().cloned(),
                devices: file.devices.as_deref().unwrap_or_default().iter().map(device).collect(),
            })
            .collect(),
        missing: job.missing(),
        older: job.older().iter().map(|file| file.path.to_string_lossy().into_owned()).collect(),
        median: job.median().map(row),
        apart: ranks::outliers(job).iter().map(outlier_record).collect(),
        first_failure: ranks::first_failure(job).as_ref().map(failure),
        together: is_one_gpu.then(|| ranks::together(&job.rows())).flatten().map(together),
        over_time: HeatRecord {
            axis: match heat.axis {
                HeatAxis::Iterations(_) => "iteration",
                HeatAxis::LastIterations(_) => "last_iterations",
                HeatAxis::Events => "events",
            },
            first_iteration: match heat.axis {
                HeatAxis::Iterations([first, _]) => Some(first),
                HeatAxis::LastIterations(_) | HeatAxis::Events => None,
            },
            peaks: heat.rows,
        },
    };
    json::write(out, &record)
}

fn device(device: &DeviceSummary) -> DeviceRecord {
    let peak = &device.peak;
    DeviceRecord {
        device: device.device.0,
        events: device.events,
        complete: !device.is_damaged,
        predicted: device.is_predicted,
        trust: device.trust.kinds().map(|(kind, trust)| (kind, trust.key())).into(),
        peak_active: peak.active_bytes,
        peak_event: i64::from(peak.moment.0) - 1,
        peak_reserved: device.peak_reserved_bytes,
        peak_place: place_of(peak.position),
        peak_categories: by_key(&peak.categories),
        peak_categories_inferred: inferred_by_key(&peak.categories),
        peak_lines: peak
            .lines
            .iter()
            .take(LINES)
            .map(|line| LineRecord { line: line.line.clone(), bytes: line.bytes, blocks: line.blocks })
            .collect(),
        oom: device.failure.as_ref().map(|failure| OomRecord {
            event: i64::from(failure.moment.0) - 1,
            requested: failure.requested_bytes,
            active: failure.active_bytes,
            reserved: failure.reserved_bytes,
            capacity: device.capacity_bytes,
            time_us: failure.time_us,
        }),
        verdict: device.verdict.id.name(),
        verdict_title: device.verdict.title.clone(),
        time_us: device.time_us,
        iterations: device
            .iterations
            .iter()
            .map(|peak| IterationRecord { iteration: peak.number, peak_active: peak.active_bytes })
            .collect(),
    }
}

fn together(found: ranks::Together) -> TogetherRecord {
    TogetherRecord {
        reserved: found.bytes,
        time_us: found.time_us,
        shares: found.shares,
        within_us: found.within_us,
    }
}

fn row(row: JobDevice<'_>) -> RowRecord {
    RowRecord { file: row.file.name.clone(), rank: row.file.rank, device: row.device.device.0 }
}

fn outlier_record(outlier: &Outlier<'_>) -> OutlierRecord {
    let change = |change: &oomscope_diagnosis::ranks::LineChange| ChangeRecord {
        line: change.line.clone(),
        bytes: change.bytes,
        median_bytes: change.median_bytes,
    };
    OutlierRecord {
        row: row(outlier.row),
        difference: outlier.difference_bytes,
        lines: outlier.lines.iter().map(change).collect(),
    }
}

fn failure(first: &FirstFailure<'_>) -> FailureRecord {
    let standing = |(other, standing): &(JobDevice<'_>, Standing)| StandingRecord {
        row: row(*other),
        reserved: match standing {
            Standing::Reserved { bytes } => Some(*bytes),
            Standing::Unknown => None,
        },
    };
    FailureRecord {
        row: row(first.row),
        event: i64::from(first.failure.moment.0) - 1,
        time_us: first.failure.time_us,
        others: first.others.iter().map(standing).collect(),
    }
}
