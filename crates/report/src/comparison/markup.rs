//! A comparison as Markdown and as a page.

use super::ComparisonReport;
use super::curves::curves;
use super::sentence::comparison_sentence;
use super::tables::{parts, side_text};
use crate::diagnosis::{Html, Markdown, PageParts, Sink, Span, policy};
use oomscope_units as units;

/// A comparison as Markdown for a ticket.
pub fn comparison_markdown(report: &ComparisonReport<'_>) -> String {
    let mut out = Markdown::default();
    answer(&mut out, report);
    tables(&mut out, report);
    out.out
}

/// A comparison as a page that needs nothing else.
pub fn comparison_html(report: &ComparisonReport<'_>, colors: &PageParts) -> String {
    let style = policy::style(&colors.light, &colors.dark);
    let mut page = Html::default();
    page.begin(&policy::policy(&style, ""), &style, &units::capitalised(&comparison_sentence(report)));
    page.markup("<main>\n");
    answer(&mut page, report);
    curves(&mut page, report);
    tables(&mut page, report);
    page.markup("</main>\n</body>\n</html>\n");
    page.out
}

/// The sentence, and what is compared.
fn answer(out: &mut impl Sink, report: &ComparisonReport<'_>) {
    let sentence = units::capitalised(&comparison_sentence(report));
    out.open_section("What differs");
    out.paragraph(&[Span::Strong(&sentence)]);
    for (name, side) in ["A", "B"].into_iter().zip([0, 1]) {
        out.paragraph(&[Span::Strong(name), Span::Plain(": "), Span::Plain(&side_text(report, side))]);
    }
    out.close_section();
}

fn tables(out: &mut impl Sink, report: &ComparisonReport<'_>) {
    for part in parts(report) {
        out.open_section(part.title);
        out.table(&part.table);
        if let Some(remark) = &part.remark {
            out.remark(remark);
        }
        out.close_section();
    }
}
