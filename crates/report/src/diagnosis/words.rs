//! Words that all formats of the report use for places and stacks.

use oomscope_diagnosis::{FindingId, Severity, Site};
use oomscope_units as units;

/// The program that wrote the report.
pub(super) const TOOL: &str = concat!("oomscope ", env!("CARGO_PKG_VERSION"));

/// The kind of a finding above its title: `critical · leak`. A verdict that blames nothing has words instead of an id.
pub fn kind_text(severity: Severity, id: FindingId) -> String {
    match (severity, id) {
        (Severity::Info, FindingId::Nothing) => "nothing failed here".to_owned(),
        (_, FindingId::Nothing) => "cannot tell".to_owned(),
        _ => format!("{} · {}", severity.name(), id.name()),
    }
}

/// A line of code: `train.py:55 attention`, with the whole path if it was recorded.
pub(super) fn place(file: &str, line: i64, name: &str) -> String {
    match (file, line) {
        ("", _) => name.to_owned(),
        (file, 0) => format!("{file} {name}"),
        (file, line) => format!("{file}:{line} {name}"),
    }
}

/// A line of code without the folders of its file.
pub(super) fn short_place(site: &Site) -> String {
    place(units::basename(&site.file), site.line, &site.name)
}
