//! What single findings must say about recordings, and must not say.

use crate::support::{self, root, sample, stdout};
use oomscope_diagnosis::{FINDINGS, Need};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

fn report(name: &str, more: &[&str]) -> Value {
    report_of(&sample(name), more)
}

fn report_of(path: &Path, more: &[&str]) -> Value {
    let path = path.to_string_lossy();
    support::json(["report", &path, "--format", "json"].iter().chain(more))
}

fn finding<'a>(report: &'a Value, id: &str) -> Option<&'a Value> {
    report["findings"].as_array().expect("findings").iter().find(|finding| finding["id"] == id)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Whether a list of sentences has these words.
fn says(list: &Value, words: &str) -> bool {
    list.as_array().expect("a list").iter().any(|line| text(line).contains(words))
}

#[test]
fn a_damaged_file_is_not_declared_healthy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cut.pickle");
    let whole = std::fs::read(sample("compiled.pickle")).expect("the sample");
    std::fs::write(&path, &whole[..100_000]).expect("a file");
    let report = report_of(&path, &[]);
    let verdict = &report["findings"][0];
    assert_eq!(verdict["title"], "Cannot tell: the file is damaged; no request failed in what could be read");
    assert!(says(&verdict["limits"], "The file is damaged at byte"), "{verdict}");
    assert!(says(&verdict["limits"], "memory from before the recording is missing"), "{verdict}");
    let facts = &report["recording"]["facts"];
    assert!(text(&facts["recorded"]).contains("before the first event is unknown"), "{facts}");
    assert!(text(&facts["peaks"]).starts_with("at least "), "{facts}");
    let with_capacity = report_of(&path, &["--capacity", "8GiB"]);
    assert!(says(&with_capacity["findings"][0]["explanation"], "at most "), "{with_capacity}");
    assert!(text(&with_capacity["findings"][0]["title"]).starts_with("Cannot tell: "));
}

#[test]
fn a_recording_that_starts_late_is_healthy_only_as_far_as_it_goes() {
    let title = |name| text(&report(name, &[])["findings"][0]["title"]).to_owned();
    assert!(title("ring_overflow.pickle").starts_with("Recorded peak "));
    assert!(title("compiled.pickle").starts_with("Peak "));
}

#[test]
fn a_given_capacity_tells_what_was_left() {
    let verdict = |more: &[&str]| report("streams.pickle", more)["findings"][0].clone();
    let unknown = verdict(&[]);
    assert!(says(&unknown["limits"], "does not state the device's memory"));
    let roomy = verdict(&["--capacity", "80GiB"]);
    let reserved = roomy["evidence"]["peak_reserved_bytes"].as_i64().expect("bytes");
    assert_eq!(roomy["evidence"]["left_bytes"], (80 << 30) - reserved);
    assert!(!says(&roomy["limits"], "does not state the device's memory"));
    assert_eq!(roomy["severity"], "info");
    let tight = verdict(&["--capacity", "3GiB"]);
    assert_eq!((&tight["id"], &tight["severity"]), (&"capacity".into(), &"warning".into()));
    assert_eq!(tight["evidence"]["over_capacity_bytes"], reserved - (3 << 30));
    let pinned = report("pinned_host.pickle", &["--device", "-1"]);
    assert!(!says(&pinned["findings"][0]["limits"], "device's memory"), "{pinned}");
}

#[test]
fn what_would_fit_without_holes_is_not_called_too_much() {
    let report = report("kv_cache_oom.pickle", &[]);
    let verdict = &report["findings"][0];
    assert_eq!(verdict["id"], "capacity");
    let title = text(&verdict["title"]);
    assert!(title.ends_with("560 MiB below generate.py:18; 144 MiB more do not fit"), "{title}");
    assert!(!text(&verdict["why"]).contains("exceed"), "{}", verdict["why"]);
    assert!(verdict["evidence"]["room_bytes"].as_i64().is_some_and(|room| 0 < room));
}

#[test]
fn a_failure_at_another_moment_is_named() {
    let at_oom = report("gpt_oom_forward.pickle", &[]);
    let event = at_oom["findings"][0]["evidence"]["event"].as_u64().expect("an event");
    let before = (event - 8).to_string();
    let report = report("gpt_oom_forward.pickle", &["--at", &before]);
    let verdict = &report["findings"][0];
    let title = text(&verdict["title"]);
    assert!(title.contains(" fail 8 events later, at event "), "{title}");
    assert_eq!(verdict["evidence"]["oom_event"], event);
    assert!(verdict["evidence"]["events"].as_array().is_some_and(|events| events.contains(&event.into())));
    // Its advice leads to the verdict about the failure.
    let code = text(&verdict["advice"][0]["code"]);
    let at = code.rsplit(' ').next().expect("a word");
    let led = report_of(&sample("gpt_oom_forward.pickle"), &["--at", at]);
    assert_eq!(led["findings"][0]["title"], at_oom["findings"][0]["title"]);
}

