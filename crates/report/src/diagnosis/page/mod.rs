//! The report for a browser: one file that needs nothing else.

mod bars;
mod data;
mod drawings;
mod figure;
mod markup;
mod parts;
pub(crate) mod policy;
mod readout;
mod said;
mod timeline;

pub use figure::{FigureColumn, FigureInstant, FigureMark, MarkKind, MemoryFigure};
pub use parts::{Drawing, PageParts, PageTimeline, Picture, Plot, Readings, Theme};

use super::amounts;
use super::document::{Document, FindingText};
use super::sink::Sink as _;
use super::walk::{self, Detail};
use super::words::kind_text;
pub(crate) use markup::Html;

/// The report as a page: the answer, the lines that it is about, what to change, then the evidence.
pub fn report_html(document: &Document, parts: &PageParts) -> String {
    let (style, script) = (policy::style(&parts.light, &parts.dark), policy::script());
    let mut page = Html::default();
    let title = document.findings.first().map_or("", |finding| &finding.title);
    page.begin(&policy::policy(&style, &script), &style, title);
    walk::head(&mut page, document);
    page.markup("<main>\n");
    let (first, others) = document.findings.split_at(document.findings.len().min(1));
    for finding in first {
        verdict(&mut page, finding, document.fix().is_some());
    }
    if let Some(timeline) = &parts.timeline {
        page.timeline(timeline);
    }
    for finding in first {
        evidence(&mut page, finding);
    }
    if !others.is_empty() {
        page.markup("<h2>Also</h2>\n");
    }
    for finding in others {
        card(&mut page, finding);
    }
    for picture in &parts.pictures {
        page.picture(picture);
    }
    walk::ranks(&mut page, document);
    walk::notes(&mut page, document);
    amounts::modules(&mut page, document);
    walk::recording(&mut page, document);
    page.markup("<script>");
    page.computed(&script);
    page.markup("</script>\n</body>\n</html>\n");
    page.out
}

/// The lines of code that the verdict is about, and what to change, unless the head says it.
fn verdict(page: &mut Html, finding: &FindingText, is_fix_said: bool) {
    page.open_finding(finding.severity, finding.id);
    walk::why(page, finding);
    match &finding.tree {
        Some(tree) if !tree.rows.is_empty() => page.tree(tree),
        _ => amounts::sites(page, finding),
    }
    if is_fix_said {
        walk::other_changes(page, finding);
    } else {
        walk::fix(page, finding);
    }
    page.close_section();
}

/// The rest of the verdict, folded.
fn evidence(page: &mut Html, finding: &FindingText) {
    page.open_finding(finding.severity, finding.id);
    page.markup("<details class=\"more\"><summary><b>Evidence</b></summary>\n");
    walk::details(page, finding, Detail::All);
    page.markup("</details>\n");
    page.close_section();
}

/// A finding that shows its title and unfolds.
fn card(page: &mut Html, finding: &FindingText) {
    page.open_finding(finding.severity, finding.id);
    page.element("<details><summary><b>", &finding.title, "</b>");
    page.element("<span class=\"kind\">", &kind_text(finding.severity, finding.id), "");
    page.markup("</span></summary>\n");
    walk::body(page, finding, Detail::All);
    page.markup("</details>\n");
    page.close_section();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportInput;
    use oomscope_analysis::{Attribution, UserRules};
    use oomscope_diagnosis::{DiagnosisRequest, diagnose};
    use oomscope_fixtures::first;
    use oomscope_snapshot::load::{Input, Progress, load};

    #[test]
    fn a_page_has_the_style_and_the_script_that_its_policy_names() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots/frag_oom.pickle");
        let recording = first(load(&Input::File(path), &Progress::default()).expect("a sample"));
        let attribution = Attribution::of(&recording, &UserRules::default());
        let diagnosis = diagnose(&recording, &attribution, DiagnosisRequest::default());
        let document = Document::new(&ReportInput {
            name: "a",
            recording: &recording,
            diagnosis: &diagnosis.expect("a diagnosis"),
            remedies: None,
            modules: None,
            top: 1,
            notes: &[],
            redacted: true,
        });
        let page = report_html(&document, &PageParts::default());
        let between = |open: &str, close: &str| {
            let (_, rest) = page.split_once(open).expect("the element");
            rest.split_once(close).expect("its end").0.to_owned()
        };
        let (style, script) = (between("<style>", "</style>"), between("<script>", "</script>"));
        assert!(page.contains(&policy::policy(&style, &script)));
    }
}
