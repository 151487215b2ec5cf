//! The report about a made-up recording, with its remedies, in all formats.

use super::choices::Choices;
use super::made_up;
use oomscope_analysis::{Attribution, UserRules, module_table};
use oomscope_diagnosis::{DiagnosisRequest, OomMessage, diagnose};
use oomscope_draw::Future;
use oomscope_export::{Marked, PageSubject, page_colors, report_parts};
use oomscope_model::{Bytes, Recording};
use oomscope_remedies::predict_all;
use oomscope_report::{
    Document, ReportInput, TextDetail, TextStyle, report_html, report_json, report_markdown, report_text,
};
use std::sync::Arc;

pub(crate) fn body(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let is_whole_page = choices.once_in(64);
    let redacted = choices.once_in(2);
    let device_memory = choices.once_in(4).then(|| Bytes(choices.size()));
    let message = choices.once_in(8).then(|| format!("Tried to allocate {}", choices.text()));
    let message = message.and_then(|text| OomMessage::parse(&text));
    let snapshot = made_up::snapshot(choices);
    for recording in Recording::all(&snapshot) {
        let attribution = Arc::new(Attribution::of(&recording, &UserRules::default()));
        let request = DiagnosisRequest { device_memory, message, ..DiagnosisRequest::default() };
        let diagnosis = diagnose(&recording, &attribution, request).expect("there is a peak");
        assert!(diagnosis.verdict().is_some());
        let remedies = predict_all(&recording, &attribution, device_memory);
        let modules = module_table(&recording, &attribution, diagnosis.at.moment);
        let document = Document::new(&ReportInput {
            name: "fuzz",
            recording: &recording,
            diagnosis: &diagnosis,
            remedies: remedies.as_ref(),
            modules: Some(&modules),
            top: 8,
            notes: &[],
            redacted,
        });
        let mut out = Vec::new();
        for detail in [TextDetail::Short, TextDetail::Verbose] {
            report_text(&mut out, &document, detail, TextStyle::default()).expect("memory can be written");
        }
        report_json(&mut out, &document).expect("memory can be written");
        let parts = if is_whole_page {
            let future = remedies.as_ref().map(|all| Future::of(all.projected_bytes())).unwrap_or_default();
            let verdict = diagnosis.verdict();
            let moment = diagnosis.at.moment;
            let marked = verdict.and_then(|verdict| Marked::of(verdict, &recording, moment));
            report_parts(PageSubject {
                recording: &recording,
                attribution: &attribution,
                future: &future,
                moment,
                marked: marked.as_ref(),
                name: "fuzz",
                redacts: redacted,
            })
            .expect("pictures")
        } else {
            page_colors()
        };
        let page = report_html(&document, &parts);
        assert!(!page.contains("<img src=x"), "no tag of a name");
        let markdown = report_markdown(&document);
        let text = String::from_utf8(out).expect("text");
        for text in [page, markdown, text] {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "no control character");
        }
    }
}
