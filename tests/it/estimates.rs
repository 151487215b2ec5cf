//! One answer to what a change would save: remedies simulate it, and no finding estimates it, in any format.

use crate::support::{pickles_in, root, sample};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_diagnosis::{DiagnosisRequest, Finding, diagnose};
use oomscope_model::Recording;
use oomscope_remedies::{Predictions, ids, predict_all};
use oomscope_report::{
    Document, PageParts, ReportInput, TextDetail, TextStyle, report_html, report_json, report_markdown,
    report_text,
};
use oomscope_snapshot::load::{Input, Progress, load};
use std::path::Path;
use std::sync::Arc;

/// The words of estimates, in lower case.
const ESTIMATES: [&str; 3] = ["could save", "of this batch should fit", "would save about"];

/// What is found of a device, what was simulated, and what all formats say of it.
struct Said {
    findings: Vec<Finding>,
    remedies: Option<Predictions>,
    texts: [String; 4],
    json: serde_json::Value,
}

/// What is said about the devices of a file, with or without simulating.
fn outputs(path: &Path, simulates: bool) -> Vec<Said> {
    let snapshot = load(&Input::File(path.to_owned()), &Progress::default()).expect("the recording loads");
    let of = |recording: Recording| {
        let attribution = Attribution::of(&recording, &UserRules::default());
        let request = DiagnosisRequest::default();
        let diagnosis = diagnose(&recording, &attribution, request).expect("a moment");
        let remedies = simulates.then(|| predict_all(&recording, &attribution, None)).flatten();
        let document = Document::new(&ReportInput {
            name: "a",
            recording: &recording,
            diagnosis: &diagnosis,
            remedies: remedies.as_ref(),
            modules: None,
            top: 5,
            notes: &[],
            redacted: false,
        });
        let text = |detail| {
            let mut out = Vec::new();
            report_text(&mut out, &document, detail, TextStyle::default()).expect("writing to memory");
            String::from_utf8(out).expect("text").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut json = Vec::new();
        report_json(&mut json, &document).expect("writing to memory");
        let texts = [
            text(TextDetail::Short),
            text(TextDetail::Verbose),
            report_markdown(&document),
            report_html(&document, &PageParts::default()),
        ];
        let json = serde_json::from_slice(&json).expect("JSON");
        Said { findings: diagnosis.findings, remedies, texts, json }
    };
    Recording::all(&Arc::new(snapshot)).map(of).collect()
}

fn check(path: &Path, simulates: bool) {
    for Said { findings, remedies, texts, json } in outputs(path, simulates) {
        for finding in json["findings"].as_array().expect("findings") {
            let keys = finding.as_object().expect("an object").keys();
            let estimates: Vec<&String> =
                keys.filter(|key| key.contains("saving") || key.contains("estimate")).collect();
            assert!(estimates.is_empty(), "{}: {estimates:?}", path.display());
            check_names(finding, remedies.as_ref(), &texts);
        }
        for (text, words) in texts.iter().flat_map(|text| ESTIMATES.map(|words| (text, words))) {
            assert!(!text.to_lowercase().contains(words), "{}: {words}", path.display());
        }
        for id in findings.iter().flat_map(|finding| finding.id.kind().remedies) {
            assert!(ids().any(|known| known == *id), "there is no remedy {id}");
        }
    }
}

/// Where remedies were simulated, a finding names none that does not apply, in no format.
fn check_names(finding: &serde_json::Value, remedies: Option<&Predictions>, texts: &[String]) {
    let Some(remedies) = remedies else { return };
    let named: Vec<&str> =
        finding["simulated_by"].as_array().expect("ids").iter().filter_map(|id| id.as_str()).collect();
    for id in &named {
        let begins = id.trim_end_matches("NAME=VALUE").trim_end_matches('N');
        let applies = |shown: &str| if begins == *id { shown == *id } else { shown.starts_with(begins) };
        assert!(remedies.remedies.iter().any(|remedy| applies(&remedy.id)), "{id} does not apply");
    }
    let words = format!("see oomscope fixes ({})", named.join(", "));
    assert_eq!(texts[1..].iter().all(|text| text.contains(&words)), !named.is_empty(), "{words}");
    assert!(texts.iter().all(|text| !text.contains("where they apply")));
}

#[test]
fn no_report_estimates_what_a_change_saves() {
    let samples = pickles_in(&sample(""), true);
    for path in samples.iter().chain(&pickles_in(&root().join("tests/corpus"), false)) {
        check(path, false);
    }
}

#[test]
fn simulating_adds_no_estimate() {
    for name in ["gpt_oom_forward.pickle", "frag_oom.pickle", "leak_eval_losses.pickle"] {
        check(&sample(name), true);
    }
}

#[test]
fn advice_that_is_simulated_names_its_remedies() {
    let [Said { texts, json, .. }] = &outputs(&sample("gpt_oom_forward.pickle"), false)[..] else {
        panic!("one device")
    };
    let findings = json["findings"].as_array().expect("findings");
    let activations = findings.iter().find(|finding| finding["id"] == "activations").expect("activations");
    let ids = activations["simulated_by"].as_array().expect("ids");
    assert!(ids.contains(&"checkpoint-all".into()) && ids.contains(&"half-batch".into()), "{ids:?}");
    for text in &texts[1..] {
        assert!(text.contains("see oomscope fixes (checkpoint-all, "), "{text}");
        assert!(text.contains("), where they apply"), "nothing was simulated: {text}");
    }
}

#[test]
fn a_finding_names_no_remedy_that_does_not_apply() {
    let named = |name: &str| {
        let [Said { json, .. }] = &outputs(&sample(name), true)[..] else { panic!("one device") };
        let leak = &json["findings"][0];
        assert_eq!(leak["id"], "leak", "{name}");
        leak["simulated_by"].clone()
    };
    // No evaluation keeps caches in a graph.
    assert_eq!(named("leak_caches.pickle.gz"), serde_json::json!(["detach"]));
    assert_eq!(named("leak_eval_losses.pickle"), serde_json::json!(["detach", "eval-no-grad"]));
}
