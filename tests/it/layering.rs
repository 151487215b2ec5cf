//! Each layer names only those that it may know, and nothing of the world that it must not touch.
//!
//! ```text
//! pickle → snapshot → model → analysis, simulator → diagnosis → report, draw → export → cli, app
//!     load joins pickle and snapshot to files and threads; those behind the model may use units
//! ```
//!
//! Neither folders nor files have cyclic dependencies.

use crate::source_tree::{Mention, Module, SourceTree, mentions_in};
use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
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

/// What answers are written with.
const OUTPUT_FORMATS: &[&str] = &["serde_json", "csv", "inferno", "png"];

const LAYERS: [Layer; 22] = [
    Layer { name: "units", knows: &[], is_without: &["std::path", "serde"] },
    Layer { name: "pickle", knows: &[], is_without: &["std::path", "serde"] },
    Layer { name: "json", knows: &["pickle"], is_without: &["std::path"] },
    Layer { name: "snapshot", knows: &["pickle", "model"], is_without: &["std::path", "serde"] },
    Layer { name: "model", knows: &[], is_without: &["std::path", "serde_json"] },
    Layer { name: "analysis", knows: &["units", "model"], is_without: OUTPUT_FORMATS },
    Layer { name: "simulator", knows: &["units", "model"], is_without: OUTPUT_FORMATS },
    Layer { name: "program", knows: &["model", "analysis"], is_without: OUTPUT_FORMATS },
    Layer {
        name: "projection",
        knows: &["model", "analysis", "program", "simulator"],
        is_without: OUTPUT_FORMATS,
    },
    Layer {
        name: "diagnosis",
        knows: &["units", "model", "analysis", "program", "simulator"],
        is_without: OUTPUT_FORMATS,
    },
    Layer {
        name: "remedies",
        knows: &["units", "model", "analysis", "program", "projection", "simulator", "diagnosis"],
        is_without: OUTPUT_FORMATS,
    },
    Layer { name: "ranks", knows: &["units", "model", "analysis", "diagnosis"], is_without: OUTPUT_FORMATS },
    Layer { name: "cut", knows: &["units", "snapshot", "model", "analysis"], is_without: OUTPUT_FORMATS },
    Layer { name: "load", knows: &["pickle", "json", "snapshot", "model"], is_without: &[] },
    Layer { name: "save", knows: &[], is_without: &[] },
    Layer { name: "notes", knows: &["units", "model"], is_without: OUTPUT_FORMATS },
    Layer {
        name: "report",
        knows: &[
            "units",
            "model",
            "notes",
            "analysis",
            "projection",
            "simulator",
            "diagnosis",
            "ranks",
            "remedies",
        ],
        is_without: &[],
    },
    Layer { name: "draw", knows: &["units", "model", "analysis"], is_without: &[] },
    Layer { name: "export", knows: &["units", "model", "analysis", "report", "draw"], is_without: &[] },
    Layer {
        name: "interchange",
        knows: &["units", "model", "analysis", "ranks", "report"],
        is_without: &["png"],
    },
    Layer {
        name: "cli",
        knows: &[
            "interchange",
            "units",
            "load",
            "save",
            "model",
            "notes",
            "analysis",
            "cut",
            "program",
            "projection",
            "simulator",
            "diagnosis",
            "ranks",
            "remedies",
            "report",
            "draw",
            "export",
            "app",
        ],
        is_without: &[],
    },
    Layer {
        name: "app",
        knows: &[
            "units",
            "load",
            "save",
            "model",
            "notes",
            "analysis",
            "program",
            "projection",
            "simulator",
            "diagnosis",
            "ranks",
            "remedies",
            "report",
            "draw",
            "export",
        ],
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
    /// Whether the layer must not name what a path leads to.
    fn is_broken_by(&self, mention: &Mention) -> bool {
        let others =
            LAYERS.iter().filter(|other| other.name != self.name && !self.knows.contains(&other.name));
        let exceptions = EXCEPTIONS.iter().find(|(name, _)| *name == self.name).map_or(&[][..], |e| e.1);
        let world = WORLD.iter().filter(|word| !exceptions.contains(word)).chain(self.is_without);
        others.into_iter().any(|other| mention.is_within(&format!("crate::{}", other.name)))
            || world.into_iter().any(|word| mention.is_within(word))
    }
}

/// Only these may look at the process around them.
const MAY_USE_PROCESS: [&str; 2] = ["cli", "app"];

/// The longest file, in lines.
const MAX_LINES: usize = 600;

/// `file:line: path` of everything that the code names and a rule forbids.
fn offenders(tree: &SourceTree, rule: impl Fn(&str, &Mention) -> bool) -> Vec<String> {
    let mut out = Vec::new();
    for (path, module) in &tree.modules {
        let layer = path.first().map_or("", String::as_str);
        for mention in module.mentions.iter().chain(&module.handed_on) {
            let whole = Mention { path: absolute(path, &mention.path), ..*mention };
            if rule(layer, &whole) {
                out.push(shown(module, &whole));
            }
        }
    }
    out
}

/// A path with `super` and `self` replaced by what they stand for.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let is_relative = ups > 0 || path.first().is_some_and(|name| name == "self");
    if !is_relative {
        return path.to_vec();
    }
    let kept = module.len().saturating_sub(ups);
    let rest = path.iter().skip(ups.max(1)).cloned();
    std::iter::once("crate".to_owned()).chain(module[..kept].iter().cloned()).chain(rest).collect()
}

