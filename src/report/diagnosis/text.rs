//! The report for a terminal.

use super::document::{Document, FindingText};
use super::words::short_place;
use crate::diagnosis::{Number, Site};
use crate::report::table::{self, Align};
use crate::units;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr as _;

/// Cells of a terminal in a line. Longer lines of prose are hard to read.
const WIDTH: usize = 100;

/// Write the report as text.
///
/// # Errors
/// When writing fails.
pub fn report_text(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    writeln!(out, "{} · {}", document.name, document.device_name)?;
    paragraph(out, "", &document.moment_text)?;
    writeln!(out)?;
    for (i, finding) in document.findings.iter().enumerate() {
        if i == 1 {
            writeln!(out, "{}\n", "-".repeat(WIDTH))?;
        }
        finding_text(out, finding)?;
    }
    let mut rows: Vec<Vec<String>> =
        document.facts.iter().map(|(label, text)| vec![(*label).to_owned(), text.clone()]).collect();
    rows.push(vec!["Allocator".to_owned(), document.settings_text()]);
    writeln!(out, "{}\n", "-".repeat(WIDTH))?;
    table::write(out, &[Align::Left, Align::Left], &rows)
}

fn finding_text(out: &mut dyn Write, finding: &FindingText) -> io::Result<()> {
    writeln!(out, "{} · {}", finding.severity.name(), finding.id)?;
    paragraph(out, "", &finding.title)?;
    for part in [explanation, figures, sites, advice, closing] {
        let mut text = Vec::new();
        part(&mut text, finding)?;
        if !text.is_empty() {
            writeln!(out)?;
            out.write_all(&text)?;
        }
    }
    writeln!(out)
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
    if finding.advice.is_empty() {
        return Ok(());
    }
    writeln!(out, "  What to do")?;
    for advice in &finding.advice {
        paragraph(out, "    ", &advice.text)?;
        for line in advice.code.iter().flat_map(|code| code.lines()) {
            writeln!(out, "        {line}")?;
        }
    }
    Ok(())
}

fn closing(out: &mut Vec<u8>, finding: &FindingText) -> io::Result<()> {
    if let Some(saving) = &finding.saving {
        paragraph(
            out,
            "  ",
            &format!("Could save up to {}: {}.", units::bytes(saving.bytes), saving.formula),
        )?;
    }
    if let Some(confirm) = &finding.confirm {
        paragraph(out, "  ", &format!("To confirm: {confirm}"))?;
    }
    finding.limits.iter().try_for_each(|limit| paragraph(out, "  ", &format!("Not known: {limit}")))
}

/// A text in lines of limited width.
fn paragraph(out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && WIDTH < indent.width() + line.width() + 1 + word.width() {
            writeln!(out, "{indent}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{indent}{line}")
}
