//! The outcome of all checks as JSON; docs/json.md describes it.

use super::{GateReport, GrownRow, gate_source, item_name};
use crate::json;
use oomscope_analysis::comparison::GateItem;
use oomscope_model::Bytes;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    /// Whether every limit holds and everything could be checked.
    holds: bool,
    checks: Vec<CheckRecord<'a>>,
    grown: Vec<GrownRecord<'a>>,
    errors: Vec<ErrorRecord<'a>>,
}

#[derive(Serialize)]
struct CheckRecord<'a> {
    file: &'a str,
    device: i64,
    check: &'static str,
    holds: bool,
    text: &'a str,
    bytes: Option<Bytes>,
    limit_bytes: Option<Bytes>,
}

#[derive(Serialize)]
struct GrownRecord<'a> {
    file: &'a str,
    device: i64,
    /// `peak`, `reserved`, `category` or `line`.
    item: &'static str,
    name: String,
    /// The file of a line; null for anything else.
    source_file: Option<String>,
    source_line: Option<i64>,
    before_bytes: Bytes,
    now_bytes: Bytes,
}

#[derive(Serialize)]
struct ErrorRecord<'a> {
    file: &'a str,
    message: &'a str,
    hint: &'a str,
}

/// Write the outcome of all checks as JSON.
///
/// # Errors
/// When writing fails.
pub fn gate_json(out: &mut dyn Write, report: &GateReport) -> io::Result<()> {
    let checks = report.lines.iter().map(|line| CheckRecord {
        file: &line.file,
        device: line.device.0,
        check: line.check,
        holds: line.holds,
        text: &line.text,
        bytes: line.bytes,
        limit_bytes: line.limit_bytes,
    });
    let errors = report.failures.iter().map(|failure| ErrorRecord {
        file: &failure.file,
        message: &failure.message,
        hint: &failure.hint,
    });
    let record = Record {
        schema: "oomscope-check",
        version: 1,
        holds: report.exceeded().next().is_none() && report.failures.is_empty(),
        checks: checks.collect(),
        grown: report.grown.iter().map(grown).collect(),
        errors: errors.collect(),
    };
    json::write(out, &record)
}

fn grown(grown: &GrownRow) -> GrownRecord<'_> {
    let GrownRow { file, device, row } = grown;
    let source = gate_source(&row.item);
    GrownRecord {
        file,
        device: device.0,
        item: match row.item {
            GateItem::Peak => "peak",
            GateItem::Reserved => "reserved",
            GateItem::Category(_) => "category",
            GateItem::Line(_) => "line",
        },
        name: item_name(&row.item),
        source_line: source.as_ref().map(|source| source.line),
        source_file: source.map(|source| source.file),
        before_bytes: row.before_bytes,
        now_bytes: row.now_bytes,
    }
}