#[test]
fn what_waits_for_a_stream_is_no_activation() {
    let report = report("streams.pickle", &[]);
    let waiting = finding(&report, "record-stream").expect("blocks wait");
    let activations = finding(&report, "activations").expect("activations");
    let bytes = activations["evidence"]["activation_bytes"].as_i64().expect("bytes");
    assert!(0 < bytes && bytes < report["findings"][0]["evidence"]["active_bytes"].as_i64().expect("bytes"));
    assert!(says(&activations["explanation"], "were given back and wait for a stream"));
    let addresses = |finding: &Value| {
        let list = finding["evidence"]["allocations"].as_array().cloned().unwrap_or_default();
        list.iter().map(|a| a["addr"].clone()).collect::<Vec<_>>()
    };
    let awaiting = addresses(waiting);
    assert!(!awaiting.is_empty() && addresses(activations).iter().all(|addr| !awaiting.contains(addr)));
    let path = sample("streams.pickle").to_string_lossy().into_owned();
    let markdown = stdout(["report", "--format", "markdown", &path]);
    let part = markdown.split("### ").find(|part| part.contains("wait for another stream")).expect("it");
    assert!(part.contains("Stack of 786 MiB"), "{part}");
}

#[test]
fn what_nobody_asked_for_has_lines_of_code() {
    let report = report("pools.pickle", &[]);
    let rounding = finding(&report, "rounding").expect("rounding");
    assert_eq!(
        rounding["explanation"][0],
        "3 blocks of private pools take 60.0 MiB for 9.00 MiB that were requested: their pool did not split its blocks."
    );
    let first = &rounding["evidence"]["sites"][0];
    assert_eq!((&first["line"], &first["role"]), (&88.into(), &"rounding".into()));
    assert_eq!(first["bytes"], 51 << 20);
    assert_eq!(rounding["evidence"]["stacks"][0]["bytes"], 51 << 20);
    let pools = finding(&report, "private-pools").expect("pools");
    assert!(pools["evidence"]["sites"].as_array().is_some_and(|sites| !sites.is_empty()));
}

#[test]
fn what_has_no_line_comes_first_where_it_is_most() {
    let oom = report("gpt_oom_forward.pickle", &[]);
    let title = text(&finding(&oom, "top-contributors").expect("a finding")["title"]).to_owned();
    assert!(title.starts_with("Largest line of code: "), "{title}");
    let Some(folder) = support::shared("real") else {
        return support::skipped("lines of packages: the folder is missing");
    };
    let real = report_of(&folder.join("lm_medium_ctx512_training.pickle"), &[]);
    let found = finding(&real, "top-contributors").expect("a finding");
    let title = text(&found["title"]);
    assert!(title.contains("have no line of your own code; the largest line is model.py:39"), "{title}");
    assert!(says(&found["explanation"], "Lines overlap"), "{found}");
    let sites: Vec<&Value> =
        found["evidence"]["sites"].as_array().expect("sites").iter().map(|site| &site["name"]).collect();
    assert_eq!(sites[..2], ["forward", "einsum"]);
}

#[test]
fn one_call_records_all_that_is_missing() {
    let codes = |report: &Value| {
        let found = finding(report, "recording-limits").expect("limits");
        found["advice"]
            .as_array()
            .expect("advice")
            .iter()
            .map(|a| text(&a["code"]).to_owned())
            .collect::<Vec<_>>()
    };
    let late = codes(&report("ring_overflow.pickle", &[]));
    assert_eq!(late.len(), 1, "{late:?}");
    let Some(folder) = support::shared("real") else {
        return support::skipped("recordings of others: the folder is missing");
    };
    let state = codes(&report_of(&folder.join("state_only.pickle"), &[]));
    assert_eq!(state, ["torch.cuda.memory._record_memory_history(max_entries=1_000_000)"]);
    let late = codes(&report_of(&folder.join("lm_medium_ctx512_training.pickle"), &[]));
    assert_eq!(late.len(), 1, "{late:?}");
}

