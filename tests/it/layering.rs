//! What Cargo cannot say: which parts of the standard library a package touches, and who may do what within one. Which packages know
//! each other is in their manifests, and in the table of ARCHITECTURE.md, which must be true.
//!
//! Neither folders nor files have cyclic dependencies.

use crate::source_tree::{Mention, Module, SourceTree, mentions_in, packages};
use crate::support::root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What of the standard library touches the world.
const WORLD: [&str; 4] = ["std::fs", "std::thread", "std::env", "std::process"];

/// The only places that touch it, and what of it.
const TOUCHES: [(&str, &[&str]); 4] = [
    ("src", &WORLD),
    ("crates/app/src", &WORLD),
    ("crates/snapshot/src/load", &["std::fs", "std::thread"]),
    ("crates/export/src/save", &["std::fs"]),
];

/// Packages that only some may use: windows, arguments, and what answers are written with.
const ONLY: [(&str, &[&str]); 9] = [
    ("egui", &["draw", "app"]),
    ("eframe", &["app"]),
    ("rfd", &["app"]),
    ("clap", &["oomscope"]),
    ("indicatif", &["oomscope"]),
    ("serde_json", &["snapshot", "report", "export", "app", "oomscope"]),
    ("csv", &["report", "export"]),
    ("png", &["draw", "export"]),
    ("tr", &["app"]),
];

/// The longest file, in lines.
const MAX_LINES: usize = 600;

/// What Cargo knows of the packages: the names of what each depends on, without what only tests use. Own packages are named
/// without their `oomscope-`.
fn dependencies_of_packages() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"]);
    let found = cargo.current_dir(root()).output().expect("cargo runs");
    let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").trim_start_matches("oomscope-").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let of = |package: &Value| {
        let all = list(&package["dependencies"]);
        all.iter().filter(|one| one["kind"].is_null()).map(|one| text(&one["name"])).collect()
    };
    list(&found["packages"]).iter().map(|package| (text(&package["name"]), of(package))).collect()
}

#[test]
fn the_table_of_packages_is_true() {
    let found = dependencies_of_packages();
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let names =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<String>>();
    let table = text.lines().skip_while(|line| !line.starts_with("| package | knows |")).skip(2);
    let mut told = BTreeMap::new();
    for row in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        told.extend(names(cells[1]).into_iter().map(|name| (name, names(cells[2]))));
    }
    let own: BTreeSet<String> = found.keys().cloned().collect();
    let of_own = |all: &BTreeSet<String>| all.intersection(&own).cloned().collect::<BTreeSet<String>>();
    let found: BTreeMap<_, _> = found.iter().map(|(name, all)| (name.clone(), of_own(all))).collect();
    assert_eq!(told, found, "the table of packages in ARCHITECTURE.md, and what Cargo says");
}

#[test]
fn packages_use_only_what_is_theirs_to_use() {
    let found = dependencies_of_packages();
    for (package, only) in ONLY {
        let users: BTreeSet<&str> =
            found.iter().filter(|(_, all)| all.contains(package)).map(|(name, _)| name.as_str()).collect();
        assert_eq!(users, only.iter().copied().collect(), "who uses {package}");
    }
}

/// Whether a file may use a part of the standard library that touches the world.
fn may_touch(file: &Path, part: &str) -> bool {
    TOUCHES.iter().any(|(place, parts)| file.starts_with(place) && parts.contains(&part))
}

#[test]
fn only_the_outermost_touch_the_world() {
    let mut wrong = Vec::new();
    for tree in SourceTree::all() {
        for module in tree.modules.values() {
            for mention in module.mentions.iter().chain(&module.handed_on) {
                let is_wrong = |part: &&&str| mention.is_within(part) && !may_touch(&module.file, part);
                wrong.extend(WORLD.iter().filter(is_wrong).map(|_| shown(module, mention)));
            }
        }
    }
    assert!(wrong.is_empty(), "what only cli, app, load and save may touch:\n{}", wrong.join("\n"));
}

fn shown(module: &Module, mention: &Mention) -> String {
    format!("{}:{}: {}", module.file.display(), mention.line, mention.path.join("::"))
}

