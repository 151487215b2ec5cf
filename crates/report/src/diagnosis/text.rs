//! The report for a terminal.

use super::document::{Document, FindingText, NoteText};
use super::quoted::simulated_heading;
use super::tree;
use super::words::{kind_text, short_place};
use crate::modules::modules_text;
use crate::table::{self, Align};
use crate::text_style::TextStyle;
use oomscope_diagnosis::{Number, Site};
use oomscope_units as units;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr as _;

/// How much of a report to write as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextDetail {
    /// What happened, why, what to change, where the memory comes from; of other findings, the statements.
    #[default]
    Short,
    /// Everything.
    Verbose,
}

/// A text that is being written.
struct Page {
    text: Vec<u8>,
    style: TextStyle,
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Write the report as text: the verdict first.
///
/// # Errors
/// When writing fails.
pub fn report_text(
    out: &mut dyn Write,
    document: &Document,
    detail: TextDetail,
    style: TextStyle,
) -> io::Result<()> {
    let mut page = Page { text: Vec::new(), style };
    write_page(&mut page, document, detail)?;
    out.write_all(&page.text)
}

fn write_page(out: &mut Page, document: &Document, detail: TextDetail) -> io::Result<()> {
    match document.predicted_text() {
        None => {}
        Some(text) => {
            paragraph(out, "", text)?;
            document.stand_ins.iter().try_for_each(|text| wrapped(out, ["  ", "    "], text))?;
            writeln!(out)?;
        }
    }
    match detail {
        TextDetail::Short => short(out, document)?,
        TextDetail::Verbose => verbose(out, document)?,
    }
    section(out, "The other ranks", &document.ranks)?;
    section(out, "Notes", &document.notes.iter().map(NoteText::line).collect::<Vec<_>>())?;
    let mut rows = vec![
        vec!["Recording".to_owned(), format!("{} · {}", document.name, document.device_name)],
        vec!["State".to_owned(), document.moment_text.clone()],
    ];
    rows.extend(document.facts.iter().map(|(label, text)| vec![(*label).to_owned(), text.clone()]));
    rows.push(vec!["Allocator".to_owned(), document.settings_text()]);
    facts(out, &rows)?;
    match detail {
        TextDetail::Short => writeln!(out, "\nFigures, evidence and limits: --verbose"),
        TextDetail::Verbose => Ok(()),
    }
}

/// Labels and texts beside them. A long text goes on below itself.
fn facts(out: &mut Page, rows: &[Vec<String>]) -> io::Result<()> {
    let width = rows.iter().filter_map(|row| Some(row.first()?.width())).max().unwrap_or(0) + 2;
    for row in rows {
        let [label, text] = row.as_slice() else { continue };
        let label = format!("{label}{}", " ".repeat(width.saturating_sub(label.width())));
        wrapped(out, [&label, &" ".repeat(width)], text)?;
    }
    Ok(())
}

/// A section with a list of texts, if there are any.
fn section(out: &mut Page, title: &str, texts: &[String]) -> io::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", out.style.bold(title))?;
    texts.iter().try_for_each(|text| wrapped(out, ["  ", "    "], text))?;
    writeln!(out)
}

/// The verdict on the first screen, and the statements of the others that say what to change.
fn short(out: &mut Page, document: &Document) -> io::Result<()> {
    let Some((verdict, others)) = document.findings.split_first() else { return Ok(()) };
    heading(out, verdict)?;
    parts(out, verdict, &[why, fix, remedies, code_tree])?;
    writeln!(out)?;
    // Without advice, a finding is a figure, and figures are for --verbose.
    let others: Vec<&FindingText> = others.iter().filter(|finding| !finding.advice.is_empty()).collect();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", out.style.bold("Also"))?;
    for finding in others {
        let severity = format!("  {:8} ", finding.severity.name());
        wrapped(out, [&severity, "           "], &finding.title)?;
    }
    writeln!(out)
}

fn verbose(out: &mut Page, document: &Document) -> io::Result<()> {
    let line = "-".repeat(out.style.width);
    for (i, finding) in document.findings.iter().enumerate() {
        if i == 1 {
            writeln!(out, "{line}\n")?;
        }
        heading(out, finding)?;
        parts(out, finding, &[why, fix, remedies, code_tree, explanation, figures, sites, advice, closing])?;
        writeln!(out)?;
    }
    if let Some(table) = &document.modules {
        writeln!(out, "{line}\n")?;
        let style = out.style;
        modules_text(out, table, style)?;
        writeln!(out)?;
    }
    writeln!(out, "{line}\n")
}

