//! `oomscope diff`: the first sentence, tables that add up, and the formats.

use crate::reports::golden;
use crate::support::{self, oomscope, root, sample};
use serde_json::Value;
use std::process::Output;

/// Run `diff` in the repository, so that outputs have the same paths everywhere.
fn diff(args: &[&str]) -> Output {
    oomscope().current_dir(root()).arg("diff").args(args).output().expect("the program starts")
}

fn text(args: &[&str]) -> String {
    let output = diff(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(args: &[&str]) -> Value {
    let all = [args, &["--format", "json"]].concat();
    serde_json::from_str(&text(&all)).expect("JSON")
}

const EDIT: [&str; 2] = ["sample_snapshots/before_edit.pickle.gz", "sample_snapshots/after_edit.pickle.gz"];

const FORWARD: &str = "sample_snapshots/gpt_oom_forward.pickle";

/// Comparisons of every kind.
const CASES: [(&str, &[&str]); 5] = [
    ("diff_edit", &EDIT),
    ("diff_settings", &[FORWARD, "sample_snapshots/gpt_oom_expandable.pickle"]),
    ("diff_iterations", &[FORWARD, "--at-a", "peak-of:iteration:0", "--at-b", "oom", "--top", "5"]),
    ("diff_devices", &["sample_snapshots/two_devices_oom.pickle", "--device-a", "0", "--device-b", "1"]),
    (
        "diff_no_stacks",
        &["sample_snapshots/late_start.pickle.gz", "sample_snapshots/leak_no_stacks.pickle.gz"],
    ),
];

#[test]
fn comparisons_read_as_they_should() {
    for (name, args) in CASES {
        let found = text(args);
        let name = format!("{name}.txt");
        assert_eq!(found, golden(&name, &found), "{name}");
    }
}

#[test]
fn a_comparison_for_a_ticket_reads_as_it_should() {
    let found = text(&[EDIT[0], EDIT[1], "--format", "markdown", "--top", "4"]);
    assert_eq!(found, golden("diff_edit.md", &found));
}

fn sum(rows: &Value, key: &str) -> i64 {
    rows.as_array().expect("rows").iter().map(|row| row[key].as_i64().expect("bytes")).sum()
}

#[test]
fn every_table_adds_up_to_the_difference_of_the_totals() {
    for (name, args) in CASES {
        let found = json(args);
        let bytes = |side: &str| found["total"][side]["bytes"].as_i64().expect("bytes");
        assert_eq!(found["a"]["active"].as_i64(), Some(bytes("a")), "{name}");
        assert_eq!(found["b"]["active"].as_i64(), Some(bytes("b")), "{name}");
        for table in ["categories", "modules", "lines", "operators", "pools"] {
            let rows = &found[table];
            assert_eq!(
                sum(rows, "change") + sum(rows, "set_apart"),
                bytes("b") - bytes("a"),
                "{name}: {table}"
            );
        }
        let reserved = |side: &str| sum(&found["pools"], &format!("reserved_{side}"));
        assert_eq!(found["a"]["reserved"].as_i64(), Some(reserved("a")), "{name}");
        assert_eq!(found["b"]["reserved"].as_i64(), Some(reserved("b")), "{name}");
    }
}

#[test]
fn the_lines_of_an_edited_program_are_matched() {
    let found = json(&EDIT);
    for row in found["lines"].as_array().expect("lines") {
        let [a, b] = ["line_a", "line_b"].map(|side| &row[side]);
        if a["file"] != "/workspace/train/train.py" || b["file"] == Value::Null {
            continue;
        }
        // The import of checkpointing went; a comment of three lines and one of one line came.
        let line = a["line"].as_i64().expect("a line");
        let moved = line
            + if line < 8 {
                3
            } else if line < 21 {
                2
            } else {
                3
            };
        assert_eq!(b["line"].as_i64(), Some(moved), "{row}");
    }
}

#[test]
fn a_moment_compared_with_itself_does_not_differ() {
    let found = text(&[FORWARD, FORWARD, "--at", "oom"]);
    assert!(found.starts_with("Nothing differs: active at the OOM "), "{found}");
    let found = json(&[FORWARD, FORWARD]);
    assert_eq!(found["total"]["change"], 0);
    assert_eq!(found["judged_differently"], serde_json::json!([]));
}

#[test]
fn one_file_needs_two_moments_or_devices() {
    let output = diff(&[FORWARD]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--at-b"));
    let output = diff(&[FORWARD, "--at-a", "peak", "--at-b", "peak-of:iteration:99"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_page_needs_nothing_else() {
    let page = text(&[EDIT[0], EDIT[1], "--format", "html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    assert!(page.contains("Content-Security-Policy"));
}

#[test]
fn a_page_shows_both_curves() {
    let page = text(&[EDIT[0], EDIT[1], "--format", "html"]);
    assert!(page.contains("class=\"line-a\"") && page.contains("class=\"line-b\""));
    assert!(page.contains("Iterations begin at the same places."));
}

#[test]
fn the_flame_graph_of_a_change_has_the_lines_of_the_second_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let pictures = ["1.svg", "2.svg"].map(|name| {
        let path = folder.path().join(name);
        text(&[EDIT[0], EDIT[1], "--svg", &path.to_string_lossy()]);
        std::fs::read_to_string(path).expect("the picture")
    });
    assert_eq!(pictures[0], pictures[1], "the same content gives the same bytes");
    let titles: Vec<&str> =
        pictures[0].split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next()).collect();
    assert!(titles.iter().any(|title| title.starts_with("train.py:51 forward (")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.starts_with("train.py:50 forward (")), "{titles:?}");
}

#[test]
fn no_input_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("a.pickle.gz");
    std::fs::copy(sample("before_edit.pickle.gz"), &copy).expect("a copy");
    let copy = copy.to_string_lossy();
    let output = diff(&[EDIT[0], &copy, "-o", &copy]);
    assert_eq!(output.status.code(), Some(1));
    assert!(support::run(["stats", &copy]).status.success());
}
