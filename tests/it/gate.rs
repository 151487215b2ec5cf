//! What a recording refutes is not among its remedies, and what is named as a fix stands beside its own simulation or none.

use crate::support::{json, pickles_in, root, sample, stdout};
use oomscope_analysis::{Attribution, Phase, UserRules};
use oomscope_model::{DeviceId, Recording};
use oomscope_snapshot::load::{Input, Progress, load};
use rayon::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn corpus(name: &str) -> PathBuf {
    root().join("tests/corpus").join(name).with_extension("pickle.gz")
}

fn recordings() -> Vec<PathBuf> {
    let folders = [root().join("sample_snapshots"), root().join("tests/corpus")];
    folders.iter().flat_map(|folder| pickles_in(folder, false)).collect()
}

fn remedies(file: &Path) -> Value {
    json(["fixes", &file.display().to_string(), "--format", "json"])
}

fn has(found: &Value, id: &str) -> bool {
    let all = found["remedies"].as_array().expect("remedies are a list");
    all.iter().filter_map(|remedy| remedy["id"].as_str()).any(|ids| ids.split('+').any(|one| one == id))
}

#[test]
fn attention_that_is_fused_is_not_to_be_fused() {
    for name in ["hf_llama_sft", "hf_trainer", "hf_static_cache"] {
        assert!(!has(&remedies(&corpus(name)), "sdpa"), "{name}");
    }
    assert!(has(&remedies(&sample("gpt_oom_forward.pickle")), "sdpa"), "it is written out there");
}

#[test]
fn only_what_evaluations_keep_in_graphs_is_freed_without_gradients() {
    // Caches that a server keeps, and a function that trains.
    for file in [sample("leak_caches.pickle.gz"), corpus("scan_ssm")] {
        assert!(!has(&remedies(&file), "eval-no-grad"), "{}", file.display());
    }
    assert!(has(&remedies(&sample("eval_with_graph.pickle.gz")), "eval-no-grad"));
}

#[test]
fn keys_and_values_are_no_scores_of_attention() {
    let found = remedies(&sample("kv_cache_oom.pickle"));
    assert_ne!(found["least"], "sdpa");
    let all = found["remedies"].as_array().expect("remedies are a list");
    let lines =
        all.iter().filter(|remedy| remedy["id"] == "sdpa").map(|remedy| &remedy["preconditions"][0]["line"]);
    let of_cache: Vec<&Value> =
        lines.filter(|line| line.as_str().is_some_and(|line| line.starts_with("generate.py"))).collect();
    assert!(of_cache.is_empty(), "{of_cache:?}");
}

