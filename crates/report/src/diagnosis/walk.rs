//! The parts of a report in their order, for every format with markup.

use super::amounts::{figures, sites};
use super::document::{AdviceText, Document, FindingText, NoteText, StackText};
use super::quoted::{RemedyText, simulated_heading};
use super::sink::{Cell, Head, Item, Sink, Span, Table, UNTITLED};
use super::words::{TOOL, place};
use oomscope_units as units;

/// The amount of detail of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    All,
    NoStacks,
    TitleOnly,
}

/// The title of the verdict, and what was recorded.
pub(super) fn head(sink: &mut impl Sink, document: &Document) {
    let Some(verdict) = document.findings.first() else { return };
    let stand_ins: Vec<Item<'_>> = document.stand_ins.iter().map(|text| Item { text, code: None }).collect();
    sink.head(&Head {
        severity: verdict.severity,
        id: verdict.id,
        culprit: document.answer.as_ref().and_then(|answer| answer.culprit.as_deref()),
        fix: document.fix(),
        title: &verdict.title,
        name: &document.name,
        device: &document.device_name,
        moment: &document.moment_text,
        predicted: document.predicted_text(),
        stand_ins: &stand_ins,
    });
}

/// A finding: what it says, its evidence and what to do.
pub(super) fn finding(sink: &mut impl Sink, finding: &FindingText, detail: Detail) {
    if finding.is_verdict {
        verdict(sink, finding, detail);
        return;
    }
    let title = format!("{}: {}", units::capitalised(finding.severity.name()), finding.title);
    if detail == Detail::TitleOnly {
        sink.paragraph(&[Span::Plain(&title)]);
        return;
    }
    sink.fold(&title, |sink| body(sink, finding, detail));
}

/// All of a finding but its title.
pub(super) fn body(sink: &mut impl Sink, finding: &FindingText, detail: Detail) {
    explanation(sink, finding.why.iter().chain(&finding.explanation));
    code_tree(sink, finding);
    advice(sink, "What to do", &finding.advice);
    evidence(sink, finding, detail);
}

/// What happened, why and what to change; then where the memory comes from; the rest is folded.
fn verdict(sink: &mut impl Sink, finding: &FindingText, detail: Detail) {
    sink.open_finding(finding.severity, finding.id);
    why(sink, finding);
    fix(sink, finding);
    code_tree(sink, finding);
    if detail != Detail::TitleOnly {
        sink.fold("Details", |sink| details(sink, finding, detail));
    }
    sink.close_section();
}

/// Why the verdict is so.
pub(super) fn why(sink: &mut impl Sink, finding: &FindingText) {
    if let Some(why) = &finding.why {
        sink.paragraph(&[Span::Strong("Why:"), Span::Plain(" "), Span::Plain(why)]);
    }
}

/// What to change with what it was simulated to give, and the best remedies besides.
pub(super) fn fix(sink: &mut impl Sink, finding: &FindingText) {
    if let Some(fix) = &finding.fix {
        sink.heading("What to change");
        let own = fix.simulated.as_ref().filter(|_| fix.is_advice);
        let own = own.map(|remedy| format!("Simulated: {}", remedy.text));
        let first = Item { text: &fix.text, code: fix.code.as_deref() };
        let own = own.as_ref().map(|text| Item { text, code: None });
        sink.list(&[first].into_iter().chain(own).collect::<Vec<_>>());
    }
    let others = finding.other_remedies();
    if !others.is_empty() {
        sink.heading(simulated_heading(&others));
        remedies(sink, &others);
    }
}

/// The best remedies besides what to change, where that was said before.
pub(super) fn other_changes(sink: &mut impl Sink, finding: &FindingText) {
    let others = finding.other_remedies();
    if !others.is_empty() {
        sink.heading("What else would help");
        sink.remark(&format!("{}.", simulated_heading(&others)));
        remedies(sink, &others);
    }
}

/// What a verdict says besides its cause, its fix and its lines.
pub(super) fn details(sink: &mut impl Sink, finding: &FindingText, detail: Detail) {
    explanation(sink, finding.explanation.iter());
    advice(sink, "What else to do", finding.other_advice());
    evidence(sink, finding, detail);
}