fn shown(module: &Module, mention: &Mention) -> String {
    format!("src/{}:{}: {}", module.file.display(), mention.line, mention.path.join("::"))
}

#[test]
fn layers_know_only_those_before_them() {
    let wrong = offenders(&SourceTree::read(), |layer, mention| {
        LAYERS.iter().filter(|rules| rules.name == layer).any(|rules| rules.is_broken_by(mention))
    });
    assert!(wrong.is_empty(), "what a layer must not know:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_is_a_layer() {
    let tree = SourceTree::read();
    let found: BTreeSet<_> =
        tree.modules.keys().filter_map(|path| path.first()).map(String::as_str).collect();
    assert_eq!(found, LAYERS.iter().map(|layer| layer.name).collect());
}

#[test]
fn only_the_outermost_layers_use_the_process() {
    let wrong = offenders(&SourceTree::read(), |layer, mention| {
        let is_outermost = layer.is_empty() || MAY_USE_PROCESS.contains(&layer);
        !is_outermost && (mention.is_within("std::env") || mention.is_within("std::process"))
    });
    assert!(wrong.is_empty(), "only cli and app may use std::env and std::process:\n{}", wrong.join("\n"));
}

/// What knows the protocol of agents and an async runtime.
const SERVER: &str = "cli/mcp/server.rs";

#[test]
fn only_the_server_knows_an_async_runtime() {
    let tree = SourceTree::read();
    let is_async = |mention: &&Mention| ["rmcp", "tokio"].iter().any(|word| mention.is_within(word));
    let mut knowing = BTreeSet::new();
    for module in tree.modules.values().filter(|module| !tree.test_files.contains(&module.file)) {
        if module.mentions.iter().chain(&module.handed_on).any(|mention| is_async(&mention)) {
            knowing.insert(module.file.as_path());
        }
    }
    assert_eq!(knowing, BTreeSet::from([Path::new(SERVER)]), "only {SERVER} may use rmcp and tokio");
}

#[test]
fn folders_form_no_circle() {
    let tree = SourceTree::read();
    let dependencies = tree.dependencies();
    let folders: BTreeSet<&Path> = dependencies.keys().filter_map(|file| file.parent()).collect();
    let mut wrong = Vec::new();
    for folder in folders.into_iter().filter(|folder| *folder != Path::new("")) {
        // What is directly in the folder: files, and folders as a whole.
        let entry = |file: &Path| folder.join(file.strip_prefix(folder).ok()?.iter().next()?).into();
        let edges = contracted(&dependencies, entry);
        let of_folders = circles(&edges).into_iter().filter(|circle| circle.iter().any(|e| is_folder(e)));
        wrong.extend(of_folders.map(|circle| described(&circle, &edges)));
    }
    assert!(wrong.is_empty(), "folders that need each other:\n{}", wrong.join("\n"));
}

#[test]
fn files_form_no_circle() {
    let tree = SourceTree::read();
    let edges = contracted(&tree.dependencies(), |file| Some(file.to_owned()));
    let wrong: Vec<_> = circles(&edges).iter().map(|circle| described(circle, &edges)).collect();
    assert!(wrong.is_empty(), "files that need each other:\n{}", wrong.join("\n"));
}

type Edges = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

fn is_folder(entry: &Path) -> bool {
    entry.extension().is_none()
}

/// The same dependencies between what `entry` puts files into.
fn contracted(
    dependencies: &BTreeMap<&Path, BTreeSet<&Path>>,
    entry: impl Fn(&Path) -> Option<PathBuf>,
) -> Edges {
    let mut out = Edges::new();
    for (file, others) in dependencies {
        let Some(from) = entry(file) else { continue };
        let others = others.iter().filter_map(|other| entry(other)).filter(|to| *to != from);
        let others: BTreeSet<_> = others.collect();
        out.entry(from).or_default().extend(others);
    }
    out
}

/// Groups of two and more that all need each other.
fn circles(edges: &Edges) -> Vec<Vec<PathBuf>> {
    let pairs = edges.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to, ())));
    let graph = petgraph::graphmap::DiGraphMap::<&PathBuf, ()>::from_edges(pairs);
    let groups = petgraph::algo::tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    groups.map(|group| group.into_iter().cloned().collect()).collect()
}

