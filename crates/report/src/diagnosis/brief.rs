//! The verdict alone as JSON, for agents: what happened, why, what to change, and where the memory comes from.

use super::document::{Document, FindingText};
use super::tree;
use crate::json;
use oomscope_diagnosis::Site;
use oomscope_model::Bytes;
use serde::Serialize;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-verdict";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 1;

/// The most rows of lines of code, and of other findings.
const MAX_ROWS: usize = 8;

/// The most other fixes.
const MAX_FIXES: usize = 4;

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
    file: &'a str,
    device: i64,
    /// The state that it is about, in words.
    state: &'a str,
    id: &'static str,
    severity: &'static str,
    title: &'a str,
    why: Option<&'a str>,
    line: Option<LineRecord<'a>>,
    fix: Option<FixRecord<'a>>,
    other_fixes: Vec<OtherFixRecord<'a>>,
    memory: Option<MemoryRecord>,
    also: Vec<&'a str>,
    facts: Vec<String>,
    /// What is not known.
    limits: Vec<&'a str>,
    /// What the file says of itself where no device recorded it, in words.
    predicted: Option<&'a str>,
}

#[derive(Serialize)]
struct LineRecord<'a> {
    file: &'a str,
    line: i64,
    name: &'a str,
}

#[derive(Serialize)]
struct FixRecord<'a> {
    text: &'a str,
    code: Option<&'a str>,
    /// What it was simulated to give; null if it was not.
    outcome: Option<&'a str>,
}

#[derive(Serialize)]
struct OtherFixRecord<'a> {
    code: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct MemoryRecord {
    title: &'static str,
    bytes: Bytes,
    /// Lines of code, callers before what they call.
    lines: Vec<RowRecord>,
}

#[derive(Serialize)]
struct RowRecord {
    depth: usize,
    bytes: Bytes,
    line: String,
}

/// Write the verdict as JSON of a few kilobytes.
///
/// # Errors
/// When writing fails.
pub fn verdict_json(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let Some((verdict, others)) = document.findings.split_first() else { return Ok(()) };
    let fix = document.fix();
    let record = Record {
        schema: SCHEMA,
        version: VERSION,
        file: &document.name,
        device: document.device,
        state: &document.moment_text,
        id: verdict.id.name(),
        severity: verdict.severity.name(),
        title: &verdict.title,
        why: verdict.why.as_deref(),
        line: document.line().map(line),
        fix: fix.map(|fix| FixRecord {
            text: &fix.text,
            code: fix.code.as_deref(),
            outcome: fix.simulated.as_ref().map(|remedy| remedy.outcome.as_str()),
        }),
        other_fixes: other_fixes(verdict),
        memory: verdict.tree.as_ref().map(|tree| MemoryRecord {
            title: tree.title,
            bytes: tree.bytes,
            lines: tree
                .rows
                .iter()
                .take(MAX_ROWS)
                .map(|row| RowRecord { depth: row.depth, bytes: row.bytes, line: tree::label(row) })
                .collect(),
        }),
        also: others.iter().take(MAX_ROWS).map(|finding| finding.title.as_str()).collect(),
        facts: document.facts.iter().map(|(label, text)| format!("{label}: {text}")).collect(),
        limits: verdict.limits.iter().map(String::as_str).collect(),
        predicted: document.predicted_text(),
    };
    json::write(out, &record)
}

fn line(site: &Site) -> LineRecord<'_> {
    LineRecord { file: &site.file, line: site.line, name: &site.name }
}

fn other_fixes(verdict: &FindingText) -> Vec<OtherFixRecord<'_>> {
    let others = verdict.other_remedies().into_iter().take(MAX_FIXES);
    others.map(|remedy| OtherFixRecord { code: &remedy.code, text: &remedy.text }).collect()
}
