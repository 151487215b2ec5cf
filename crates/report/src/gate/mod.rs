//! What `check` found, in each of its formats: a file here for each.

mod github;
mod json;
mod junit;
mod markdown;

pub use github::gate_github;
pub use json::gate_json;
pub use junit::gate_junit;
pub use markdown::gate_markdown;

use oomscope_analysis::comparison::{GateItem, GateRow};
use oomscope_analysis::{SiteFrame, frame_line};
use oomscope_model::{Bytes, DeviceId};
use oomscope_units as units;

/// What `check` found in all files.
#[derive(Debug, Default)]
pub struct GateReport {
    /// Each figure that was checked.
    pub lines: Vec<GateLine>,
    /// What grew by more than is tolerated.
    pub grown: Vec<GrownRow>,
    /// What could not be checked.
    pub failures: Vec<GateFailure>,
}

impl GateReport {
    /// The figures that are above their limits.
    fn exceeded(&self) -> impl Iterator<Item = &GateLine> {
        self.lines.iter().filter(|line| !line.holds)
    }
}

/// A checked figure of a device.
#[derive(Debug, Clone)]
pub struct GateLine {
    /// The file, as it was named.
    pub file: String,
    /// The device.
    pub device: DeviceId,
    /// The check, by the option that asks for it.
    pub check: &'static str,
    /// What is checked, the same for every recording: `max-peak`, or `baseline: activation`.
    pub name: String,
    /// The figure in words.
    pub text: String,
    /// Whether it is within its limit.
    pub holds: bool,
    /// The bytes that were compared; `None` if the check is not about bytes.
    pub bytes: Option<Bytes>,
    /// The bytes that they were compared with.
    pub limit_bytes: Option<Bytes>,
    /// The line of code that it is about.
    pub source: Option<SourceLine>,
}

impl GateLine {
    /// The file and the device.
    pub fn place(&self) -> String {
        format!("{}, {}", self.file, self.device)
    }
}

/// A line of code, as it was recorded.
#[derive(Debug, Clone)]
pub struct SourceLine {
    /// Its file.
    pub file: String,
    /// Its number.
    pub line: i64,
}

/// A figure that grew by more than is tolerated.
#[derive(Debug, Clone)]
pub struct GrownRow {
    /// The file, as it was named.
    pub file: String,
    /// The device.
    pub device: DeviceId,
    /// The figure beside that of the baseline.
    pub row: GateRow,
}

/// What could not be checked.
#[derive(Debug, Clone)]
pub struct GateFailure {
    /// The file, as it was named.
    pub file: String,
    /// The error.
    pub message: String,
    /// A way out.
    pub hint: String,
}

/// The name of a check beside a baseline.
pub fn gate_name(item: &GateItem) -> String {
    format!("baseline: {}", item_name(item))
}

/// The line of a figure that is about one, if it has a place.
pub fn gate_source(item: &GateItem) -> Option<SourceLine> {
    match item {
        GateItem::Line(line) if !line.file.is_empty() && 0 < line.line => {
            Some(SourceLine { file: line.file.clone(), line: line.line })
        }
        _ => None,
    }
}

/// What a row is about.
fn item_name(item: &GateItem) -> String {
    match item {
        GateItem::Peak => "peak".to_owned(),
        GateItem::Reserved => "reserved".to_owned(),
        GateItem::Category(category) => category.label().to_owned(),
        GateItem::Line(line) => units::printable(&frame_line(&SiteFrame {
            file: line.file.clone(),
            line: line.line,
            name: line.function.clone(),
            is_own: false,
        })),
    }
}

/// A row in a sentence.
pub fn gate_text(row: &GateRow) -> String {
    let (name, now, before) =
        (item_name(&row.item), units::bytes(row.now_bytes), units::bytes(row.before_bytes));
    let more = row.now_bytes - row.before_bytes;
    let text = match more {
        _ if 0 < more => format!("{name} {now} is {} above the baseline's {before}", units::bytes(more)),
        _ => format!("{name} {now}, baseline {before}"),
    };
    if row.is_judged_differently { format!("{text}, but is judged by other evidence") } else { text }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;
    use oomscope_analysis::comparison::CodeLine;

    /// A file whose names are made to break formats, with a limit that holds, one that does not, a line that grew and a failure.
    pub(super) fn report() -> GateReport {
        let file = "a,b:100%\n<c>&\"d\".pickle".to_owned();
        let line = |check, holds, text: &str, source| GateLine {
            file: file.clone(),
            device: DeviceId(0),
            check,
            name: check.to_owned(),
            text: text.to_owned(),
            holds,
            bytes: Some(Bytes(3 << 30)),
            limit_bytes: Some(Bytes(2 << 30)),
            source,
        };
        let item = GateItem::Line(CodeLine {
            file: "/work/repo/train.py".to_owned(),
            function: "step".to_owned(),
            line: 7,
            calls: Vec::new(),
        });
        let row = GateRow {
            item: item.clone(),
            before_bytes: Bytes(2 << 30),
            now_bytes: Bytes(3 << 30),
            is_exceeded: true,
            is_judged_differently: false,
        };
        let text = gate_text(&row);
        GateReport {
            lines: vec![
                line("max-peak", true, "peak 3.00 GiB of 4.00 GiB", None),
                line("baseline", false, &text, gate_source(&item)),
            ],
            grown: vec![GrownRow { file: file.clone(), device: DeviceId(0), row }],
            failures: vec![GateFailure {
                file: "none.pickle".to_owned(),
                message: "cannot open 'none.pickle'".to_owned(),
                hint: "check the path".to_owned(),
            }],
        }
    }
}
