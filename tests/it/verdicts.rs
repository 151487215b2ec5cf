//! The verdict about every recording whose cause is known, and about the healthy ones.

use crate::support::{self, pickles_in, sample, skipped, stem};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The ids that answer a recorded cause.
fn ids(kind: &str) -> &'static [&'static str] {
    let kinds: [(&str, &[&str]); 6] = [
        ("leak", &["leak"]),
        ("fragmentation", &["fragmentation"]),
        ("outside", &["outside-pytorch"]),
        ("single", &["single-request"]),
        ("batch too large", &["capacity"]),
        ("", &["capacity"]),
    ];
    kinds.into_iter().find(|(start, _)| kind.starts_with(start)).map_or(&[], |(_, ids)| ids)
}

/// Recordings with a truth file, those of other versions of PyTorch included.
fn recordings() -> Vec<(PathBuf, Value)> {
    let mut paths = pickles_in(&sample(""), false);
    match support::shared("rig") {
        Some(folder) => paths.extend(pickles_in(&folder, true)),
        None => skipped("the verdicts about the shared recordings: the folder is missing"),
    }
    let truth = |path: &Path| {
        let file = path.with_file_name(format!("{}.truth.json", stem(path)));
        let text = std::fs::read_to_string(file).ok()?;
        Some(serde_json::from_str(&text).expect("the truth file is JSON"))
    };
    paths.into_iter().filter_map(|path| truth(&path).map(|truth| (path, truth))).collect()
}

fn report(path: &Path) -> Value {
    support::json([Path::new("report"), path, Path::new("--format"), Path::new("json")])
}

/// Whether a finding's sites have the file and the line.
fn has_site(finding: &Value, place: &Value) -> bool {
    let file = place["file"].as_str().expect("a file");
    let sites = finding["evidence"]["sites"].as_array().expect("sites");
    sites.iter().any(|site| {
        site["line"] == place["line"] && site["file"].as_str().is_some_and(|path| path.ends_with(file))
    })
}

fn problem(truth: &Value, report: &Value) -> Option<String> {
    let verdict = &report["findings"][0];
    let id = verdict["id"].as_str().expect("an id");
    let Some(kind) = truth["cause"]["kind"].as_str() else {
        let findings = report["findings"].as_array().expect("findings");
        let loud: Vec<&Value> =
            findings.iter().filter(|f| f["severity"] != "info").map(|f| &f["id"]).collect();
        return (id != "none" || !loud.is_empty()).then(|| format!("healthy, found {id} and {loud:?}"));
    };
    if !ids(kind).contains(&id) {
        return Some(format!("{kind}: found {id}"));
    }
    let cause = &truth["cause"];
    if truth["history"].get("context").is_some_and(Value::is_null) {
        // It was recorded without any stack, so no line can be named.
        return None;
    }
    let place = if cause["seen_at"].is_object() { &cause["seen_at"] } else { cause };
    (!has_site(verdict, place)).then(|| format!("{kind}: {} is not among the sites", place["text"]))
}

#[test]
fn recordings_of_others_without_a_failure_are_left_in_peace() {
    let Some(folder) = support::shared("real") else {
        return skipped("the verdicts about recordings of others: the folder is missing");
    };
    let healthy = Value::Null;
    for path in pickles_in(&folder, true) {
        let report = report(&path);
        if report["trust"]["in_use"] == "unknown" {
            // Nothing is known of it, which is the verdict.
            let title = report["findings"][0]["title"].as_str().expect("a title");
            assert!(title.starts_with("Cannot tell: "), "{}: {title}", path.display());
            continue;
        }
        assert_eq!(problem(&healthy, &report), None, "{}", path.display());
    }
}

#[test]
fn recorded_causes_are_found_and_healthy_recordings_are_left_in_peace() {
    let all = recordings();
    assert!(10 <= all.len());
    let mut wrong = Vec::new();
    for (path, truth) in &all {
        let found = report(path);
        wrong.extend(problem(truth, &found).map(|problem| format!("{}: {problem}", path.display())));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// The lines that the README of the samples names for each sample: `train.py:105`, and those after it as `line 106`.
fn lines_of_readme() -> Vec<(String, Vec<String>)> {
    let readme = std::fs::read_to_string(sample("README.md")).expect("the README");
    let row = |line: &str| {
        let name = line.strip_prefix("| `")?.split_once(".pickle")?.0.to_owned();
        let file = line.split('`').find_map(|part| part.split_once(".py:"))?.0;
        let places = line.split('`').filter(|part| part.contains(".py:")).map(str::to_owned);
        let further = line.split("line ").skip(1).map(|rest| {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            format!("{file}.py:{number}")
        });
        Some((name, places.chain(further).collect()))
    };
    readme.lines().filter_map(row).collect()
}

#[test]
fn every_title_names_the_line_that_the_readme_names() {
    let rows = lines_of_readme();
    let mut named = 0;
    for (name, lines) in &rows {
        let all = pickles_in(&sample(""), false);
        let path = all.iter().find(|path| stem(path) == *name).expect("the sample is there");
        let report = report(path);
        let verdict = &report["findings"][0];
        let title = verdict["title"].as_str().expect("a title");
        // Without stacks, there is no line.
        if !title.starts_with("Out of memory") || report["line"].is_null() {
            continue;
        }
        named += 1;
        let place = lines.iter().find(|line| title.contains(line.as_str()));
        let place = place.unwrap_or_else(|| panic!("{name}: none of {lines:?} in {title:?}"));
        let first = &verdict["evidence"]["sites"][0];
        let file = first["file"].as_str().and_then(|path| path.rsplit('/').next()).expect("a file");
        assert_eq!(format!("{file}:{}", first["line"]), *place, "{name}");
        assert_eq!(report["line"]["line"], first["line"], "{name}");
    }
    assert_eq!(named, 29);
}

#[test]
fn every_title_of_a_sample_names_what_is_held() {
    let symptoms = ["plus the requested", "exceed what PyTorch", "are in use", "no piece of"];
    for path in pickles_in(&sample(""), true) {
        let report = report(&path);
        let title = report["findings"][0]["title"].as_str().expect("a title");
        let is_symptom = symptoms.iter().any(|words| title.contains(words));
        assert!(!is_symptom || !title.starts_with("Out of memory"), "{}: {title}", path.display());
    }
}