#[test]
fn a_recording_that_contradicts_itself_is_not_trusted() {
    let Some(folder) = support::shared("real") else {
        return support::skipped("a recording that contradicts itself: the folder is missing");
    };
    let report = report_of(&folder.join("mosaic_output.pickle"), &[]);
    let limits = finding(&report, "recording-limits").expect("limits");
    assert!(says(&limits["explanation"], "2.10 GiB in use against 250 MiB reserved"), "{limits}");
    for id in ["pinned-segments", "rounding"] {
        assert!(finding(&report, id).is_none(), "{id}");
    }
    let sound = report_of(&folder.join("lm_medium_ctx512_training.pickle"), &[]);
    assert!(!says(&finding(&sound, "recording-limits").expect("limits")["explanation"], "contradicts"));
}

/// A file with the text of an exception, beside what keeps its folder.
fn message(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("job.log");
    std::fs::write(&path, text).expect("a file");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn the_text_of_the_exception_accounts_for_the_whole_device() {
    let truth = std::fs::read_to_string(sample("gpt_oom_forward.truth.json")).expect("the truth");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let (_folder, path) = message(&format!("step 1\nTraceback …\n{}", text(&truth["oom"]["message"])));
    let report = report("gpt_oom_forward.pickle", &["--message", &path]);
    let account = finding(&report, "device-account").expect("the account");
    let bytes = |key: &str| account["evidence"][key].as_i64().unwrap_or(0);
    assert_eq!(bytes("device_memory_bytes"), 24 << 30);
    assert_eq!(
        bytes("account_pytorch_bytes"),
        report["findings"][0]["evidence"]["reserved_bytes"].as_i64().expect("bytes")
    );
    let sum: i64 = ["pytorch", "process", "others", "free", "rest"]
        .iter()
        .map(|part| bytes(&format!("account_{part}_bytes")))
        .sum();
    assert!((sum - (24i64 << 30)).abs() < 64 << 20, "the parts are the whole: {sum}");
    assert!(bytes("account_process_bytes") < 1 << 30, "a context: {account}");
}

#[test]
fn a_message_picks_its_device_and_its_failure() {
    let truth = std::fs::read_to_string(sample("two_devices_oom.truth.json")).expect("the truth");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let (_folder, path) = message(text(&truth["oom"]["message"]));
    let report = report("two_devices_oom.pickle", &["--message", &path]);
    assert_eq!(report["device"], 1);
    assert!(finding(&report, "device-account").is_some());
}

#[test]
fn a_message_of_another_failure_is_said_to_be_one() {
    let (_folder, path) = message(
        "CUDA out of memory. Tried to allocate 5.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.",
    );
    let report = report("gpt_oom_forward.pickle", &["--message", &path]);
    let account = finding(&report, "device-account").expect("the finding");
    assert_eq!(account["title"], "The message is about another failure than this report");
    let (_folder, path) = message("all went well");
    let output =
        support::run(["report", &sample("gpt_oom_forward.pickle").to_string_lossy(), "--message", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no out-of-memory exception of PyTorch"));
}

#[test]
fn a_failure_says_what_the_other_devices_held() {
    let report = report("two_devices_oom.pickle", &[]);
    let others = finding(&report, "other-devices").expect("the finding");
    let path = sample("two_devices_oom.pickle");
    let stats = support::json(["stats", &path.to_string_lossy(), "--format", "json"]);
    // Device 0 has no event after the failure of device 1.
    assert_eq!(stats[0]["device"], 0);
    assert_eq!(others["evidence"]["most_active_bytes"], stats[0]["final"]["active"]);
    assert!(text(&others["advice"][0]["text"]).contains("device_map"), "{others}");
}

#[test]
fn memory_that_need_not_be_there_leads_the_advice() {
    let cases = [
        ("copy_ema", "second-model", "second model"),
        ("copy_checkpoint", "same-parameters-twice", "Load to the CPU"),
        ("copy_best", "same-parameters-twice", "on the CPU"),
        ("stages", "unused-optimizer-state", "before the next stage"),
        ("two_goals", "two-optimizers", "one optimizer"),
        ("meta_tasks", "calls-before-backward", "backward pass after each call"),
        ("micro_losses", "calls-before-backward", "backward pass after each call"),
        ("teacher_graph", "two-graphs", "not trained"),
        ("gradients_kept", "gradients-not-zeroed", "Free them"),
        ("eval_with_graph", "evaluation-graph", "without gradients"),
        ("batches_ahead", "prefetched-batches", "when it is used"),
        ("long_inputs", "attention-scores", "fused operator"),
    ];
    for (name, id, advice) in cases {
        let report = report(&format!("{name}.pickle.gz"), &[]);
        let found = finding(&report, id).unwrap_or_else(|| panic!("{name} has no {id}"));
        assert_eq!(found["severity"], "warning", "{name}");
        let verdict = &report["findings"][0];
        assert_eq!(verdict["id"], "capacity", "{name}");
        assert!(text(&verdict["advice"][0]["text"]).contains(advice), "{name}: {}", verdict["advice"][0]);
        let (title, what) = (text(&verdict["title"]), text(&found["title"]));
        assert!(title.to_lowercase().contains(&what.to_lowercase()), "{name}: {title}");
    }
}

#[test]
fn each_kind_of_leak_has_its_own_remedy() {
    let cases = [
        ("leak_eval_losses.pickle", "Evaluate without a graph"),
        ("leak_state.pickle.gz", "Cut the graph where one iteration hands its state to the next"),
        ("leak_attempts.pickle.gz", "Let the failed call end before the next attempt"),
        ("leak_optimizers.pickle.gz", "Keep one optimizer"),
        ("leak_probe.pickle.gz", "gradients of gradients"),
        ("leak_caches_ring.pickle.gz", "Let each cache go with its request"),
        ("leak_metric_ring.pickle.gz", "Keep batches on the CPU"),
    ];
    for (name, advice) in cases {
        let report = report(name, &[]);
        let verdict = &report["findings"][0];
        assert_eq!(verdict["id"], "leak", "{name}");
        assert!(text(&verdict["advice"][0]["text"]).contains(advice), "{name}: {}", verdict["advice"][0]);
    }
}

#[test]
fn a_limit_on_the_process_is_told_from_a_full_device() {
    let report = report("process_limit.pickle.gz", &[]);
    let verdict = &report["findings"][0];
    assert_eq!(verdict["id"], "capacity");
    assert!(text(&verdict["title"]).ends_with("exceed the limit on this process"), "{verdict}");
    assert!(text(&verdict["why"]).starts_with("The device had 6.02 GiB free"), "{verdict}");
    let advice = &verdict["advice"][0];
    assert!(text(&advice["code"]).contains("set_per_process_memory_fraction"), "{advice}");
}

/// The table of the findings, as the documentation has it.
fn table() -> String {
    let mut out = String::from("| finding | needed | remedies | says |\n| --- | --- | --- | --- |\n");
    for kind in FINDINGS {
        let needed = match kind.need {
            Need::Open => "–",
            Need::AsWritten => "as written",
            Need::Nothing => "no",
        };
        let remedies: Vec<String> = kind.remedies.iter().map(|id| format!("`{id}`")).collect();
        let remedies = if remedies.is_empty() { "–".to_owned() } else { remedies.join(", ") };
        let (name, section, says) = (kind.name, kind.section, kind.says);
        writeln!(out, "| [`{name}`](#{section}) | {needed} | {remedies} | {says} |")
            .expect("text takes everything");
    }
    out
}

#[test]
fn the_documentation_lists_the_findings_as_they_are() {
    const MARK: &str = "<!-- findings -->\n";
    const NEXT: &str = "\n## The page\n";
    let file = root().join("docs/report.md");
    let text = std::fs::read_to_string(&file).expect("the documentation is there");
    let (before, rest) = text.split_once(MARK).expect("a mark before the table");
    let (listed, after) = rest.split_once(NEXT).expect("the section after the table");
    if std::env::var_os("OOMSCOPE_WRITE_GOLDEN").is_some() {
        let written = format!("{before}{MARK}\n{}{NEXT}{after}", table());
        return std::fs::write(&file, written).expect("it can be written");
    }
    assert_eq!(listed.trim_start(), table());
    // What the section says more must name the finding.
    for kind in FINDINGS {
        let heading =
            |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-") == kind.section;
        let section = text.lines().skip_while(|line| !line.starts_with('#') || !heading(line)).skip(1);
        let mut lines = section.take_while(|line| !line.starts_with('#'));
        assert!(lines.any(|line| line.contains(&format!("`{}`", kind.name))), "{}", kind.name);
    }
}

#[test]
fn the_temporaries_of_a_step_are_not_said_to_depend_on_the_batch() {
    let report = report("copy_best.pickle.gz", &["--no-remedies"]);
    assert_eq!(report["moment"]["phase"], "optimizer");
    let breakdown = finding(&report, "breakdown").expect("a breakdown");
    assert!(says(&breakdown["explanation"], " are temporaries of the optimizer's step"), "{breakdown}");
    let all = report.to_string();
    assert!(!all.contains("depend on the batch"), "{all}");
}
