//! Every category says what it rests on: in rows, in filters, in figures, and in `explain`.

use crate::support::{json, pickles_in, root, run, run_with_input, sample, stdout};
use oomscope_analysis::{Basis, RULES, RuleId};
use oomscope_units as units;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

fn live(file: &str, more: &[&str]) -> Vec<Value> {
    let rows = json([&["live", file, "--format", "json", "--frames", "0", "--at", "end"], more].concat());
    rows.as_array().expect("an array").clone()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn rows_name_the_rule_and_its_basis_and_show_its_evidence() {
    for file in pickles_in(&root().join("sample_snapshots"), false) {
        for row in live(&file.to_string_lossy(), &[]) {
            let rule = RuleId::from_id(text(&row, "rule")).expect("a rule of the table");
            assert_eq!(text(&row, "basis"), rule.rule().basis.key(), "{row}");
            assert_eq!(text(&row, "category") == "unknown", rule.rule().basis == Basis::Unknown, "{row}");
            assert_ne!(text(&row, "because"), "", "{row}");
        }
    }
}

#[test]
fn filters_ask_for_basis_and_rule_and_stats_add_up_what_is_inferred() {
    let sample = path("history_state_only.pickle");
    let all = live(&sample, &[]);
    for key in Basis::ALL.map(Basis::key) {
        let expected: Vec<&Value> = all.iter().filter(|row| text(row, "basis") == key).collect();
        let found = live(&sample, &["--filter", &format!("basis:{key}")]);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{key}");
    }
    let rule = text(&all[0], "rule");
    let found = live(&sample, &["--filter", &format!("rule:{rule}")]);
    let other = live(&sample, &["--filter", &format!("-rule:{rule}")]);
    assert!(found.iter().all(|row| text(row, "rule").contains(rule)));
    assert_eq!(found.len() + other.len(), all.len());
    let late = path("leak_no_stacks.pickle.gz");
    let mut inferred: BTreeMap<String, i64> = BTreeMap::new();
    for row in live(&late, &["--filter", "basis:inferred"]) {
        *inferred.entry(text(&row, "category").to_owned()).or_default() +=
            row["size"].as_i64().expect("a size");
    }
    assert!(!inferred.is_empty());
    let stats = json(["stats", &late, "--format", "json"]);
    assert_eq!(stats[0]["categories"]["end_inferred"], serde_json::json!(inferred));
    let summary = stdout(["stats", &late]);
    assert!(summary.contains("≈ ") && summary.contains("≈: inferred"), "{summary}");
}

#[test]
fn explain_says_the_same_as_live_for_every_allocation_of_a_sample() {
    let sample = path("kv_cache_oom.pickle");
    for row in live(&sample, &["--top", "12"])
        .iter()
        .chain(&live(&sample, &["--filter", "basis:inferred", "--top", "4"]))
    {
        let event = row["alloc_event"].as_i64().unwrap_or(-1);
        let what = format!("{}@{event}", text(row, "addr"));
        let found = json(["explain", &sample, &what, "--format", "json"]);
        for key in ["addr", "size", "category", "rule", "basis", "because"] {
            assert_eq!(found[key], row[key], "{what}");
        }
        let shown = stdout(["explain", &sample, &what]);
        assert!(shown.starts_with(&format!("{what} on device 0: ")), "{shown}");
    }
}

#[test]
fn explain_names_what_a_rule_of_the_user_overrides() {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\ncategory = 'comm'\nstack = 'append'\n").expect("it can be written");
    let sample = path("kv_cache_oom.pickle");
    let row = &live(&sample, &["--filter", "category:kv_cache", "--top", "1"])[0];
    let addr = text(row, "addr").to_owned();
    let args = ["explain", &sample, &addr, "--at", "end", "--format", "json"];
    let found = json([&args[..], &["--rules", &rules.to_string_lossy()]].concat());
    assert_eq!([text(&found, "category"), text(&found, "rule")], ["comm", "rules-file"]);
    let refused = found["without_effect"].as_array().expect("a list");
    let kept = |claim: &Value| claim["category"] == "kv_cache" && claim["rule"] == row["rule"];
    assert!(refused.iter().any(kept), "{found}");
}

#[test]
fn explain_knows_moments_and_says_what_is_not_there() {
    let sample = path("gpt_oom_forward.pickle");
    let rows = json(["live", &sample, "--format", "json", "--at", "oom", "--top", "1"]);
    let addr = text(&rows[0], "addr");
    let found = json(["explain", &sample, addr, "--format", "json"]);
    assert_eq!(found["alloc_event"], rows[0]["alloc_event"], "without a moment it is the last OOM");
    let refused = run(["explain", &sample, "0x1"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors.contains("no allocation at 0x1 is live then") && errors.contains("hint: "), "{errors}");
}

#[test]
fn explain_says_what_each_part_of_a_projected_step_asks_for() {
    let sample = path("gpt_oom_forward.pickle");
    let text = stdout(["explain", &sample, "--projection"]);
    let found = json(["fixes", &sample, "--format", "json"]);
    // Each part begins in what the one before it leaves, and the highest is what the fixes are set against.
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("part"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let parts: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(parts, ["recorded", "forward", "backward", "optimizer"], "{text}");
    let events: Vec<u64> = rows.iter().filter_map(|row| row[1].replace(',', "").parse().ok()).collect();
    assert_eq!(Some(events[0]), found["projection"]["from"].as_u64());
    assert_eq!(Some(events[1..].iter().sum()), found["projection"]["events"].as_u64());
    let peak = units::bytes(found["baseline"]["peak_allocated"].as_i64().expect("bytes"));
    assert!(text.ends_with(&format!("Highest: {peak} in use (±7 %)\n")), "{text}");
    assert!(rows.iter().any(|row| row[3] == peak), "{text}");
    assert!(text.contains("Iteration 0 is events 0 to 1,747."), "{text}");
    let complete = stdout(["explain", &path("annotated.pickle"), "--projection"]);
    assert_eq!(complete, "No request failed, so nothing is projected.\n");
}

/// The table of the rules, as the documentation has it.
fn table() -> String {
    let mut out = String::from(
        "| rule | rests on | needs | shows | replaces | says |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let list = |items: Vec<String>| if items.is_empty() { "–".to_owned() } else { items.join(", ") };
    for rule in RULES {
        let needs = rule.needs.iter().map(|channel| format!("{channel:?}").to_lowercase()).collect();
        let replaces = rule.refines.iter().map(|other| format!("`{}`", other.rule().id)).collect();
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} |",
            rule.id,
            rule.basis.key(),
            list(needs),
            format!("{:?}", rule.evidence).to_lowercase(),
            list(replaces),
            rule.says
        )
        .expect("text takes everything");
    }
    out
}

#[test]
fn the_documentation_lists_the_rules_as_they_are() {
    const MARK: &str = "<!-- rules -->\n";
    let file = root().join("docs/attribution.md");
    let text = std::fs::read_to_string(&file).expect("the documentation is there");
    let (before, listed) = text.split_once(MARK).expect("a mark before the table");
    let listed = if std::env::var_os("OOMSCOPE_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, format!("{before}{MARK}\n{}", table())).expect("it can be written");
        table()
    } else {
        listed.trim_start().to_owned()
    };
    assert_eq!(listed, table());
}

#[test]
fn explain_says_which_moment_or_event_is_not_there() {
    let sample = path("pools.pickle");
    let errors = |args: &[&str]| {
        let refused = run([&["explain", &sample], args].concat());
        assert_eq!(refused.status.code(), Some(1));
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    assert!(
        errors(&["0x0", "--at", "oom"]).contains("no out-of-memory event"),
        "{}",
        errors(&["0x0", "--at", "oom"])
    );
    assert!(errors(&["0x0@4294967295"]).contains("made by event 4294967295"));
    assert!(errors(&["0x0@-1"]).contains("older than the recording"));
}

#[test]
fn explain_shows_the_line_of_code_where_the_recording_has_it() {
    let text =
        br#"{"segments": [], "source_code": {"/me/train.py": "import torch\nx = torch.zeros(9)  # here\n"},
        "device_traces": [[{"action": "alloc", "addr": 512, "size": 100, "stream": 0,
        "frames": [{"filename": "/me/train.py", "line": 2, "name": "main"}]}]]}"#;
    let shown = |args: &[&str], input: &[u8]| {
        let output = run_with_input(args, input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let line = "source      train.py:2 main: x = torch.zeros(9)  # here";
    let found = String::from_utf8(shown(&["explain", "-", "512@0"], text)).expect("text");
    assert!(found.contains(line), "{found}");
    // It is a part of a cut, unless that is redacted.
    let cut = shown(&["cut", "-", "-o", "-"], text);
    let found = String::from_utf8(shown(&["explain", "-", "512@0"], &cut)).expect("text");
    assert!(found.contains(line), "{found}");
    let redacted = shown(&["cut", "-", "--redact", "-o", "-"], text);
    let found = String::from_utf8(shown(&["explain", "-", "512@0"], &redacted)).expect("text");
    assert!(!found.contains("source ") && found.contains("/d1/train.py:2"), "{found}");
}

#[test]
fn explain_shows_the_tensors_that_fit_the_allocation() {
    let text = br#"{"segments": [], "device_traces": [[
        {"action": "alloc", "addr": 512, "size": 128, "stream": 0, "frames": []},
        {"action": "free_requested", "addr": 512, "size": 128, "stream": 0, "frames": []},
        {"action": "free_completed", "addr": 512, "size": 128, "stream": 0, "frames": []},
        {"action": "alloc", "addr": 512, "size": 2048, "stream": 0, "frames": []},
        {"action": "alloc", "addr": 4096, "size": 32, "stream": 0, "frames": []}]],
        "shape_data": [{
            "0x200": [["aten.mm.default", [4, 8], "torch.float32"], ["aten.t.default", [8, 4], "torch.float32"],
                ["aten.mm.default", [4, 8], "torch.float32"], ["aten.add.Tensor", [2, 8, 64], "torch.bfloat16"]],
            "0x1000": [["aten.odd", [32], "torch.unheard_of"]]}]}"#;
    let explain = |input: &[u8], place: &str, format: &str| {
        let output = run_with_input(&["explain", "-", place, "--format", format], input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let cut = run_with_input(&["cut", "-", "--redact", "-o", "-"], text).stdout;
    for input in [&text[..], &cut] {
        let found = explain(input, "512@0", "text");
        let expected = "one of float32 [4, 8] by aten.mm.default; float32 [8, 4] by aten.t.default";
        assert!(found.contains(expected), "{found}");
        let found = explain(input, "512@3", "text");
        assert!(found.contains("bfloat16 [2, 8, 64] by aten.add.Tensor, as no other"), "{found}");
        assert!(!explain(input, "4096@4", "text").contains("tensor"), "a type of unknown size fits nothing");
        let found: Value = serde_json::from_str(&explain(input, "512@3", "json")).expect("JSON");
        let expected =
            serde_json::json!([{"dtype": "bfloat16", "shape": [2, 8, 64], "operator": "aten.add.Tensor"}]);
        assert_eq!(found["tensors"], expected);
    }
}

#[test]
fn a_verdict_is_explained_by_the_questions_that_were_asked() {
    let explained = |name: &str| stdout(["explain", &path(name), "--verdict"]);
    let leak = explained("leak_eval_losses.pickle");
    let yes = leak.find("Would it have been met without what earlier iterations left?\n    yes: ");
    let kind = leak.find("Do graphs hold most of it?\n    yes: ");
    assert!(yes.is_some() && yes < kind, "{leak}");
    let last = leak.lines().last().expect("the verdict");
    let report = json(["report", &path("leak_eval_losses.pickle"), "--format", "json", "--no-remedies"]);
    assert_eq!(last, format!("leak: {}", report["findings"][0]["title"].as_str().expect("a title")));
    // What came before was asked and denied.
    let asked: Vec<&str> = leak.lines().filter(|line| line.starts_with("    ")).collect();
    assert!(asked.iter().all(|line| line.contains(": ")) && asked[0].starts_with("    no: "), "{leak}");
    let pieces = explained("frag_oom.pickle");
    assert!(pieces.contains("if free memory were in one piece?\n    yes: "), "{pieces}");
    // Of a device that is too small, the other findings are asked as well.
    let named = explained("stages.pickle.gz");
    let question = "Would it have been met without one thing that nothing needs?\n    yes: ";
    assert!(named.contains(question), "{named}");
    let healthy = explained("compiled.pickle");
    assert!(healthy.contains("hold much of what is in use?\n    no: "), "{healthy}");
    let refused = run(["explain", &path("frag_oom.pickle"), "0x1", "--verdict"]);
    assert_eq!(refused.status.code(), Some(2));
}
