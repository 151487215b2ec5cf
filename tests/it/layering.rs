//! Each layer knows only those before it, and what a layer must not know it does not mention.
//!
//! ```text
//! pickle → snapshot → model → analysis, simulator → report, draw → export → cli, app
//!     load joins pickle and snapshot to files and threads
//! ```

use crate::support::root;
use std::path::{Path, PathBuf};

/// What the files of a layer must not mention.
const FORBIDDEN: [(&str, &[&str]); 11] = [
    (
        "pickle",
        &[
            "crate::snapshot",
            "crate::model",
            "crate::analysis",
            "crate::load",
            "crate::report",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "std::path",
            "egui",
            "serde",
        ],
    ),
    (
        "snapshot",
        &[
            "crate::analysis",
            "crate::load",
            "crate::report",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "std::path",
            "egui",
            "serde",
        ],
    ),
    (
        "model",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::analysis",
            "crate::simulator",
            "crate::load",
            "crate::report",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "std::path",
            "egui",
            "serde_json",
        ],
    ),
    (
        "simulator",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::analysis",
            "crate::load",
            "crate::report",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "std::path",
            "egui",
            "serde",
        ],
    ),
    (
        "analysis",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::simulator",
            "crate::load",
            "crate::report",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "egui",
            "serde_json",
        ],
    ),
    ("load", &["crate::analysis", "crate::report", "crate::draw", "crate::cli", "crate::app", "egui"]),
    (
        "report",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::load",
            "crate::draw",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "egui",
        ],
    ),
    (
        "draw",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::load",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "eframe",
        ],
    ),
    (
        "export",
        &[
            "crate::pickle",
            "crate::snapshot",
            "crate::load",
            "crate::cli",
            "crate::app",
            "std::fs",
            "std::thread",
            "egui",
            "eframe",
        ],
    ),
    ("cli", &["crate::pickle", "crate::snapshot", "egui::", "rfd"]),
    ("app", &["crate::pickle", "crate::snapshot", "crate::cli", "clap", "indicatif"]),
];

/// Only these may look at the process around them.
const MAY_USE_PROCESS: [&str; 2] = ["cli", "app"];

/// The longest file, in lines.
const MAX_LINES: usize = 600;

/// A source file: its path below `src`, and its text.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn layer(&self) -> String {
        let first = self.path.components().next().expect("a path has a part");
        first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
    }

    /// The lines that are neither comments nor tests, with their numbers from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_test_module = |(_, line): &(usize, &str)| line.trim() == "#[cfg(test)]";
        let numbered = (1..).zip(self.text.lines()).take_while(move |line| !is_test_module(line));
        numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn sources() -> Vec<Source> {
    fn collect(folder: &Path, top: &Path, out: &mut Vec<Source>) {
        for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                collect(&path, top, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("source is text");
                out.push(Source { path: path.strip_prefix(top).expect("below src").to_owned(), text });
            }
        }
    }
    let mut out = Vec::new();
    let src = root().join("src");
    collect(&src, &src, &mut out);
    out.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!out.is_empty());
    out
}

/// Whether `text` has `word` with nothing that could be part of a name around it.
fn mentions(text: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_name) && (word.ends_with(':') || !after.starts_with(is_name))
    })
}

/// `path:line: text` of every line of code that a rule forbids.
fn offenders(rule: impl Fn(&Source, &str) -> bool) -> Vec<String> {
    let all = sources();
    let found = all.iter().flat_map(|source| {
        let lines = source.code().filter(|(_, line)| rule(source, line));
        let show = |(n, line): (usize, &str)| format!("src/{}:{n}: {}", source.path.display(), line.trim());
        lines.map(show).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn layers_know_only_those_before_them() {
    let wrong = offenders(|source, line| {
        let layer = source.layer();
        let rules = FORBIDDEN.iter().filter(|(name, _)| *name == layer);
        rules.flat_map(|(_, words)| words.iter()).any(|word| mentions(line, word))
    });
    assert!(wrong.is_empty(), "what a layer must not know:\n{}", wrong.join("\n"));
}

#[test]
fn only_the_outermost_layers_use_the_process() {
    let wrong = offenders(|source, line| {
        let is_outermost =
            MAY_USE_PROCESS.contains(&source.layer().as_str()) || source.path == Path::new("main.rs");
        !is_outermost && (mentions(line, "std::env") || mentions(line, "std::process"))
    });
    assert!(wrong.is_empty(), "only cli and app may use std::env and std::process:\n{}", wrong.join("\n"));
}

#[test]
fn there_is_no_unsafe_code_and_nothing_unfinished() {
    let forbid = ["#![forbid(unsafe_code)]", "unsafe"];
    let wrong = offenders(|_, line| {
        let is_unsafe = !line.contains(forbid[0]) && mentions(line, forbid[1]);
        is_unsafe || line.contains("todo!") || line.contains("unimplemented!") || line.contains("dbg!")
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for root in ["lib.rs", "main.rs"] {
        let all = sources();
        let source = all.iter().find(|source| source.path == Path::new(root)).expect("the crate has a root");
        assert!(source.text.contains(forbid[0]), "{root} must forbid unsafe code");
    }
}

#[test]
fn files_stay_readable() {
    for source in sources() {
        let lines = source.text.lines().count();
        let path = source.path.display();
        assert!(lines <= MAX_LINES, "src/{path} has {lines} lines, more than {MAX_LINES}");
        assert!(source.text.starts_with("//!"), "src/{path} does not start by saying what it is for");
    }
}

#[test]
fn names_are_found_whole() {
    assert!(mentions("use crate::model::Action;", "crate::model"));
    assert!(!mentions("use crate::modelling::Action;", "crate::model"));
    assert!(mentions("let ui: &mut egui::Ui", "egui"));
    assert!(!mentions("egui_plot::Plot", "egui"));
    assert!(!mentions("use serde::Serialize;", "serde_json"));
}
