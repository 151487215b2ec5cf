//! Plans against all that could be done: nothing that fits is cheaper than what `oomscope fixes` names.

use crate::support::{json, root, run, sample, stdout};
use serde_json::Value;

/// As many fixes together are tried, at most.
const MOST_TOGETHER: usize = 3;

/// As many plans are told, at most.
const MOST_PLANS: usize = 5;

fn fixes(file: &str, capacity: &str, more: &[&str]) -> Value {
    let args = ["fixes", file, "--capacity", capacity, "--format", "json"];
    json(args.into_iter().chain(more.iter().copied()))
}

fn all(found: &Value) -> &[Value] {
    found["remedies"].as_array().expect("a list")
}

/// What excludes each other, since it changes the same part of a program.
fn part(id: &str) -> &str {
    let groups = ["checkpoint-", "adamw-", "set:", "bf16-"];
    let others = [
        ("half-batch", "batch"),
        ("quarter-batch", "batch"),
        ("eighth-batch", "batch"),
        ("micro-batch", "batch"),
        ("save-on-cpu", "checkpoint-"),
        ("memory-budget", "checkpoint-"),
    ];
    let optimizers = [("sgd", "adamw-"), ("sgd-momentum", "adamw-")];
    let named = others.iter().chain(&optimizers).find(|(name, _)| *name == id).map(|(_, part)| *part);
    named.or_else(|| groups.into_iter().find(|group| id.starts_with(group))).unwrap_or(id)
}

