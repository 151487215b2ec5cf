//! Each layer knows only those before it, and what a layer must not know it does not mention.
//!
//! ```text
//! pickle → snapshot → model → analysis, simulator → diagnosis → report, draw → export → cli, app
//!     load joins pickle and snapshot to files and threads
//! ```

use crate::support::root;
use std::path::{Path, PathBuf};

/// A layer: which others its files may name, and what else they must not.
struct Layer {
    name: &'static str,
    knows: &'static [&'static str],
    /// Parts of the standard library, and packages.
    is_without: &'static [&'static str],
}

/// What only the outermost layers use.
const WORLD: &[&str] = &["std::fs", "std::thread", "egui", "eframe", "rfd", "clap"];

const LAYERS: [Layer; 13] = [
    Layer { name: "pickle", knows: &[], is_without: &["std::path", "serde"] },
    Layer { name: "snapshot", knows: &["pickle", "model"], is_without: &["std::path", "serde"] },
    Layer { name: "model", knows: &[], is_without: &["std::path", "serde_json"] },
    Layer { name: "analysis", knows: &["model"], is_without: &["serde_json"] },
    Layer { name: "simulator", knows: &["model"], is_without: &["serde_json"] },
    Layer { name: "diagnosis", knows: &["model", "analysis", "simulator"], is_without: &["serde_json"] },
    Layer { name: "load", knows: &["pickle", "snapshot", "model"], is_without: &[] },
    Layer { name: "save", knows: &[], is_without: &[] },
    Layer { name: "report", knows: &["model", "analysis", "simulator", "diagnosis"], is_without: &[] },
    Layer { name: "draw", knows: &["model", "analysis"], is_without: &[] },
    Layer { name: "export", knows: &["model", "analysis", "report", "draw"], is_without: &[] },
    Layer {
        name: "cli",
        knows: &[
            "load",
            "save",
            "model",
            "analysis",
            "simulator",
            "diagnosis",
            "report",
            "draw",
            "export",
            "app",
        ],
        is_without: &[],
    },
    Layer {
        name: "app",
        knows: &["load", "save", "model", "analysis", "simulator", "diagnosis", "report", "draw", "export"],
        is_without: &["indicatif"],
    },
];

/// What parts of [`WORLD`] a layer may use all the same.
const EXCEPTIONS: [(&str, &[&str]); 6] = [
    ("load", &["std::fs", "std::thread"]),
    ("save", &["std::fs"]),
    ("draw", &["egui"]),
    ("export", &["egui"]),
    ("cli", &["std::fs", "std::thread", "clap"]),
    ("app", &["std::fs", "std::thread", "egui", "eframe", "rfd"]),
];

impl Layer {
    /// Whether a line names what the layer must not know.
    fn is_broken_by(&self, line: &str) -> bool {
        let others =
            LAYERS.iter().filter(|other| other.name != self.name && !self.knows.contains(&other.name));
        let exceptions = EXCEPTIONS.iter().find(|(name, _)| *name == self.name).map_or(&[][..], |e| e.1);
        let world = WORLD.iter().filter(|word| !exceptions.contains(word)).chain(self.is_without);
        others.into_iter().any(|other| mentions(line, &format!("crate::{}", other.name)))
            || world.into_iter().any(|word| mentions(line, word))
    }
}

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
        LAYERS.iter().filter(|rules| rules.name == layer).any(|rules| rules.is_broken_by(line))
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

#[test]
fn a_layer_is_broken_by_what_it_must_not_know() {
    let is_broken = |name: &str, line: &str| {
        let layer = LAYERS.iter().find(|layer| layer.name == name).expect("a layer");
        layer.is_broken_by(line)
    };
    assert!(is_broken("model", "use crate::analysis::site;"));
    assert!(is_broken("analysis", "use crate::simulator::simulate;"));
    assert!(is_broken("report", "let file = std::fs::File::open(path);"));
    assert!(is_broken("draw", "use eframe::egui;"));
    assert!(!is_broken("draw", "use egui::Painter;"));
    assert!(!is_broken("diagnosis", "use crate::simulator::simulate;"));
    assert!(!is_broken("app", "use crate::report::Document;"));
}
