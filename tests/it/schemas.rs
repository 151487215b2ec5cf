//! What programs are given is what docs/schema says: keys, types and words of every document.
//!
//! The schemas use a small part of JSON Schema, which [`Checker`] knows whole: it panics at any other word. Readers must accept
//! keys that they do not know, so the schemas allow them; here a key without a description is an error.

use crate::support::{json, pickles_in, root, run, sample};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Words of JSON Schema that say nothing about values.
const ABOUT: [&str; 4] = ["$schema", "title", "description", "$defs"];

struct Checker {
    schema: Value,
    problems: Vec<String>,
}

impl Checker {
    fn new(document: &str) -> Self {
        let file = root().join("docs/schema").join(document).with_extension("json");
        let text = std::fs::read_to_string(file).expect("the schema can be read");
        Self { schema: serde_json::from_str(&text).expect("the schema is JSON"), problems: Vec::new() }
    }

    /// Everything in a document that its schema does not say, as `path: why`.
    fn problems(document: &str, value: &Value) -> Vec<String> {
        let mut checker = Self::new(document);
        let schema = checker.schema.clone();
        checker.check(&schema, value, "");
        checker.problems
    }

    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        for (word, says) in schema.as_object().expect("a schema is an object") {
            let is_fine = match word.as_str() {
                "type" => is_of_type(says, value),
                "enum" => says.as_array().expect("a list").contains(value),
                "const" => says == value,
                "required" => value.as_object().is_none_or(|object| {
                    says.as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .all(|key| object.contains_key(key))
                }),
                "properties" | "additionalProperties" | "propertyNames" => true,
                "items" => {
                    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(says, item, &format!("{path}[{at}]"));
                    }
                    true
                }
                "$ref" => {
                    let name = says.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
                    let definition = self.schema["$defs"][name.expect("a definition")].clone();
                    self.check(&definition, value, path);
                    true
                }
                _ => {
                    assert!(ABOUT.contains(&word.as_str()), "the checker does not know {word}");
                    true
                }
            };
            if !is_fine {
                self.problems.push(format!("{path}: {word} {says}, not {value:.80}"));
            }
        }
        self.check_keys(schema, value, path);
    }

    fn check_keys(&mut self, schema: &Value, value: &Value, path: &str) {
        let has_keys = schema.get("properties").or(schema.get("additionalProperties")).is_some();
        for (key, value) in value.as_object().filter(|_| has_keys).into_iter().flatten() {
            let below = format!("{path}.{key}");
            if let Some(names) = schema.get("propertyNames") {
                self.check(names, &Value::from(key.as_str()), &below);
            }
            let known = schema["properties"].get(key).or(schema.get("additionalProperties"));
            match known {
                Some(schema) => self.check(schema, value, &below),
                None => self.problems.push(format!("{below}: no description")),
            }
        }
    }
}

fn is_of_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().expect("the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the checker does not know the type {other}"),
    };
    types.as_array().map_or_else(|| is(types), |types| types.iter().any(is))
}

