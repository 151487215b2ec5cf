//! `oomscope simulate` as it is run.

use crate::support::{json, run, sample, stdout};
use std::path::Path;

fn simulate(file: &Path, args: &[&str]) -> Vec<String> {
    let mut all = vec!["simulate".to_owned(), file.to_string_lossy().into_owned()];
    all.extend(args.iter().map(|&arg| arg.to_owned()));
    all
}

fn failure(file: &Path, args: &[&str]) -> String {
    let output = run(simulate(file, args));
    assert!(!output.status.success());
    String::from_utf8(output.stderr).expect("messages are text")
}

#[test]
fn a_sweep_recommends_what_would_have_saved_the_run() {
    let found = json(simulate(&sample("frag_oom.pickle"), &["--sweep", "--format", "json"]));
    assert_eq!(found["fidelity"]["events"], found["fidelity"]["identical"]);
    assert!(found["fidelity"]["first_difference"].is_null());
    assert_eq!(found["recommendation"], "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    let results = found["results"].as_array().expect("results are a list");
    let of = |settings: &str| {
        let result = results.iter().find(|result| result["settings"] == settings);
        result.unwrap_or_else(|| panic!("{settings:?} was not simulated"))
    };
    assert_eq!(of("")["oom"]["event"], found["recorded_oom"]);
    assert_eq!(of("")["peak_reserved"], found["recorded_peak_reserved"]);
    assert!(of("expandable_segments:True")["oom"].is_null());
    assert!(of("expandable_segments:True")["reaches"].is_null());
    assert_eq!(found["projection"]["from"], found["recorded_oom"]);
}

#[test]
fn settings_and_capacity_can_be_given() {
    let args = ["--set", "expandable_segments=True", "--capacity", "1GiB", "--format", "json"];
    let found = json(simulate(&sample("frag_oom.pickle"), &args));
    assert_eq!(found["capacity"], 1 << 30);
    let results = found["results"].as_array().expect("results are a list");
    assert_eq!(results.len(), 2, "the recorded settings and those that were given");
    for result in results {
        assert!(result["oom"]["event"].as_u64().is_some());
        assert!(result["peak_reserved"].as_u64() <= Some(1 << 30));
    }
}

#[test]
fn other_requests_need_less() {
    let peak = |args: &[&str]| {
        let args = [args, &["--format", "json", "--smallest-capacity"]].concat();
        let found = json(simulate(&sample("leak_eval_losses.pickle"), &args));
        (found["results"][0]["peak_allocated"].as_u64(), found["smallest_capacity"].as_u64())
    };
    let recorded = peak(&[]);
    assert!(recorded.1 > recorded.0);
    assert!(peak(&["--batch", "0.5"]).1 < recorded.1);
    assert!(peak(&["--without", "stack:evaluate"]) < recorded);
    assert_eq!(peak(&["--batch", "1"]), recorded);
}

#[test]
fn the_largest_batch_of_the_report_is_the_largest_that_is_simulated_to_fit() {
    let path = sample("gpt_oom_forward.pickle");
    let outcome = |factor: f64| {
        let found = json(simulate(&path, &["--batch", &factor.to_string(), "--format", "json"]));
        found["results"][0]["oom"].is_null()
    };
    let fixes = ["fixes".to_owned(), path.to_string_lossy().into_owned(), "--format=json".to_owned()];
    let largest = json(fixes.to_vec())["largest_batch"]["factor"].as_f64().expect("a factor");
    assert!(outcome(largest) && !outcome(1.1 * largest), "{largest}");
    let text = failure(&sample("history_state_only.pickle"), &["--batch", "0.5"]);
    assert!(text.contains("nothing in it depends on the batch"), "{text}");
}

#[test]
fn the_text_says_how_far_it_can_be_trusted() {
    let text = stdout(simulate(&sample("frag_oom.pickle"), &["--sweep"]));
    assert!(text.contains("all of 949 allocator events identical"), "{text}");
    assert!(text.contains("The rest of its step is projected, as iteration 14 went on (±7 %);"), "{text}");
    assert!(text.contains("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), "{text}");
    let text = stdout(simulate(&sample("pools.pickle"), &[]));
    assert!(text.contains("capacity        not limited"), "{text}");
}

#[test]
fn what_cannot_be_simulated_is_refused_with_a_hint() {
    let error = failure(&sample("frag_oom.pickle"), &["--set", "max_split_size_mb=2"]);
    assert!(error.contains("max_split_size_mb: expected a number above 20"), "{error}");
    let error = failure(&sample("frag_oom.pickle"), &["--set", "backend=native"]);
    assert!(error.contains("backend: not a setting"), "{error}");
    let error = failure(&sample("history_state_only.pickle"), &["--device", "7"]);
    assert!(error.contains("device 7 is not in the snapshot"), "{error}");
    let error = failure(&sample("pinned_host.pickle"), &["--device", "-1"]);
    assert!(error.contains("no trace of a GPU's allocator"), "{error}");
}