#[test]
fn what_hardly_saves_is_no_least_change() {
    let hardly_saves = |file: &PathBuf| {
        let found = remedies(file);
        let all = found["remedies"].as_array().expect("remedies are a list");
        let id = found["least"].as_str()?;
        let least = all.iter().find(|remedy| remedy["id"] == id).expect("the cheapest change is listed");
        let [before, after] = [&found["baseline"], least].map(|figures| figures["peak_requested"].as_u64());
        let is_setting_alone = id.starts_with("set:") && !id.contains('+');
        (found["recorded_oom"].is_u64() && !is_setting_alone && before? - before? / 50 <= after?)
            .then(|| format!("{}: {id}", file.display()))
    };
    let found: Vec<String> = recordings().par_iter().filter_map(hardly_saves).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn evaluations_of_each_iteration_keep_no_graph() {
    let found = remedies(&sample("leak_eval_losses.pickle"));
    assert_eq!(found["least"], "eval-no-grad");
    let report =
        json(["report", &sample("leak_eval_losses.pickle").display().to_string(), "--format", "json"]);
    assert_eq!(report["fix"]["remedy"]["id"], "eval-no-grad", "{}", report["fix"]);
}

#[test]
fn a_setting_that_only_gets_past_the_request_is_not_the_least_change() {
    let least = |name: &str| remedies(&sample(name))["least"].as_str().map(str::to_owned);
    for name in ["long_inputs.pickle.gz", "meta_tasks.pickle.gz", "kv_cache_oom.pickle"] {
        assert!(least(name).is_none_or(|id| !id.starts_with("set:") || id.contains('+')), "{name}");
    }
    // There, memory lay in pieces, and the setting puts them together.
    assert_eq!(least("frag_oom.pickle").as_deref(), Some("set:expandable_segments=True"));
    let args = ["--only", "set:expandable_segments=True"];
    let file = sample("meta_tasks.pickle.gz").display().to_string();
    let text = stdout(["fixes", &file].into_iter().chain(args));
    let first = text.lines().next().expect("there is text");
    assert!(first.starts_with("No change that was tried is known to do more than get past"), "{first}");
}

#[test]
fn as_few_blocks_are_checkpointed_as_are_enough_where_none_is_yet() {
    let some = |file: PathBuf, capacity: &str| {
        let file = file.display().to_string();
        let found = json(["fixes", &file, "--capacity", capacity, "--format", "json"]);
        let mut all = found["remedies"].as_array().expect("a list").iter();
        all.find(|remedy| remedy["id"] == "checkpoint-some").cloned()
    };
    let found = some(sample("first_step.pickle.gz"), "12.5GiB").expect("some are enough");
    let title = found["title"].as_str().expect("a title");
    assert!(title.starts_with("checkpoint the first ") && title.ends_with(" of 16 blocks"), "{title}");
    // Even if it is off as far as it may be.
    let [reserved, error] =
        [&found["peak_reserved"], &found["error"]].map(|figure| figure.as_f64().expect("a figure"));
    assert!(reserved * (1.0 + error) <= 12.5 * f64::from(1 << 30), "{found}");
    // Five of its sixteen blocks are checkpointed: which are the first of the others, no code says.
    let in_part = root().join("tests/data/checkpointed_in_part.pickle.gz");
    assert_eq!(some(in_part, "9GiB"), None);
}

#[test]
fn no_setting_is_the_fix_of_a_device_that_is_too_small() {
    let problems = |path: &PathBuf| -> Option<String> {
        let file = path.display().to_string();
        let report = json(["report", &file, "--format", "json", "--no-notes"]);
        let verdict = report["findings"][0]["id"].as_str().expect("a verdict");
        let is_setting =
            |id: &Value| id.as_str().is_some_and(|id| id.starts_with("set:") && !id.contains('+'));
        let is_too_small = matches!(verdict, "capacity" | "single-request" | "outside-pytorch" | "leak");
        let is_fix = is_setting(&report["fix"]["remedy"]["id"]) || is_setting(&remedies(path)["least"]);
        (is_too_small && is_fix).then(|| format!("{file}: {verdict}"))
    };
    let problems: Vec<String> = recordings().par_iter().filter_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_remedy_has_an_effect_and_no_code_for_a_backward_that_was_not_recorded() {
    let problems = |path: &PathBuf| -> Vec<String> {
        let snapshot = load(&Input::File(path.clone()), &Progress::default()).expect("it loads");
        let output = crate::support::run(["fixes", &path.display().to_string(), "--format", "json"]);
        let Ok(found) = serde_json::from_slice::<Value>(&output.stdout) else { return Vec::new() };
        let device = DeviceId(found["device"].as_i64().expect("a device"));
        let recording = Recording::of_device(&Arc::new(snapshot), device).expect("it is there");
        let phases = Attribution::of(&recording, &UserRules::default()).phases.phases;
        // That of a first step is projected.
        let has_backward = phases.iter().any(|start| start.phase == Phase::Backward)
            || found["projection"]["basis"] == "structure";
        let before = &found["baseline"];
        let falls = |remedy: &Value, key: &str| remedy[key].as_u64() < before[key].as_u64();
        let problem = |remedy: &Value| {
            let code = remedy["code"].as_str().unwrap_or_default();
            let helps = before["fits"] == false && remedy["fits"] == true;
            if !has_backward && code.contains(".backward()") {
                Some(format!("{}: {} runs a backward", path.display(), remedy["id"]))
            } else if !falls(remedy, "peak_requested") && !falls(remedy, "peak_reserved") && !helps {
                Some(format!("{}: {} changes nothing", path.display(), remedy["id"]))
            } else {
                None
            }
        };
        found["remedies"].as_array().into_iter().flatten().filter_map(problem).collect()
    };
    let problems: Vec<String> = recordings().par_iter().flat_map_iter(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_fix_stands_beside_its_own_simulation_or_none() {
    let problems = |path: &PathBuf| -> Option<String> {
        let file = path.display().to_string();
        let report = json(["report", &file, "--format", "json", "--no-notes"]);
        let fix = &report["fix"];
        let id = fix["remedy"]["id"].as_str()?;
        let all = json(["fixes", &file, "--format", "json"]);
        let simulated = all["remedies"].as_array()?.iter().find(|remedy| remedy["id"] == id);
        if simulated != Some(&fix["remedy"]) {
            return Some(format!("{file}: not what {id} was simulated to give"));
        }
        let advice = &report["findings"][0]["advice"][0];
        let is_advice = advice["text"] == fix["text"];
        if !is_advice && fix["code"] != fix["remedy"]["code"] {
            return Some(format!("{file}: the code is not that of {id}"));
        }
        let is_sample = path.parent().is_some_and(|folder| folder.ends_with("sample_snapshots"));
        for format in ["text", "markdown"].iter().filter(|_| is_sample) {
            let text = stdout(["report", &file, "--format", format, "--no-notes"]).replace('\\', "");
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ");
            let fix_at = text.find("What to change:")?;
            let said = text[fix_at..].find(&format!("({id}):"));
            let headings = ["Simulated with the recorded requests", "Simulated to the end of the step"];
            let other = headings.iter().filter_map(|heading| text[fix_at..].find(heading)).min();
            if said.is_none() || other.is_some_and(|other| Some(other) < said) {
                return Some(format!("{file}: {format} has {id} not beside the fix"));
            }
        }
        None
    };
    let problems: Vec<String> = recordings().par_iter().filter_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_page_says_the_fix_as_the_document_does() {
    for name in ["frag_oom.pickle", "gpt_oom_forward.pickle", "leak_eval_losses.pickle"] {
        let file = sample(name).display().to_string();
        let fix = json(["report", &file, "--format", "json"])["fix"].clone();
        let page = stdout(["report", &file, "--format", "html"]);
        let (_, said) = page.split_once("<div id=\"fix\">").expect("a fix");
        let said = said.split("</div>").next().unwrap_or_default();
        for key in ["text", "code"] {
            let text = fix[key].as_str().expect("a text").replace('"', "&quot;").replace('\'', "&#39;");
            assert!(said.contains(&text), "{text} is not in {said}");
        }
        match fix["remedy"]["id"].as_str() {
            Some(id) => assert!(said.contains(&format!("({id}): ")), "{said}"),
            None => assert!(!said.contains("Simulated"), "{said}"),
        }
    }
}
