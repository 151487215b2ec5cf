//! Figures of a recording that later ones are held against, as `stats --format json` writes them.

use oomscope_analysis::comparison::{CodeLine, PeakSummary};
use oomscope_analysis::{Category, CategoryBytes};
use oomscope_model::{Bytes, DeviceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of code with the bytes that it holds at the peak.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PeakLine {
    file: String,
    line: i64,
    function: String,
    bytes: Bytes,
}

/// The lines of a summary, for JSON.
pub(super) fn peak_lines(summary: PeakSummary) -> Vec<PeakLine> {
    let line = |(line, bytes): (CodeLine, Bytes)| PeakLine {
        file: line.file,
        line: line.line,
        function: line.function,
        bytes,
    };
    summary.lines.into_iter().map(line).collect()
}

#[derive(Deserialize)]
struct Record {
    device: i64,
    complete: bool,
    anchor: String,
    /// Missing in files of versions that did not write it.
    trust: Option<BTreeMap<String, serde_json::Value>>,
    peak: Peak,
    categories: Categories,
    /// Missing in files of versions that did not write it.
    peak_lines: Option<Vec<PeakLine>>,
}

#[derive(Deserialize)]
struct Peak {
    active: Bytes,
    reserved: Bytes,
}

#[derive(Deserialize)]
struct Categories {
    peak: BTreeMap<String, Bytes>,
    peak_inferred: BTreeMap<String, Bytes>,
}

/// Read the JSON of `stats` about one file.
///
/// # Errors
/// Why the text is no such JSON, or is about several files.
pub fn read_baseline(text: &str) -> Result<Vec<PeakSummary>, String> {
    let records: Vec<Record> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut devices: Vec<i64> = records.iter().map(|record| record.device).collect();
    devices.sort_unstable();
    if devices.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("it is about several files".to_owned());
    }
    records.into_iter().map(summary).collect()
}

fn summary(record: Record) -> Result<PeakSummary, String> {
    let lines = record.peak_lines.ok_or("it has no peak_lines; write it again with this version")?;
    let Categories { peak, peak_inferred } = record.categories;
    let category = |(key, bytes): (&String, &Bytes)| {
        Category::from_key(key).map(|category| CategoryBytes {
            category,
            bytes: *bytes,
            inferred_bytes: peak_inferred.get(key).copied().unwrap_or_default(),
            // Not recorded there, and of no use here.
            count: 0,
        })
    };
    Ok(PeakSummary {
        device: DeviceId(record.device),
        peak_bytes: record.peak.active,
        reserved_bytes: record.peak.reserved,
        is_complete: record.complete && record.anchor == "end_state" && !has_unknown(record.trust.as_ref()),
        categories: peak.iter().filter_map(category).collect(),
        lines: lines
            .into_iter()
            .map(|line| {
                let PeakLine { file, line, function, bytes } = line;
                (CodeLine { file, function, line, calls: Vec::new() }, bytes)
            })
            .collect(),
    })
}

/// Whether some figure was not known.
fn has_unknown(trust: Option<&BTreeMap<String, serde_json::Value>>) -> bool {
    trust.is_some_and(|kinds| kinds.values().any(|word| word == "unknown"))
}