fn described(circle: &[PathBuf], edges: &Edges) -> String {
    let mut out = format!("{} together:", circle.len());
    for from in circle {
        let to = edges[from].iter().filter(|to| circle.contains(to));
        let to: Vec<_> = to.map(|to| to.display().to_string()).collect();
        write!(out, "\n  {} needs {}", from.display(), to.join(", ")).expect("a string takes everything");
    }
    out
}

/// Files of the diagnosis that turn numbers and names into text; all others get their sentences from these.
const WRITE_FIGURES: [&str; 2] = ["diagnosis/figure.rs", "diagnosis/finding.rs"];

#[test]
fn sentences_of_findings_have_only_typed_figures() {
    let tree = SourceTree::read();
    let mut wrong = Vec::new();
    for module in tree.modules.values().filter(|module| module.file.starts_with("diagnosis")) {
        if WRITE_FIGURES.iter().any(|file| module.file == Path::new(file))
            || tree.test_files.contains(&module.file)
        {
            continue;
        }
        let is_plain = |call: &&Mention| {
            call.path.last().is_some_and(|last| ["format", "write", "writeln"].contains(&last.as_str()))
        };
        wrong.extend(module.macros.iter().filter(is_plain).map(|call| shown(module, call)));
        // Neither reading nor a capital letter writes a figure.
        let writes_none = ["crate::units::parse_bytes", "crate::units::capitalised"];
        let is_written = |mention: &&Mention| {
            mention.is_within("crate::units") && !writes_none.iter().any(|path| mention.is_within(path))
        };
        let formats = module.mentions.iter().filter(is_written);
        wrong.extend(formats.map(|mention| shown(module, mention)));
    }
    assert!(wrong.is_empty(), "text that is not built with say!:\n{}", wrong.join("\n"));
}

/// Who may read the whole of a text, which can have megabytes: the table itself; what reads and writes files; and what reads
/// each different text once. All others take `StringTable::name`, `StringTable::path` or `analysis::printable`.
const READ_WHOLE_TEXTS: [&str; 9] = [
    "model/strings.rs",
    "snapshot",
    "interchange",
    "analysis/printable.rs",
    // Once for each text, not for each row.
    "model/accelerator.rs",
    "model/sources.rs",
    "analysis/filter/texts.rs",
    "draw/color/stack_hash.rs",
    // A method of its own that has the name.
    "draw/segment_map",
];

