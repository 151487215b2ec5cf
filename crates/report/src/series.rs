//! Memory over time in columns, as JSON; docs/json.md describes it.

use super::damage::DamageRecord;
use super::json;
use super::predicted::PredictedRecord;
use super::trust::TrustRecord;
use oomscope_analysis::SeriesColumn;
use oomscope_model::{Bytes, Moment, Recording, Snapshot, Timeline};
use serde::Serialize;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-series";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    file: &'a str,
    devices: &'a [DeviceSeries],
    damage: Option<DamageRecord>,
    predicted: Option<PredictedRecord>,
}

/// Memory of a device over time.
#[derive(Debug, Serialize)]
pub struct DeviceSeries {
    device: i64,
    trust: TrustRecord,
    columns: Vec<ColumnRecord>,
}

#[derive(Debug, Serialize)]
struct ColumnRecord {
    /// The first and the last event; -1 for the state before the first.
    events: [i64; 2],
    /// The time of the first, in microseconds since the first recorded time; null without times.
    time_us: Option<i64>,
    active: Bytes,
    active_event: i64,
    allocated: Bytes,
    allocated_event: i64,
    reserved: Bytes,
    reserved_event: i64,
    /// What the filter lets through; null without one.
    filtered: Option<Bytes>,
    filtered_event: Option<i64>,
}

impl DeviceSeries {
    /// The columns of a device.
    pub fn new(recording: &Recording, columns: &[SeriesColumn]) -> Self {
        let columns = columns.iter().map(|column| record(recording, column));
        Self { device: recording.device.0, trust: TrustRecord::of(recording), columns: columns.collect() }
    }
}

fn record(timeline: &Timeline, column: &SeriesColumn) -> ColumnRecord {
    let event = |moment: Moment| i64::from(moment.0) - 1;
    let time_us = timeline.times.has_times().then(|| timeline.times.at(&timeline.events, column.first));
    ColumnRecord {
        events: [event(column.first), event(column.last)],
        time_us,
        active: column.active.1,
        active_event: event(column.active.0),
        allocated: column.allocated.1,
        allocated_event: event(column.allocated.0),
        reserved: column.reserved.1,
        reserved_event: event(column.reserved.0),
        filtered: column.chosen.map(|(_, bytes)| bytes),
        filtered_event: column.chosen.map(|(moment, _)| event(moment)),
    }
}

/// Write the memory of some of a snapshot's devices over time.
///
/// # Errors
/// When writing fails.
pub fn series_json(
    out: &mut dyn Write,
    file: &str,
    snapshot: &Snapshot,
    devices: &[DeviceSeries],
) -> io::Result<()> {
    let (damage, predicted) = (DamageRecord::of(snapshot), PredictedRecord::of(snapshot));
    json::write(out, &Record { schema: SCHEMA, version: VERSION, file, devices, damage, predicted })
}