/// All combinations of some fixes, each for another part.
fn together(ids: &[String]) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = vec![Vec::new()];
    for id in ids {
        let larger: Vec<Vec<&str>> = found
            .iter()
            .filter(|some| some.len() < MOST_TOGETHER && some.iter().all(|other| part(other) != part(id)))
            .map(|some| some.iter().copied().chain([id.as_str()]).collect())
            .collect();
        found.extend(larger);
    }
    found.iter().filter(|some| !some.is_empty()).map(|some| some.join("+")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Whether a fix fits even if it is off as far as it may be.
fn is_sure(fix: &Value, capacity: f64) -> bool {
    let reserved = number(&fix["peak_reserved"]);
    fix["fits"] == true
        && fix["basis"] == "simulated"
        && fix["fits_until_iteration"].is_null()
        && fix["fits_until_call"].is_null()
        && reserved * (1.0 + number(&fix["error"])) <= capacity
}

/// Whether a plan costs no more than another change that fits: with fewer fixes, less than twice as much is no more.
fn costs_no_more(plan: &Value, other: &Value) -> bool {
    let count = |fix: &Value| fix["preconditions"].as_array().expect("a list").len();
    let [a, b] = [&plan["price"], &other["price"]];
    let times = if count(plan) < count(other) { 2.0 } else { 1.0 };
    let is_more = |key: &str| number(&a[key]) > number(&b[key]) * times + 1e-9;
    let has_more = |has: &dyn Fn(&Value) -> bool| has(a) && !has(b);
    let is_conditional = |fix: &Value| fix["title"].as_str().is_some_and(|title| title.contains(", if "));
    count(plan) <= count(other)
        && !is_more("most_work")
        && !is_more("host_bytes")
        && !has_more(&|price| price["other_numbers"] == true)
        && !has_more(&|price| price["passes"] != 1)
        && (!is_conditional(plan) || is_conditional(other))
}

#[test]
fn nothing_that_fits_is_cheaper_than_the_plans() {
    let cases = [
        ("first_step.pickle.gz", ["12GiB", "10GiB", "8GiB", "6GiB"]),
        ("gpt_oom_forward.pickle", ["40GiB", "30GiB", "20GiB", "14GiB"]),
    ];
    for (name, capacities) in cases {
        let file = sample(name).display().to_string();
        for capacity in capacities {
            let found = fixes(&file, capacity, &[]);
            let limit = number(&found["capacity"]);
            let of = |id: &Value| all(&found).iter().find(|fix| fix["id"] == *id).expect("it is listed");
            let plans: Vec<&Value> = found["plans"].as_array().expect("a list").iter().map(of).collect();
            let ids: Vec<String> = all(&found)
                .iter()
                .filter(|fix| fix["basis"] == "simulated")
                .filter_map(|fix| fix["id"].as_str().filter(|id| !id.contains('+')).map(str::to_owned))
                .chain(["checkpoint-some".to_owned(), "eighth-batch".to_owned(), "micro-batch".to_owned()])
                .collect();
            let mut ids: Vec<String> = ids.into_iter().filter(|id| !id.starts_with("set:")).collect();
            ids.sort();
            ids.dedup();
            let tried = fixes(&file, capacity, &["--only", &together(&ids).join(",")]);
            let fitting: Vec<&Value> = all(&tried).iter().filter(|fix| is_sure(fix, limit)).collect();
            assert_eq!(plans.is_empty(), fitting.is_empty(), "{name} {capacity}");
            for other in fitting {
                let has_cheaper = plans.iter().any(|plan| costs_no_more(plan, other));
                assert!(has_cheaper || plans.len() == MOST_PLANS, "{name} {capacity}: {}", other["id"]);
            }
            for (at, plan) in plans.iter().enumerate() {
                assert!(is_sure(plan, limit), "{name} {capacity}: {}", plan["id"]);
                let is_needless = plans[..at].iter().any(|before| {
                    costs_no_more(before, plan)
                        && before["preconditions"] != plan["preconditions"]
                        && before["price"] != plan["price"]
                });
                assert!(!is_needless, "{name} {capacity}: {}", plan["id"]);
            }
        }
    }
}

#[test]
fn prices_that_are_not_allowed_are_not_paid() {
    let file = sample("first_step.pickle.gz").display().to_string();
    let paid = |allow: &str, key: &str| {
        let found = fixes(&file, "9GiB", &["--allow", allow]);
        all(&found).iter().any(|fix| match key {
            "other_numbers" => fix["price"][key] == true,
            "devices" => fix["price"][key] != 1,
            _ => 0.0 < number(&fix["price"][key]),
        })
    };
    let keys =
        [("most_work", "work"), ("other_numbers", "numbers"), ("host_bytes", "host"), ("devices", "devices")];
    for (key, word) in keys {
        assert!(paid(word, key), "{word} pays {key}");
        assert!(!paid("", key), "nothing pays {key}");
    }
    assert!(!paid("work", "other_numbers") && !paid("numbers", "most_work"));
}

/// A program that dies in its first step, and the same with every second block checkpointed.
fn promised(more: &[&str]) -> Value {
    let [before, after] = ["promise_oom", "promise_kept"]
        .map(|name| root().join(format!("tests/data/{name}.pickle.gz")).display().to_string());
    let args = ["diff", &before, &after, "--format", "json"];
    json(args.into_iter().chain(more.iter().copied()))["promises"].clone()
}

#[test]
fn what_a_fix_promised_is_set_against_what_was_taken() {
    let named = promised(&["--fix", "checkpoint-half"]);
    let [promise] = named.as_array().expect("a list").as_slice() else { panic!("one was named") };
    assert_eq!(
        (&promise["is_named"], &promise["kept"], &promise["fits"]),
        (&true.into(), &true.into(), &true.into())
    );
    let [said, took] = ["peak_requested", "took_requested"].map(|key| number(&promise[key]));
    assert!((took / said - 1.0).abs() < 0.01, "{promise}");
    let other = promised(&["--fix", "half-batch"]);
    assert_eq!(other[0]["kept"], false, "another change was made");
    let all = promised(&[]);
    let off = |promise: &Value| (number(&promise["peak_requested"]) - took).abs();
    let all = all.as_array().expect("a list");
    assert!(all.is_sorted_by_key(off) && all[0]["id"] == "checkpoint-half", "the nearest comes first");
    let one_file = root().join("tests/data/promise_oom.pickle.gz").display().to_string();
    let of_moments = json(["diff", &one_file, "--at-a", "1", "--at-b", "peak", "--format", "json"]);
    assert_eq!(of_moments["promises"], Value::Array(Vec::new()), "no other run");
}

#[test]
fn promises_are_kept_beside_the_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let [before, after] = ["promise_oom", "promise_kept"].map(|name| {
        let name = format!("{name}.pickle.gz");
        let copy = folder.path().join(&name);
        std::fs::copy(root().join("tests/data").join(&name), &copy).expect("it is copied");
        copy
    });
    let [a, b] = [&before, &after].map(|path| path.display().to_string());
    let diff = |more: &[&str]| {
        let args = ["diff", &a, &b, "--format", "json"];
        json(args.into_iter().chain(more.iter().copied()))["promises"].as_array().expect("a list").clone()
    };
    let told_now = diff(&[]);
    assert!(told_now.iter().all(|promise| promise["was_kept"] == false));
    let beside = folder.path().join("promise_oom.pickle.gz.fixes.json");
    assert!(!beside.exists(), "nothing is written unasked");
    for command in ["fixes", "report"] {
        json([command, &a, "--keep", "--format", "json"]);
        let kept = diff(&[]);
        let figures = |all: &[Value]| {
            let figures = |promise: &Value| (promise["id"].clone(), promise["peak_requested"].clone());
            all.iter().map(figures).collect::<Vec<_>>()
        };
        assert!(kept.iter().all(|promise| promise["was_kept"] == true), "{command}");
        assert_eq!(figures(&kept), figures(&told_now), "{command}");
        std::fs::remove_file(&beside).expect("it was written");
    }
    // What was kept counts, not what would be said today.
    json(["fixes", &a, "--keep", "--format", "json"]);
    let text = std::fs::read_to_string(&beside).expect("it was written");
    let mut said: Value = serde_json::from_str(&text).expect("JSON");
    let half = said["remedies"].as_array_mut().expect("a list").iter_mut();
    half.filter(|fix| fix["id"] == "checkpoint-half").for_each(|fix| fix["peak_requested"] = 1.into());
    std::fs::write(&beside, said.to_string()).expect("it is written");
    let named = diff(&["--fix", "checkpoint-half"]);
    assert_eq!((&named[0]["peak_requested"], &named[0]["kept"]), (&1.into(), &false.into()));
    // A file about another recording, or of another program, is none.
    said["recorded_events"] = 1.into();
    for other in [said.to_string(), "mine".to_owned()] {
        std::fs::write(&beside, &other).expect("it is written");
        assert!(diff(&[]).iter().all(|promise| promise["was_kept"] == false));
    }
    let refused = run(["fixes", &a, "--keep"]);
    assert!(!refused.status.success());
    assert_eq!(std::fs::read_to_string(&beside).expect("it stays"), "mine");
}