/// The best remedies that were simulated besides.
fn remedies(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    let remedies = finding.other_remedies();
    if remedies.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}", simulated_heading(&remedies))?;
    for remedy in remedies {
        paragraph(out, "    ", &remedy.text)?;
        code(out, Some(&remedy.code))?;
    }
    Ok(())
}

type PartWriter = fn(&mut Page, &FindingText) -> io::Result<()>;

/// Write the parts that have something to say, with an empty line before each.
fn parts(out: &mut Page, finding: &FindingText, parts: &[PartWriter]) -> io::Result<()> {
    for part in parts {
        let mut page = Page { text: Vec::new(), style: out.style };
        part(&mut page, finding)?;
        if !page.text.is_empty() {
            writeln!(out)?;
            out.write_all(&page.text)?;
        }
    }
    Ok(())
}

fn why(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    finding.why.iter().try_for_each(|why| {
        let label = out.style.bold("Why:");
        paragraph(out, "  ", &format!("{label} {why}"))
    })
}

/// What to change, and what this very change was simulated to give.
fn fix(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    let Some(fix) = &finding.fix else { return Ok(()) };
    let label = out.style.bold("What to change:");
    paragraph(out, "  ", &format!("{label} {}", fix.text))?;
    code(out, fix.code.as_deref())?;
    match fix.simulated.as_ref().filter(|_| fix.is_advice) {
        Some(remedy) => {
            let label = out.style.bold("Simulated:");
            paragraph(out, "    ", &format!("{label} {}", remedy.text))
        }
        None => Ok(()),
    }
}

fn code_tree(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    let Some(tree) = finding.tree.as_ref().filter(|tree| !tree.rows.is_empty()) else { return Ok(()) };
    writeln!(out, "  {}", tree::title(tree))?;
    let width = out.style.width;
    tree::write(out, "    ", tree, width)
}

fn explanation(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    finding.explanation.iter().try_for_each(|text| paragraph(out, "  ", text))
}

fn figures(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    let row = |number: &Number| vec![format!("    {}", number.figure.text()), number.label.to_owned()];
    let rows: Vec<Vec<String>> = finding.numbers.iter().map(row).collect();
    table::write(out, &[Align::Left, Align::Left], &rows)
}

fn sites(out: &mut Page, finding: &FindingText) -> io::Result<()> {
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

fn advice(out: &mut Page, finding: &FindingText) -> io::Result<()> {
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

fn code(out: &mut Page, code: Option<&str>) -> io::Result<()> {
    let mut lines = code.into_iter().flat_map(str::lines);
    lines.try_for_each(|line| writeln!(out, "        {}", out.style.code(line)))
}

fn closing(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    if let Some(simulated) = &finding.simulated {
        paragraph(out, "  ", simulated)?;
    }
    if let Some(confirm) = &finding.confirm {
        paragraph(out, "  ", &format!("To confirm: {confirm}"))?;
    }
    finding.limits.iter().try_for_each(|limit| paragraph(out, "  ", &format!("Not known: {limit}")))
}

/// What kind of finding it is, and what it says.
fn heading(out: &mut Page, finding: &FindingText) -> io::Result<()> {
    let kind = out.style.severity(finding.severity, &kind_text(finding.severity, finding.id));
    writeln!(out, "{kind}")?;
    // Each line by itself: a pager loses what is still open at the end of one.
    let title = fill(out.style, ["", ""], &finding.title);
    title.lines().try_for_each(|line| writeln!(out, "{}", out.style.bold(line)))
}

fn paragraph(out: &mut Page, indent: &str, text: &str) -> io::Result<()> {
    wrapped(out, [indent, indent], text)
}

/// A text in lines of limited width, with an indent for the first and one for the others.
fn wrapped(out: &mut Page, indents: [&str; 2], text: &str) -> io::Result<()> {
    let filled = fill(out.style, indents, text);
    writeln!(out, "{filled}")
}

fn fill(style: TextStyle, [first, rest]: [&str; 2], text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let options = textwrap::Options::new(style.width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&words.join(" "), options)
}