/// Remedies that were simulated.
fn remedies(sink: &mut impl Sink, remedies: &[&RemedyText]) {
    let items = remedies.iter().map(|remedy| Item {
        text: &remedy.text,
        code: Some(remedy.code.as_str()).filter(|code| !code.is_empty()),
    });
    sink.list(&items.collect::<Vec<_>>());
}

/// The lines, figures and stacks that a finding rests on, and what is not known.
fn evidence(sink: &mut impl Sink, finding: &FindingText, detail: Detail) {
    closing(sink, finding);
    sites(sink, finding);
    figures(sink, finding);
    if detail == Detail::All {
        finding.stacks.iter().filter(|row| row.is_new).for_each(|row| stack(sink, row));
    }
}

fn explanation<'a>(sink: &mut impl Sink, sentences: impl Iterator<Item = &'a String>) {
    let text = sentences.map(String::as_str).collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        sink.paragraph(&[Span::Plain(&text)]);
    }
}

/// Memory by lines of code, if there are any.
pub(super) fn code_tree(sink: &mut impl Sink, finding: &FindingText) {
    if let Some(tree) = finding.tree.as_ref().filter(|tree| !tree.rows.is_empty()) {
        sink.tree(tree);
    }
}

/// How the other ranks of the job stood, if they were looked at.
pub(super) fn ranks(sink: &mut impl Sink, document: &Document) {
    section(sink, "The other ranks", &document.ranks);
}

/// The notes about the file, if there are any.
pub(super) fn notes(sink: &mut impl Sink, document: &Document) {
    section(sink, "Notes", &document.notes.iter().map(NoteText::line).collect::<Vec<_>>());
}

/// A section with a list of texts, if there are any.
fn section(sink: &mut impl Sink, title: &'static str, texts: &[String]) {
    if !texts.is_empty() {
        sink.open_section(title);
        sink.list(&texts.iter().map(|text| Item { text, code: None }).collect::<Vec<_>>());
        sink.close_section();
    }
}

/// Facts about the recording, and the allocator's settings.
pub(super) fn recording(sink: &mut impl Sink, document: &Document) {
    sink.open_section("How it was recorded");
    let facts = document.facts.iter().map(|(label, text)| (*label, Cell::Plain(text.clone())));
    let settings = if document.settings.is_empty() {
        Cell::Plain(document.settings_text())
    } else {
        Cell::Codes(document.settings.clone())
    };
    let rows = facts.chain([("Allocator", settings)]);
    sink.table(&Table {
        style: Some("facts"),
        columns: vec![UNTITLED, UNTITLED],
        rows: rows.map(|(label, cell)| vec![Cell::Plain(label.to_owned()), cell]).collect(),
    });
    sink.close_section();
    sink.foot(TOOL);
}

fn advice(sink: &mut impl Sink, title: &'static str, advice: &[AdviceText]) {
    let items: Vec<Item<'_>> =
        advice.iter().map(|advice| Item { text: &advice.text, code: advice.code.as_deref() }).collect();
    if !items.is_empty() {
        sink.heading(title);
        sink.list(&items);
    }
}

fn closing(sink: &mut impl Sink, finding: &FindingText) {
    if let Some(simulated) = &finding.simulated {
        sink.paragraph(&[Span::Plain(simulated)]);
    }
    if let Some(confirm) = &finding.confirm {
        sink.paragraph(&[Span::Plain("To confirm: "), Span::Plain(confirm)]);
    }
    if !finding.limits.is_empty() {
        sink.remark(&format!("Not known: {}", finding.limits.join(" ")));
    }
}

fn stack(sink: &mut impl Sink, stack: &StackText) {
    let lines: Vec<String> =
        stack.frames.iter().map(|frame| place(&frame.file, frame.line, &frame.name)).collect();
    let bytes = units::bytes(stack.bytes);
    let title = format!("Stack of {bytes} in {}", units::counted(stack.count, "allocation"));
    sink.fold(&title, |sink| sink.code_block(&lines.join("\n")));
}