#[test]
fn curves_reach_to_the_end_of_what_is_projected() {
    let file = sample("first_step.pickle.gz").display().to_string();
    let found = fixes(&file, "9GiB", &["--curve", "--only", "sgd"]);
    let projected = found["projection"]["events"].as_u64().expect("it is projected");
    for of in [&found["baseline"], &found["remedies"][0]] {
        let curve = &of["curve"];
        let [events, recorded] =
            ["events", "recorded_events"].map(|key| curve[key].as_u64().expect("a count"));
        assert_eq!(events, recorded + projected);
        let highest = curve["requested"].as_array().expect("a list").iter().filter_map(Value::as_u64).max();
        assert_eq!(highest, of["peak_requested"].as_u64());
    }
    assert!(fixes(&file, "9GiB", &[])["baseline"]["curve"].is_null());
}

#[test]
fn what_only_puts_a_failure_off_is_the_fix_that_lasts_longest_of_those_shown() {
    let file = sample("kv_cache_oom.pickle");
    let text = stdout(["fixes".as_ref(), file.as_os_str()]);
    let (said, table) = text.split_once('\n').expect("lines");
    assert!(said.contains("This only puts it off, until about iteration 29: "), "{said}");
    let id = said.rsplit_once('(').and_then(|(_, id)| id.split_once(')')).expect("an id").0;
    assert!(table.lines().any(|line| line.starts_with(id) && line.contains("to iteration 29")), "{table}");
    let report = stdout(["report".as_ref(), file.as_os_str()]);
    assert!(report.contains(&format!("({id})")), "the report advises it, too: {report}");
}
