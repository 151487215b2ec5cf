//! The report for a terminal.

use super::document::{Document, FindingText, NoteText};
use super::quoted::simulated_heading;
use super::tree;
use super::words::{kind_text, short_place};
use crate::modules::modules_text;
use crate::table::{self, Align};
use oomscope_diagnosis::{Number, Site};
use oomscope_units as units;
use std::io::{self, Write};

/// Cells of a terminal in a line. Longer lines of prose are hard to read.
const WIDTH: usize = 100;

/// How much of a report to write as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextDetail {
    /// What happened, why, what to change, where the memory comes from; of other findings, the statements.
    #[default]
    Short,
    /// Everything.
    Verbose,
}

/// Write the report as text.
///
/// # Errors
/// When writing fails.
pub fn report_text(out: &mut dyn Write, document: &Document, detail: TextDetail) -> io::Result<()> {
    writeln!(out, "{} · {}", document.name, document.device_name)?;
    paragraph(out, "", &document.moment_text)?;
    document.predicted_text().map_or(Ok(()), |text| paragraph(out, "", text))?;
    document.stand_ins.iter().try_for_each(|text| wrapped(out, ["  ", "    "], text))?;
    writeln!(out)?;
    match detail {
        TextDetail::Short => short(out, document)?,
        TextDetail::Verbose => verbose(out, document)?,
    }
    section(out, "The other ranks", &document.ranks)?;
    section(out, "Notes", &document.notes.iter().map(NoteText::line).collect::<Vec<_>>())?;
    let mut rows: Vec<Vec<String>> =
        document.facts.iter().map(|(label, text)| vec![(*label).to_owned(), text.clone()]).collect();
    rows.push(vec!["Allocator".to_owned(), document.settings_text()]);
    table::write(out, &[Align::Left, Align::Left], &rows)?;
    match detail {
        TextDetail::Short => writeln!(out, "\nFigures, evidence and limits: --verbose"),
        TextDetail::Verbose => Ok(()),
    }
}

/// A section with a list of texts, if there are any.
fn section(out: &mut dyn Write, title: &str, texts: &[String]) -> io::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    texts.iter().try_for_each(|text| wrapped(out, ["  ", "    "], text))?;
    writeln!(out)
}

/// The verdict on the first screen, and the statements of the others that say what to change.
fn short(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let Some((verdict, others)) = document.findings.split_first() else { return Ok(()) };
    writeln!(out, "{}", kind_text(verdict.severity, verdict.id))?;
    paragraph(out, "", &verdict.title)?;
    parts(out, verdict, &[why, fix, remedies, code_tree])?;
    writeln!(out)?;
    // Without advice, a finding is a figure, and figures are for --verbose.
    let others: Vec<&FindingText> = others.iter().filter(|finding| !finding.advice.is_empty()).collect();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "Also")?;
    for finding in others {
        let severity = format!("  {:8} ", finding.severity.name());
        wrapped(out, [&severity, "           "], &finding.title)?;
    }
    writeln!(out)
}

fn verbose(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let line = "-".repeat(WIDTH);
    for (i, finding) in document.findings.iter().enumerate() {
        if i == 1 {
            writeln!(out, "{line}\n")?;
        }
        writeln!(out, "{}", kind_text(finding.severity, finding.id))?;
        paragraph(out, "", &finding.title)?;
        parts(out, finding, &[why, fix, remedies, code_tree, explanation, figures, sites, advice, closing])?;
        writeln!(out)?;
    }
    if let Some(table) = &document.modules {
        writeln!(out, "{line}\n")?;
        modules_text(out, table)?;
        writeln!(out)?;
    }
    writeln!(out, "{line}\n")
}

/// The best remedies that were simulated besides.
fn remedies(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    let remedies = finding.other_remedies();
    if remedies.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}", simulated_heading(&remedies))?;
    for remedy in remedies {
        paragraph(out, "    ", &remedy.text)?;
        remedy.code.lines().try_for_each(|line| writeln!(out, "        {line}"))?;
    }
    Ok(())
}

type PartWriter = fn(&mut Vec<u8>, &FindingText) -> io::Result<()>;

/// Write the parts that have something to say, with an empty line before each.
fn parts(out: &mut dyn Write, finding: &FindingText, parts: &[PartWriter]) -> io::Result<()> {
    for part in parts {
        let mut text = Vec::new();
        part(&mut text, finding)?;
        if !text.is_empty() {
            writeln!(out)?;
            out.write_all(&text)?;
        }
    }
    Ok(())
}

fn why(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    finding.why.iter().try_for_each(|why| paragraph(out, "  ", &format!("Why: {why}")))
}

/// What to change, and what this very change was simulated to give.
fn fix(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    let Some(fix) = &finding.fix else { return Ok(()) };
    paragraph(out, "  ", &format!("What to change: {}", fix.text))?;
    code(out, fix.code.as_deref())?;
    match fix.simulated.as_ref().filter(|_| fix.is_advice) {
        Some(remedy) => paragraph(out, "    ", &format!("Simulated: {}", remedy.text)),
        None => Ok(()),
    }
}

fn code_tree(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    let Some(tree) = finding.tree.as_ref().filter(|tree| !tree.rows.is_empty()) else { return Ok(()) };
    writeln!(out, "  {}", tree::title(tree))?;
    tree::write(out, "    ", tree)
}

fn explanation(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    finding.explanation.iter().try_for_each(|text| paragraph(out, "  ", text))
}

fn figures(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    let row = |number: &Number| vec![format!("    {}", number.figure.text()), number.label.to_owned()];
    let rows: Vec<Vec<String>> = finding.numbers.iter().map(row).collect();
    table::write(out, &[Align::Left, Align::Left], &rows)
}

fn sites(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    if finding.sites.is_empty() {
        return Ok(());
    }
    writeln!(out, "  Code")?;
    let row = |site: &Site| {
        let bytes = format!("    {}", units::bytes(site.bytes));
        vec![bytes, short_place(site), site.role.text(site.count)]
    };
    let rows: Vec<Vec<String>> = finding.sites.iter().map(row).collect();
    table::write(out, &[Align::Left, Align::Left, Align::Left], &rows)
}

fn advice(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    let others = finding.other_advice();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}", if finding.fix.is_some() { "What else to do" } else { "What to do" })?;
    for advice in others {
        paragraph(out, "    ", &advice.text)?;
        code(out, advice.code.as_deref())?;
    }
    Ok(())
}

fn code(out: &mut Vec<u8>, code: Option<&str>) -> io::Result<()> {
    let mut lines = code.into_iter().flat_map(str::lines);
    lines.try_for_each(|line| writeln!(out, "        {line}"))
}

fn closing(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    if let Some(simulated) = &finding.simulated {
        paragraph(out, "  ", simulated)?;
    }
    if let Some(confirm) = &finding.confirm {
        paragraph(out, "  ", &format!("To confirm: {confirm}"))?;
    }
    finding.limits.iter().try_for_each(|limit| paragraph(out, "  ", &format!("Not known: {limit}")))
}

fn paragraph(out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    wrapped(out, [indent, indent], text)
}

/// A text in lines of limited width, with an indent for the first and one for the others.
fn wrapped(out: &mut dyn Write, [first, rest]: [&str; 2], text: &str) -> io::Result<()> {
    let words: Vec<_> = text.split_whitespace().collect();
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    writeln!(out, "{}", textwrap::fill(&words.join(" "), options))
}