fn samples() -> Vec<PathBuf> {
    pickles_in(&root().join("sample_snapshots"), false)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Run a command and hold its output against its schema.
fn hold(document: &str, args: &[&str]) -> Value {
    let found = json([&[document], args, &["--format", "json"]].concat());
    assert_eq!(Checker::problems(document, &found), [""; 0], "{document} {args:?}");
    found
}

#[test]
fn figures_and_live_memory_of_all_samples_are_as_their_schemas_say() {
    for file in samples() {
        let file = text(&file);
        hold("stats", &[&file, "--at", "peak", "--filter", "size>1MB"]);
        for row in hold("live", &[&file, "--at", "peak", "--top", "3"]).as_array().into_iter().flatten() {
            let event = row["alloc_event"].as_i64().unwrap_or(-1);
            let place = format!("{}@{event}", row["addr"].as_str().expect("an address"));
            hold("explain", &[&file, &place, "--device", &row["device"].to_string()]);
        }
    }
}

#[test]
fn reports_of_all_samples_are_as_their_schema_says() {
    for file in samples() {
        hold("report", &[&text(&file), "--no-remedies"]);
        let brief = json(["report", &text(&file), "--no-remedies", "--brief", "--format", "json"]);
        assert_eq!(Checker::problems("verdict", &brief), [""; 0], "{}", file.display());
        assert!(brief.to_string().len() <= 4096, "{}: {} bytes", file.display(), brief.to_string().len());
    }
    hold("report", &[&text(&sample("frag_oom.pickle")), "--ranks", &text(&sample("ranks"))]);
}

#[test]
fn simulations_and_remedies_are_as_their_schemas_say() {
    for name in ["frag_oom.pickle", "leak_eval_losses.pickle", "streams.pickle", "history_state_only.pickle"]
    {
        let file = text(&sample(name));
        hold("simulate", &[&file, "--set", "expandable_segments=True"]);
        hold("simulate", &[&file, "--sweep", "--smallest-capacity"]);
        hold("fixes", &[&file]);
    }
}

#[test]
fn comparisons_are_as_their_schemas_say() {
    for [a, b] in [
        ["before_edit.pickle.gz", "after_edit.pickle.gz"],
        ["pools.pickle", "streams.pickle"],
        ["compiled.pickle", "history_state_only.pickle"],
    ] {
        hold("diff", &[&text(&sample(a)), &text(&sample(b))]);
    }
    let ranks = text(&sample("ranks"));
    hold("ranks", &[&ranks]);
    hold("ranks", &[&ranks, "--one-gpu"]);
    // With a file that cannot be read, and one without events.
    let (readme, empty) = (text(&sample("README.md")), text(&sample("history_state_only.pickle")));
    let output = run(["ranks", "--format", "json", &readme, &empty]);
    let found = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(Checker::problems("ranks", &found), [""; 0]);
}

#[test]
fn the_outcome_of_checks_is_as_its_schema_says() {
    let [bad, good] = ["wider_blocks.pickle.gz", "before_edit.pickle.gz"].map(|name| text(&sample(name)));
    let output = run([
        "check",
        &bad,
        "none.pickle",
        "--baseline",
        &good,
        "--max-peak",
        "1GiB",
        "--no-oom",
        "--format",
        "json",
    ]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(Checker::problems("check", &found), [""; 0]);
    assert_eq!(found["holds"], false);
    for key in ["checks", "grown", "errors"] {
        assert_ne!(found[key].as_array().map(Vec::len), Some(0), "{key}: {found}");
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let mut row = json(["live", &text(&sample("frag_oom.pickle")), "--format", "json", "--top", "1"]);
    assert_eq!(Checker::problems("live", &row), [""; 0]);
    for (key, value) in
        [("schema", 2.into()), ("size", "1".into()), ("category", "music".into()), ("new", 1.into())]
    {
        let right = row[0].get(key).cloned();
        row[0][key] = value;
        assert_eq!(Checker::problems("live", &row).len(), 1, "{key}");
        match (right, row[0].as_object_mut()) {
            (Some(right), _) => row[0][key] = right,
            (None, Some(object)) => drop(object.remove(key)),
            (None, None) => {}
        }
    }
    row[0].as_object_mut().expect("an object").remove("addr");
    assert_eq!(Checker::problems("live", &row).len(), 1);
}

#[test]
fn the_documentation_names_every_schema_and_key() {
    let docs = ["json", "report", "fixes", "ranks", "tables"].map(|name| {
        std::fs::read_to_string(root().join("docs").join(name).with_extension("md")).expect("a document")
    });
    for entry in std::fs::read_dir(root().join("docs/schema")).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(docs[0].contains(&format!("(schema/{name})")), "docs/json.md does not name {name}");
        let checker = Checker::new(name.trim_end_matches(".json"));
        let top = checker.schema.get("items").unwrap_or(&checker.schema);
        for key in top["properties"].as_object().expect("keys").keys() {
            let is_named = docs
                .iter()
                .any(|text| text.contains(&format!("`{key}`")) || text.contains(&format!("`{key}[]`")));
            assert!(is_named, "no document describes {key} of {name}");
        }
    }
}
