//! The report for programs. The schema is described in `docs/report.md`; its version counts up when
//! a key changes its meaning or goes away.

use super::document::{AdviceText, AllocationText, Document, FindingText, NoteText, StackText};
use super::fix::Fix;
use crate::modules::modules_record;
use oomscope_analysis::PhaseBasis;
use oomscope_analysis::segment_state::{GroupKey, SizeClass};
use oomscope_diagnosis::{CodeRow, CodeTree, Figure, MomentPosition, Site, Value};
use oomscope_model::PoolKey;
use oomscope_units as units;
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};

/// The version of the schema.
const VERSION: u32 = 2;

/// Write the report as JSON.
///
/// # Errors
/// When writing fails.
pub fn report_json(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let facts: Map<String, Json> = document
        .facts
        .iter()
        .map(|(label, text)| (label.to_lowercase().replace(' ', "_"), json!(text)))
        .collect();
    let report = json!({
        "schema": "oomscope-report",
        "version": VERSION,
        "tool": concat!("oomscope ", env!("CARGO_PKG_VERSION")),
        "file": document.name,
        "device": document.device,
        "moment": position(document.at, Some(&document.moment_text)),
        "dump": position(document.dump, None),
        "recording": {
            "events": document.events,
            "settings": document.settings,
            "facts": facts,
        },
        "verdict": document.verdict(),
        "line": document.line().map(site),
        "fix": document.fix().map(fix),
        "modules": document.modules.as_ref().map(modules_record),
        "remedies": document.remedies().iter().map(|remedy| &remedy.record).collect::<Vec<_>>(),
        "findings": document.findings.iter().map(finding).collect::<Vec<_>>(),
        "ranks": document.ranks,
        "notes": document.notes.iter().map(note).collect::<Vec<_>>(),
        "damage": document.damage,
        "predicted": document.predicted,
        "trust": document.trust,
    });
    crate::json::write(out, &report)
}

fn fix(fix: &Fix) -> Json {
    let simulated = fix.simulated.as_ref();
    json!({
        "text": fix.text,
        "code": fix.code,
        "outcome": simulated.map(|remedy| &remedy.outcome),
        "remedy": simulated.map(|remedy| &remedy.record),
    })
}

fn note(note: &NoteText) -> Json {
    json!({"text": note.text, "event": note.event, "place": note.place, "go": note.go})
}

fn position(at: MomentPosition, text: Option<&str>) -> Json {
    let mut out = json!({
        "event": i64::from(at.moment.0) - 1,
        "phase": at.position.phase.key(),
        "phase_basis": at.position.basis.map(PhaseBasis::key),
        "iteration": at.position.iteration,
        "iteration_of_recording": at.position.iteration_of_recording,
        "iteration_at_least": at.position.iteration_at_least,
    });
    if let (Some(text), Some(map)) = (text, out.as_object_mut()) {
        map.insert("text".to_owned(), json!(text));
    }
    out
}

fn finding(finding: &FindingText) -> Json {
    let advice = |advice: &AdviceText| json!({"text": advice.text, "code": advice.code});
    json!({
        "id": finding.id.name(),
        "severity": finding.severity.name(),
        "title": finding.title,
        "why": finding.why,
        "explanation": finding.explanation,
        "evidence": evidence(finding),
        "advice": finding.advice.iter().map(advice).collect::<Vec<_>>(),
        "simulated_by": finding.simulated_by,
        "confirm": finding.confirm,
        "limits": finding.limits,
        "figures": finding.figures.iter().map(figure).collect::<Vec<_>>(),
    })
}

/// A figure of a sentence, with the whole that it is a part of.
fn figure(figure: &Figure) -> Json {
    json!({
        "text": figure.text(),
        "unit": figure.value().unit(),
        "value": value(figure.value()),
        "part_of": figure.part_of().map(value),
    })
}

fn value(value: Value) -> Json {
    match value {
        Value::Bytes(bytes) => json!(bytes),
        Value::Count(n) => json!(n),
        Value::Share(share) | Value::Times(share) => json!(share),
        Value::Event(event) => json!(event.0),
    }
}

fn evidence(finding: &FindingText) -> Json {
    let mut evidence = Map::new();
    for number in &finding.numbers {
        evidence.insert(number.key.to_owned(), value(number.figure.value()));
    }
    if let Some(key) = finding.largest_hole_of {
        evidence.insert("largest_hole_of".to_owned(), group(key));
    }
    evidence.insert("tree".to_owned(), finding.tree.as_ref().map_or(Json::Null, tree));
    evidence.insert("sites".to_owned(), finding.sites.iter().map(site).collect());
    evidence.insert("stacks".to_owned(), finding.stacks.iter().map(stack).collect());
    evidence.insert("allocations".to_owned(), finding.allocations.iter().map(allocation).collect());
    evidence.insert("events".to_owned(), json!(finding.events));
    Json::Object(evidence)
}

/// A pool, a stream and a size class.
fn group(key: GroupKey) -> Json {
    json!({
        "pool": key.pool.map(|PoolKey(a, b)| [a, b]),
        "stream": key.stream,
        "class": key.class.map(SizeClass::key),
    })
}

fn tree(tree: &CodeTree) -> Json {
    let row = |row: &CodeRow| {
        json!({
            "depth": row.depth,
            "bytes": row.bytes,
            "count": row.count,
            "is_package": row.is_package,
            "is_rest": row.is_rest,
            "lines": row.lines.iter().map(line).collect::<Vec<_>>(),
        })
    };
    json!({"title": tree.title, "bytes": tree.bytes, "rows": tree.rows.iter().map(row).collect::<Vec<_>>()})
}

fn line(site: &Site) -> Json {
    json!({"file": site.file, "line": site.line, "name": site.name})
}

fn site(site: &Site) -> Json {
    json!({
        "file": site.file,
        "line": site.line,
        "name": site.name,
        "bytes": site.bytes,
        "count": site.count,
        "role": site.role.key(),
    })
}

fn stack(stack: &StackText) -> Json {
    let frame = |frame: &oomscope_analysis::SiteFrame| json!({"file": frame.file, "line": frame.line, "name": frame.name});
    json!({
        "bytes": stack.bytes,
        "count": stack.count,
        "frames": stack.frames.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn allocation(allocation: &AllocationText) -> Json {
    json!({
        "addr": units::address(allocation.address),
        "size": allocation.bytes,
        "alloc_event": allocation.event,
        "site": allocation.site,
    })
}
