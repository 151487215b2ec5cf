//! The report for a ticket: GitHub's Markdown, short enough for an issue.

use super::document::{Card, Document, StackText};
use super::{place, stack_title};
use crate::units;
use std::fmt::Write as _;

/// The longest report, in characters: GitHub takes 65,536, and the reporter wants to say something.
pub const MAX_MARKDOWN_CHARS: usize = 60_000;

/// How much of a finding is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    All,
    NoStacks,
    TitleOnly,
}

/// The report as Markdown of at most [`MAX_MARKDOWN_CHARS`] characters: where that is too little, the
/// last findings lose their stacks first, then all but their titles.
pub fn report_markdown(document: &Document) -> String {
    let (head, tail) = (head(document), tail(document));
    let room = MAX_MARKDOWN_CHARS.saturating_sub(length(&head) + length(&tail) + 200);
    let mut details = vec![Detail::All; document.cards.len()];
    let mut parts: Vec<String> = document.cards.iter().map(|card| finding(card, Detail::All)).collect();
    let mut total: usize = parts.iter().map(|part| length(part)).sum();
    for less in [Detail::NoStacks, Detail::TitleOnly] {
        for i in (0..parts.len()).rev() {
            if total <= room {
                break;
            }
            let part = finding(&document.cards[i], less);
            total = total - length(&parts[i]) + length(&part);
            (parts[i], details[i]) = (part, less);
        }
    }
    let mut out = head;
    let mut left = room;
    let mut written = 0;
    for part in &parts {
        let Some(rest) = left.checked_sub(length(part)) else { break };
        out.push_str(part);
        (left, written) = (rest, written + 1);
    }
    if written < parts.len() || details.iter().any(|&detail| detail != Detail::All) {
        out.push_str("_Shortened to fit an issue; the other formats have all of it._\n\n");
    }
    out.push_str(&tail);
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn head(document: &Document) -> String {
    let title = document.cards.first().map_or_else(String::new, |card| escape(&card.title));
    format!(
        "## {title}\n\n{} · {}\n\n{}\n\n",
        code(&document.name),
        escape(&document.device_name),
        escape(&document.moment_text)
    )
}

/// How it was recorded, and the allocator's settings.
fn tail(document: &Document) -> String {
    let mut out = "### How it was recorded\n\n| | |\n| --- | --- |\n".to_owned();
    for (label, text) in &document.facts {
        writeln!(out, "| {label} | {} |", escape(text)).ok();
    }
    let settings: Vec<String> = document.settings.iter().map(|text| cell_code(text)).collect();
    let settings = if settings.is_empty() { document.settings_text() } else { settings.join(" ") };
    writeln!(out, "| Allocator | {settings} |").ok();
    writeln!(out, "\n<sub>oomscope {}</sub>", env!("CARGO_PKG_VERSION")).ok();
    out
}

fn finding(card: &Card, detail: Detail) -> String {
    let mut out = if card.is_verdict {
        format!("{} · {}\n\n", capitalised(card.severity.name()), code(card.id))
    } else {
        format!("### {}: {}\n\n", capitalised(card.severity.name()), escape(&card.title))
    };
    if detail == Detail::TitleOnly {
        return out;
    }
    if !card.explanation.is_empty() {
        let lines: Vec<String> = card.explanation.iter().map(|text| escape(text)).collect();
        writeln!(out, "{}\n", lines.join(" ")).ok();
    }
    sites(&mut out, card);
    advice(&mut out, card);
    closing(&mut out, card);
    figures(&mut out, card);
    if detail == Detail::All {
        card.stacks.iter().filter(|row| row.is_new).for_each(|row| stack(&mut out, row));
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

fn sites(out: &mut String, card: &Card) {
    if card.sites.is_empty() {
        return;
    }
    out.push_str("| Code | Bytes | |\n| --- | ---: | --- |\n");
    for site in &card.sites {
        let place = cell_code(&place(&site.file, site.line, &site.name));
        writeln!(out, "| {place} | {} | {} |", units::bytes(site.bytes), site.role.text(site.count)).ok();
    }
    out.push('\n');
}

fn advice(out: &mut String, card: &Card) {
    for advice in &card.advice {
        writeln!(out, "- {}", escape(&advice.text)).ok();
        if let Some(code) = &advice.code {
            writeln!(out, "\n{}", indented(&fenced(code))).ok();
        }
    }
    if !card.advice.is_empty() {
        out.push('\n');
    }
}

fn closing(out: &mut String, card: &Card) {
    if let Some(saving) = &card.saving {
        let bytes = units::bytes(saving.bytes);
        writeln!(out, "Could save up to **{bytes}** ({}).\n", escape(&saving.formula)).ok();
    }
    if let Some(confirm) = &card.confirm {
        writeln!(out, "To confirm: {}\n", escape(confirm)).ok();
    }
    if !card.limits.is_empty() {
        let limits: Vec<String> = card.limits.iter().map(|text| escape(text)).collect();
        writeln!(out, "Not known: {}\n", limits.join(" ")).ok();
    }
}

fn figures(out: &mut String, card: &Card) {
    if card.numbers.is_empty() {
        return;
    }
    out.push_str("<details><summary>Figures</summary>\n\n| | |\n| --- | ---: |\n");
    for number in &card.numbers {
        writeln!(out, "| {} | {} |", escape(number.label), number.value.text()).ok();
    }
    out.push_str("\n</details>\n\n");
}

fn stack(out: &mut String, stack: &StackText) {
    let lines: Vec<String> =
        stack.frames.iter().map(|frame| place(&frame.file, frame.line, &frame.name)).collect();
    let title = escape(&stack_title(stack));
    write!(
        out,
        "<details><summary>Stack of {title}</summary>\n\n{}\n</details>\n\n",
        fenced(&lines.join("\n"))
    )
    .ok();
}

/// Prose in which nothing has a meaning for Markdown, HTML or GitHub (mentions, references).
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => out.extend(['\\', c]),
            // Nobody is to be notified, and no issue linked.
            '@' | '#' => out.extend([c, '\u{200b}']),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text as inline code, whatever it contains.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The same in a table, where a bar would start the next cell.
fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text as a block of code, whatever it contains.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}text\n{text}\n{fence}\n")
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + "  " + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_has_a_meaning() {
        assert_eq!(
            escape("a|b `c` <i> __init__ @x #5"),
            "a\\|b \\`c\\` &lt;i&gt; \\_\\_init\\_\\_ @\u{200b}x #\u{200b}5"
        );
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(cell_code("a|b"), "`a\\|b`");
        assert_eq!(fenced("```\nx"), "````text\n```\nx\n````\n");
    }
}