/// What knows the protocol of agents and an async runtime.
const SERVER: [&str; 2] = ["src/cli/mcp/lines.rs", "src/cli/mcp/server.rs"];

#[test]
fn only_the_server_knows_an_async_runtime() {
    let is_async = |mention: &&Mention| ["rmcp", "tokio"].iter().any(|word| mention.is_within(word));
    let mut knowing = BTreeSet::new();
    for tree in SourceTree::all() {
        for module in tree.modules.values().filter(|module| !tree.test_files.contains(&module.file)) {
            if module.mentions.iter().chain(&module.handed_on).any(|mention| is_async(&mention)) {
                knowing.insert(module.file.clone());
            }
        }
    }
    assert_eq!(knowing, SERVER.map(PathBuf::from).into(), "only {SERVER:?} may use rmcp and tokio");
}

#[test]
fn folders_form_no_circle() {
    let mut wrong = Vec::new();
    for tree in SourceTree::all() {
        let dependencies = tree.dependencies();
        let folders: BTreeSet<&Path> = dependencies.keys().filter_map(|file| file.parent()).collect();
        for folder in folders {
            // What is directly in the folder: files, and folders as a whole. A root declares and hands on all of them.
            let entry = |file: &Path| {
                let within =
                    file.strip_prefix(folder).ok().filter(|within| *within != Path::new("lib.rs"))?;
                folder.join(within.iter().next()?).into()
            };
            let edges = contracted(&dependencies, entry);
            let of_folders = circles(&edges).into_iter().filter(|circle| circle.iter().any(|e| is_folder(e)));
            wrong.extend(of_folders.map(|circle| described(&circle, &edges)));
        }
    }
    assert!(wrong.is_empty(), "folders that need each other:\n{}", wrong.join("\n"));
}

#[test]
fn files_form_no_circle() {
    let mut wrong = Vec::new();
    for tree in SourceTree::all() {
        let edges = contracted(&tree.dependencies(), |file| Some(file.to_owned()));
        wrong.extend(circles(&edges).iter().map(|circle| described(circle, &edges)));
    }
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
    let all: BTreeSet<&PathBuf> = edges.iter().flat_map(|(from, to)| to.iter().chain([from])).collect();
    let mut graph = petgraph::graph::DiGraph::<&PathBuf, ()>::new();
    let nodes: BTreeMap<&PathBuf, _> = all.into_iter().map(|file| (file, graph.add_node(file))).collect();
    for (from, to) in edges.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to))) {
        graph.add_edge(nodes[from], nodes[to], ());
    }
    let groups = petgraph::algo::tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    groups.map(|group| group.into_iter().map(|node| graph[node].clone()).collect()).collect()
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
const WRITE_FIGURES: [&str; 2] = ["crates/diagnosis/src/figure.rs", "crates/diagnosis/src/finding.rs"];

/// The folders of the diagnosis that are not about findings.
const OTHER_THAN_FINDINGS: &str = "crates/diagnosis/src/ranks";

#[test]
fn sentences_of_findings_have_only_typed_figures() {
    let trees = SourceTree::all();
    let mut wrong = Vec::new();
    let of_findings = trees.iter().flat_map(|tree| {
        let is_production = |module: &&Module| !tree.test_files.contains(&module.file);
        tree.modules.values().filter(is_production)
    });
    let of_findings = of_findings.filter(|module| {
        module.file.starts_with("crates/diagnosis")
            && !module.file.starts_with(OTHER_THAN_FINDINGS)
            && WRITE_FIGURES.iter().all(|file| module.file != Path::new(file))
    });
    for module in of_findings {
        let is_plain = |call: &&Mention| {
            call.path.last().is_some_and(|last| ["format", "write", "writeln"].contains(&last.as_str()))
        };
        wrong.extend(module.macros.iter().filter(is_plain).map(|call| shown(module, call)));
        // Neither reading nor a capital letter writes a figure.
        let writes_none = ["oomscope_units::parse_bytes", "oomscope_units::capitalised"];
        let is_written = |mention: &&Mention| {
            mention.is_within("oomscope_units") && !writes_none.iter().any(|path| mention.is_within(path))
        };
        let formats = module.mentions.iter().filter(is_written);
        wrong.extend(formats.map(|mention| shown(module, mention)));
    }
    assert!(wrong.is_empty(), "text that is not built with say!:\n{}", wrong.join("\n"));
}

