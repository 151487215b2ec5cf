//! A diagnosis as a report: text for a terminal, Markdown for a ticket, HTML for a browser, JSON for
//! programs.

mod document;
mod html;
mod json;
mod markdown;
mod redact;
mod text;

pub use document::{Document, ReportInput};
pub use html::{Picture, report_html};
pub use json::report_json;
pub use markdown::{MAX_MARKDOWN_CHARS, report_markdown};
pub use text::report_text;

use crate::diagnosis::Site;
use crate::units;
use document::StackText;

/// `12 allocations`.
fn allocations(n: usize) -> String {
    if n == 1 { "1 allocation".to_owned() } else { format!("{} allocations", units::count(n as u64)) }
}

/// `train.py:55 attention`, the whole path if it was recorded.
fn place(file: &str, line: i64, name: &str) -> String {
    match (file, line) {
        ("", _) => name.to_owned(),
        (file, 0) => format!("{file} {name}"),
        (file, line) => format!("{file}:{line} {name}"),
    }
}

/// The same with the file's name alone.
fn short_place(site: &Site) -> String {
    place(units::basename(&site.file), site.line, &site.name)
}

/// What was allocated with a stack.
fn stack_title(stack: &StackText) -> String {
    format!("{} in {}", units::bytes(stack.bytes), allocations(stack.count))
}
