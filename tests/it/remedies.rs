//! `oomscope fixes` as it is run, and its predictions against what PyTorch counted once the program was changed.

use crate::support::{json, run, sample, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn remedies(file: &Path, args: &[&str]) -> Vec<String> {
    let mut all = vec!["fixes".to_owned(), file.to_string_lossy().into_owned()];
    all.extend(args.iter().map(|&arg| arg.to_owned()));
    all
}

fn list(found: &Value) -> &Vec<Value> {
    found["remedies"].as_array().expect("remedies are a list")
}

fn ids(found: &Value) -> Vec<&str> {
    list(found).iter().filter_map(|remedy| remedy["id"].as_str()).collect()
}

fn pairs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs")
}

#[test]
fn every_remedy_has_all_its_keys_and_the_best_comes_first() {
    let found = json(remedies(&sample("gpt_oom_forward.pickle"), &["--format", "json"]));
    assert_eq!((&found["schema"], &found["version"]), (&Value::from("oomscope-fixes"), &Value::from(2)));
    assert_eq!(found["baseline"]["fits"], false);
    let keys = [
        "id",
        "peak_requested",
        "peak_allocated",
        "peak_reserved",
        "fits",
        "margin",
        "basis",
        "code",
        "cost",
    ];
    for remedy in list(&found) {
        for key in keys {
            assert!(!remedy[key].is_null(), "{} has no {key}", remedy["id"]);
        }
        assert!(remedy.as_object().is_some_and(|remedy| remedy.contains_key("error")));
        assert_eq!(remedy["fits"], Value::from(remedy["margin"].as_i64() >= Some(0)), "{}", remedy["id"]);
    }
    let peaks: Vec<u64> =
        list(&found).iter().filter_map(|remedy| remedy["peak_requested"].as_u64()).collect();
    assert!(peaks.is_sorted() && peaks.len() == list(&found).len());
    assert!(ids(&found).iter().any(|id| id.contains('+')), "the best are combined");
    let least = found["least"].as_str().expect("something fits");
    assert!(list(&found).iter().any(|remedy| remedy["id"] == least && remedy["fits"] == true));
}

#[test]
fn text_begins_with_the_least_change_that_fits() {
    let text = stdout(remedies(&sample("frag_oom.pickle"), &[]));
    let first = text.lines().next().expect("there is text");
    assert!(first.starts_with("The cheapest change that finishes the step within 4.11 GiB: set "), "{first}");
    assert!(text.contains("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
    let roomy = stdout(remedies(&sample("frag_oom.pickle"), &["--capacity", "80GiB"]));
    assert!(roomy.starts_with("The program finishes the step within 80.0 GiB as it is."), "{roomy}");
}

#[test]
fn what_only_puts_off_a_leak_is_not_the_least_change_that_fits() {
    let file = sample("leak_probe.pickle.gz");
    let found = json(remedies(&file, &["--format", "json"]));
    let fits = |id: &str| list(&found).iter().any(|remedy| remedy["id"] == id && remedy["fits"] == true);
    // Without gradients between steps what was recorded fits, too, but what is left behind still piles up.
    assert!(fits("zero-grad-none") && fits("detach"));
    assert_eq!(found["least"], "detach");
    let text = stdout(remedies(&file, &["--only", "zero-grad-none"]));
    let first = text.lines().next().expect("there is text");
    assert!(
        first.starts_with("No change that was tried stops what grows and finishes the step within "),
        "{first}"
    );
    assert!(first.contains("This only puts it off, until about iteration 41: "), "{first}");
    assert!(first.ends_with("(zero-grad-none)."), "{first}");
}

#[test]
fn what_keeps_no_graph_in_evaluation_stops_its_leak() {
    let file = pairs().join("mixer_losses.pickle.gz");
    let found = json(remedies(&file, &["--format", "json"]));
    let fits = |id: &str| list(&found).iter().any(|remedy| remedy["id"] == id && remedy["fits"] == true);
    // Checkpoints make each graph smaller, but there is still one more with each batch.
    assert!(fits("checkpoint-all") && fits("detach") && fits("set:expandable_segments=True"));
    assert_eq!(found["least"], "eval-no-grad");
    let only = json(remedies(&file, &["--only", "checkpoint-all", "--format", "json"]));
    assert!(fits("checkpoint-all") && only["least"].is_null());
}

#[test]
fn some_remedies_can_be_asked_for() {
    let file = sample("gpt_oom_forward.pickle");
    let only = "sgd,set:expandable_segments=True+sgd,detach,set:max_split_size_mb=32";
    let args = remedies(&file, &["--only", only, "--format", "json"]);
    let mut found = ids(&json(args.clone())).into_iter().map(str::to_owned).collect::<Vec<_>>();
    found.sort();
    assert_eq!(found, ["set:max_split_size_mb=32", "sgd", "sgd+set:expandable_segments=True"]);
    let notes = String::from_utf8(run(args).stderr).expect("notes are text");
    assert_eq!(notes, "oomscope: detach is not known to apply to this recording\n");
}

#[test]
fn unknown_ids_are_refused_with_those_that_are_known() {
    for (only, part) in
        [("sdg", "there is no fix 'sdg'"), ("set:expandable_segments=2", "expandable_segments")]
    {
        let output = run(remedies(&sample("frag_oom.pickle"), &["--only", only]));
        assert!(!output.status.success());
        let message = String::from_utf8(output.stderr).expect("messages are text");
        assert!(message.contains(part) && message.contains("adamw-fused"), "{message}");
    }
}

#[test]
fn predictions_agree_with_the_changed_programs() {
    /// The share by which a prediction may be off.
    const TOLERANCE: f64 = 0.05;
    let index = std::fs::read_to_string(pairs().join("pairs.json")).expect("the index is there");
    let index: Vec<Value> = serde_json::from_str(&index).expect("the index is JSON");
    assert!(!index.is_empty());
    for pair in &index {
        let [base, remedy] = ["base", "remedy"].map(|key| pair[key].as_str().expect("the index names it"));
        let found = json(remedies(&pairs().join(base), &["--only", remedy, "--format", "json"]));
        let predicted = list(&found).first().and_then(|remedy| remedy["peak_requested"].as_f64());
        let predicted = predicted.unwrap_or_else(|| panic!("{remedy} applies to {base}"));
        let counted = |key: &str| pair[key].as_f64().expect("PyTorch counted it");
        assert_eq!(
            found["baseline"]["peak_requested"].as_f64(),
            Some(counted("base_peak_requested")),
            "{base}"
        );
        let error = predicted / counted("changed_peak_requested") - 1.0;
        assert!(error.abs() <= TOLERANCE, "{remedy} of {base} is off by {error}");
    }
}

#[test]
fn text_shows_the_best_few_and_counts_the_others() {
    let file = sample("gpt_oom_forward.pickle");
    let found = json(remedies(&file, &["--format", "json"]));
    let best: Vec<&str> =
        found["best"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!((1..=3).contains(&best.len()), "{best:?}");
    let rows = |text: &str| {
        let rows = text.lines().skip_while(|line| !line.starts_with("(as it is)")).skip(1);
        rows.take_while(|line| !line.is_empty()).count()
    };
    let text = stdout(remedies(&file, &[]));
    assert_eq!(rows(&text), best.len());
    let more = list(&found).len() - best.len();
    assert!(text.lines().any(|line| line == format!("{more} more: --all")), "{text}");
    assert!(text.contains("  applies because "), "{text}");
    let all = stdout(remedies(&file, &["--all"]));
    assert_eq!(rows(&all), list(&found).len());
    assert!(!all.contains("more: --all"));
}