#[test]
fn only_writers_read_whole_texts() {
    let tree = SourceTree::read();
    let (mut wrong, mut readers) = (Vec::new(), BTreeSet::new());
    for module in tree.modules.values().filter(|module| !tree.test_files.contains(&module.file)) {
        let is_whole = |call: &&Mention| ["whole", "whole_bytes"].contains(&call.path[0].as_str());
        for call in module.methods.iter().filter(is_whole) {
            match READ_WHOLE_TEXTS.iter().find(|place| module.file.starts_with(place)) {
                Some(place) => _ = readers.insert(*place),
                None => wrong.push(shown(module, call)),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "texts of megabytes that are read as often as rows have them:\n{}",
        wrong.join("\n")
    );
    assert_eq!(readers, BTreeSet::from(READ_WHOLE_TEXTS), "what is allowed is used");
}

#[test]
fn there_is_no_unsafe_code_and_nothing_unfinished() {
    let tree = SourceTree::read();
    let mut wrong = Vec::new();
    for module in tree.modules.values() {
        let is_unfinished = |call: &&Mention| {
            ["todo", "unimplemented", "dbg"]
                .iter()
                .any(|word| call.path.last().is_some_and(|last| last == word))
        };
        wrong.extend(module.macros.iter().filter(is_unfinished).map(|call| shown(module, call)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for file in ["lib.rs", "main.rs"] {
        let text = std::fs::read_to_string(root().join("src").join(file)).expect("the crate has a root");
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file} must forbid unsafe code");
    }
}

#[test]
fn files_stay_readable_and_none_is_left_out() {
    let tree = SourceTree::read();
    let read: BTreeSet<_> = tree.modules.values().map(|module| module.file.as_path()).collect();
    for file in files_below(&root().join("src")) {
        let text = std::fs::read_to_string(&file).expect("source is text");
        let path = file.strip_prefix(root().join("src")).expect("below src");
        let (lines, shown) = (text.lines().count(), path.display());
        assert!(lines <= MAX_LINES, "src/{shown} has {lines} lines, more than {MAX_LINES}");
        assert!(text.starts_with("//!"), "src/{shown} does not start by saying what it is for");
        let is_of_tests = |path: &Path| tree.test_files.iter().any(|test| belongs_to(path, test));
        assert!(
            path == Path::new("main.rs") || read.contains(path) || is_of_tests(path),
            "{shown} is not read"
        );
    }
}

/// Whether a file is `module`, or below it.
fn belongs_to(file: &Path, module: &Path) -> bool {
    file == module
        || module.ends_with("mod.rs") && file.starts_with(module.parent().unwrap_or(module))
        || file.starts_with(module.with_extension(""))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let files = paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn what_code_names_is_found_wherever_it_stands() {
    let text = "
        use crate::{report, model::{self, AllocId as Id}};
        #[cfg(test)] mod tests { use crate::app; }
        #[cfg(test)] use crate::cli;
        fn f() -> crate::draw::View { println!(\"{}\", std::env::args().count()); todo() }
        pub(in crate::export) struct S;
    ";
    let found = mentions_in(text);
    for path in ["crate::report", "crate::model", "crate::model::AllocId", "crate::draw::View"] {
        assert!(found.iter().any(|named| named == path), "{path} in {found:?}");
    }
    assert!(found.iter().any(|named| named == "std::env::args"), "{found:?}");
    for path in ["crate::app", "crate::cli", "crate::export"] {
        assert!(!found.iter().any(|named| named.starts_with(path)), "{path} in {found:?}");
    }
}

#[test]
fn handed_on_names_are_followed_to_their_declaration() {
    let tree = SourceTree::read();
    let names = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
    let declaring = |path: &str| tree.declaring(&names("diagnosis"), &names(path)).map(|at| at.join("::"));
    assert_eq!(declaring("crate::model::AllocId").as_deref(), Some("model::ids"));
    assert_eq!(declaring("super::units").as_deref(), Some("units"));
    assert_eq!(declaring("std::fs::File"), None);
}

#[test]
fn circles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")];
    let mut graph = Edges::new();
    for (from, to) in edges {
        graph.entry(from.into()).or_default().insert(to.into());
    }
    let mut found = circles(&graph);
    assert_eq!(found.len(), 1);
    found[0].sort();
    assert_eq!(found[0], ["a", "b", "c"].map(PathBuf::from));
}

#[test]
fn a_layer_is_broken_by_what_it_must_not_know() {
    let is_broken = |name: &str, path: &str| {
        let layer = LAYERS.iter().find(|layer| layer.name == name).expect("a layer");
        let path = path.split("::").map(str::to_owned).collect();
        layer.is_broken_by(&Mention { line: 1, path })
    };
    assert!(is_broken("model", "crate::analysis::site"));
    assert!(is_broken("analysis", "crate::simulator::simulate"));
    assert!(is_broken("report", "std::fs::File::open"));
    assert!(is_broken("draw", "eframe::egui"));
    assert!(!is_broken("draw", "egui::Painter"));
    assert!(!is_broken("draw", "egui_plot::Plot"));
    assert!(!is_broken("diagnosis", "crate::simulator::simulate"));
    assert!(!is_broken("app", "crate::report::Document"));
    assert!(!is_broken("report", "serde::Serialize"));
}
