//! The report for a ticket: GitHub's Markdown, short enough for an issue.

use super::amounts;
use super::document::{Document, FindingText};
use super::markdown_sink::Markdown;
use super::walk::{self, Detail};

/// The longest report, in characters: GitHub takes 65,536, and the reporter wants to say something.
pub const MAX_MARKDOWN_CHARS: usize = 60_000;

/// The remark below a report that lost something.
const SHORTENED: &str = "_Shortened to fit an issue; the other formats have all of it._\n\n";

/// Characters that notes take at most: half of a report.
const MAX_NOTES_CHARS: usize = MAX_MARKDOWN_CHARS / 2;

/// Characters kept free for [`SHORTENED`], with some to spare.
const SHORTENED_CHARS: usize = 200;

/// The report as Markdown of at most [`MAX_MARKDOWN_CHARS`] characters. If it is longer, the last findings lose
/// first their stacks, then all but their titles.
pub fn report_markdown(document: &Document) -> String {
    let mut out = written(|sink| walk::head(sink, document));
    let notes = shortened_notes(written(|sink| walk::notes(sink, document)));
    let tail = written(|sink| {
        walk::ranks(sink, document);
        amounts::modules(sink, document);
        walk::recording(sink, document);
    });
    let room =
        MAX_MARKDOWN_CHARS.saturating_sub(length(&out) + length(&notes) + length(&tail) + SHORTENED_CHARS);
    let findings = Findings::fitting(&document.findings, room);
    out.push_str(&findings.text);
    if findings.is_shortened {
        out.push_str(SHORTENED);
    }
    out.push_str(&notes);
    out.push_str(&tail);
    out
}

/// The notes, cut behind a whole one, and a remark if some do not fit.
fn shortened_notes(text: String) -> String {
    let Some((cut, _)) = text.char_indices().nth(MAX_NOTES_CHARS) else { return text };
    let end = text[..cut].rfind('\n').unwrap_or(0);
    format!("{}\n\n{SHORTENED}", &text[..end])
}

/// The text that `write` makes.
fn written(write: impl FnOnce(&mut Markdown)) -> String {
    let mut sink = Markdown::default();
    write(&mut sink);
    sink.out
}

/// Length in characters, which is how GitHub counts.
fn length(text: &str) -> usize {
    text.chars().count()
}

/// The findings as far as there is room for them.
struct Findings {
    text: String,
    is_shortened: bool,
}

impl Findings {
    fn fitting(findings: &[FindingText], room: usize) -> Self {
        let part = |finding, detail| written(|sink| walk::finding(sink, finding, detail));
        let mut parts: Vec<String> = findings.iter().map(|finding| part(finding, Detail::All)).collect();
        let mut total: usize = parts.iter().map(|part| length(part)).sum();
        let mut is_shortened = false;
        for less in [Detail::NoStacks, Detail::TitleOnly] {
            // Findings are in the order of their weight: the last ones are missed least.
            for (finding, text) in findings.iter().zip(&mut parts).rev() {
                if total <= room {
                    break;
                }
                let shorter = part(finding, less);
                total = total - length(text) + length(&shorter);
                *text = shorter;
                is_shortened = true;
            }
        }
        let mut text = String::new();
        let mut left = room;
        for part in &parts {
            let Some(rest) = left.checked_sub(length(part)) else {
                is_shortened = true;
                break;
            };
            text.push_str(part);
            left = rest;
        }
        Self { text, is_shortened }
    }
}
