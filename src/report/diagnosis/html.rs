//! The report for a browser: one file that needs nothing else.

use super::document::{Card, Document, StackText};
use super::{place, stack_title};
use crate::units;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// A picture in both themes, as PNG files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// On white.
    pub light: Vec<u8>,
    /// On black.
    pub dark: Vec<u8>,
}

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("html.css");

/// The report as a page.
pub fn report_html(document: &Document, pictures: &[Picture]) -> String {
    let title = document.cards.first().map_or_else(String::new, |card| escape(&card.title));
    let mut out = String::new();
    write!(
        out,
        "{HEAD}<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p>{} · {}<br>{}</p>\n</header>\n",
        escape(&document.name),
        escape(&document.device_name),
        escape(&document.moment_text)
    )
    .ok();
    for (i, card) in document.cards.iter().enumerate() {
        finding(&mut out, card);
        if i == 0 {
            for shown in pictures {
                picture(&mut out, shown);
            }
        }
    }
    recording(&mut out, document);
    writeln!(out, "<footer>oomscope {}</footer>\n</body>\n</html>", env!("CARGO_PKG_VERSION")).ok();
    out
}

fn picture(out: &mut String, picture: &Picture) {
    let title = escape(&picture.title);
    writeln!(
        out,
        "<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\"><img src=\"{}\" alt=\"{title}\"></picture></figure>",
        data_url(&picture.dark),
        data_url(&picture.light)
    )
    .ok();
}

fn data_url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

fn finding(out: &mut String, card: &Card) {
    let severity = card.severity.name();
    writeln!(out, "<section class=\"{severity}\">\n<p class=\"kind\">{severity} · {}</p>", escape(card.id))
        .ok();
    if !card.is_verdict {
        writeln!(out, "<h2>{}</h2>", escape(&card.title)).ok();
    }
    if !card.explanation.is_empty() {
        let lines: Vec<String> = card.explanation.iter().map(|text| escape(text)).collect();
        writeln!(out, "<p>{}</p>", lines.join(" ")).ok();
    }
    sites(out, card);
    advice(out, card);
    closing(out, card);
    figures(out, card);
    card.stacks.iter().filter(|row| row.is_new).for_each(|row| stack(out, row));
    out.push_str("</section>\n");
}

fn sites(out: &mut String, card: &Card) {
    if card.sites.is_empty() {
        return;
    }
    out.push_str("<table class=\"sites\">\n");
    for site in &card.sites {
        writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td><code>{}</code></td><td>{}</td></tr>",
            units::bytes(site.bytes),
            escape(&place(&site.file, site.line, &site.name)),
            site.role.text(site.count)
        )
        .ok();
    }
    out.push_str("</table>\n");
}

fn advice(out: &mut String, card: &Card) {
    if card.advice.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for advice in &card.advice {
        write!(out, "<li>{}", escape(&advice.text)).ok();
        if let Some(code) = &advice.code {
            write!(out, "<pre>{}</pre>", escape(code)).ok();
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn closing(out: &mut String, card: &Card) {
    if let Some(saving) = &card.saving {
        let bytes = units::bytes(saving.bytes);
        writeln!(out, "<p>Could save up to <b>{bytes}</b> ({}).</p>", escape(&saving.formula)).ok();
    }
    if let Some(confirm) = &card.confirm {
        writeln!(out, "<p>To confirm: {}</p>", escape(confirm)).ok();
    }
    if !card.limits.is_empty() {
        let limits: Vec<String> = card.limits.iter().map(|text| escape(text)).collect();
        writeln!(out, "<p class=\"quiet\">Not known: {}</p>", limits.join(" ")).ok();
    }
}

fn figures(out: &mut String, card: &Card) {
    if card.numbers.is_empty() {
        return;
    }
    out.push_str("<details><summary>Figures</summary><table>\n");
    for number in &card.numbers {
        let (label, value) = (escape(number.label), escape(&number.value.text()));
        writeln!(out, "<tr><td>{label}</td><td class=\"n\">{value}</td></tr>").ok();
    }
    out.push_str("</table></details>\n");
}

fn stack(out: &mut String, stack: &StackText) {
    let lines: Vec<String> =
        stack.frames.iter().map(|frame| escape(&place(&frame.file, frame.line, &frame.name))).collect();
    let title = escape(&stack_title(stack));
    writeln!(out, "<details><summary>Stack of {title}</summary><pre>{}</pre></details>", lines.join("\n"))
        .ok();
}

fn recording(out: &mut String, document: &Document) {
    out.push_str("<section>\n<h2>How it was recorded</h2>\n<table>\n");
    for (label, text) in &document.facts {
        writeln!(out, "<tr><td>{label}</td><td>{}</td></tr>", escape(text)).ok();
    }
    let settings = escape(&document.settings_text());
    writeln!(out, "<tr><td>Allocator</td><td>{settings}</td></tr>\n</table>\n</section>").ok();
}

/// Text in which nothing has a meaning for HTML, also within quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