/// Who may read the whole of a text, which can have megabytes: the table itself; what reads and writes files; and what reads
/// each different text once. All others take `StringTable::name`, `StringTable::path` or `analysis::printable`.
const READ_WHOLE_TEXTS: [&str; 9] = [
    "crates/model/src/strings.rs",
    "crates/snapshot",
    "crates/export/src/interchange",
    "crates/analysis/src/printable.rs",
    // Once for each text, not for each row.
    "crates/model/src/accelerator.rs",
    "crates/model/src/sources.rs",
    "crates/analysis/src/filter/texts.rs",
    "crates/draw/src/color/stack_hash.rs",
    // A method of its own that has the name.
    "crates/draw/src/segment_map",
];

#[test]
fn only_writers_read_whole_texts() {
    let trees = SourceTree::all();
    let (mut wrong, mut readers) = (Vec::new(), BTreeSet::new());
    let modules = trees.iter().flat_map(|tree| {
        let is_production = |module: &&Module| !tree.test_files.contains(&module.file);
        tree.modules.values().filter(is_production)
    });
    for module in modules {
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
    let mut wrong = Vec::new();
    for tree in SourceTree::all() {
        for module in tree.modules.values() {
            let is_unfinished = |call: &&Mention| {
                ["todo", "unimplemented", "dbg"]
                    .iter()
                    .any(|word| call.path.last().is_some_and(|last| last == word))
            };
            wrong.extend(module.macros.iter().filter(is_unfinished).map(|call| shown(module, call)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let manifest = |package: &Path| {
        std::fs::read_to_string(root().join(package).join("Cargo.toml")).expect("every package has one")
    };
    assert!(
        manifest(Path::new("")).contains("\nunsafe_code = \"forbid\"\n"),
        "the workspace forbids unsafe code"
    );
    for package in packages() {
        let has_lints = manifest(&package).contains("\n[lints]\nworkspace = true\n");
        assert!(has_lints, "{} has the lints of the workspace", package.display());
    }
}

#[test]
fn files_stay_readable_and_none_is_left_out() {
    for (package, tree) in packages().iter().zip(SourceTree::all()) {
        let read: BTreeSet<_> = tree.modules.values().map(|module| module.file.as_path()).collect();
        for file in files_below(&root().join(package).join("src")) {
            let text = std::fs::read_to_string(&file).expect("source is text");
            let path = file.strip_prefix(root()).expect("below the root");
            let (lines, shown) = (text.lines().count(), path.display());
            assert!(lines <= MAX_LINES, "{shown} has {lines} lines, more than {MAX_LINES}");
            assert!(text.starts_with("//!"), "{shown} does not start by saying what it is for");
            let is_of_tests = |path: &Path| tree.test_files.iter().any(|test| belongs_to(path, test));
            assert!(
                path == Path::new("src/main.rs") || read.contains(path) || is_of_tests(path),
                "{shown} is not read"
            );
        }
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
    let trees = SourceTree::all();
    let tree =
        trees.iter().find(|tree| tree.files_that_declare("StackTable").len() == 1).expect("a package has it");
    let names = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
    let declaring = |path: &str| tree.declaring(&names("lifetimes"), &names(path)).map(|at| at.join("::"));
    assert_eq!(declaring("crate::AllocId").as_deref(), Some("ids"));
    assert_eq!(declaring("super::ids").as_deref(), Some("ids"));
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
fn the_world_is_touched_where_it_may_be() {
    let may = |file: &str, part| may_touch(Path::new(file), part);
    assert!(may("crates/snapshot/src/load/job.rs", "std::thread") && may("src/cli/stats.rs", "std::env"));
    assert!(
        !may("crates/snapshot/src/builder.rs", "std::fs") && !may("crates/model/src/lib.rs", "std::thread")
    );
}
