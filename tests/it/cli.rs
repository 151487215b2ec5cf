//! The program as a user and a script see it.

use crate::support::{has_window, json, oomscope, run, run_with_input, sample, stdout};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

/// A file with this content, and the folder that keeps it.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("the file can be written");
    (folder, path)
}

/// Standard error of a run that must fail with exit code 1: one line, a hint, nothing on standard output.
fn failure(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(lines[0].starts_with("oomscope: "), "{errors}");
    assert!(lines[1].starts_with("  hint: ") && 15 < lines[1].len(), "{errors}");
    errors
}

/// What `stats` says about a file that it cannot use.
fn refusal(name: &str, content: &[u8]) -> String {
    let (_folder, path) = file(name, content);
    let errors = failure(&run([Path::new("stats"), &path]));
    assert!(errors.contains(name), "{errors}");
    errors
}

#[test]
fn help_has_examples() {
    for args in [&["--help"][..], &["stats", "--help"], &["live", "--help"], &["render", "--help"]] {
        let help = stdout(args);
        assert!(help.contains("Examples:\n  oomscope "), "{help}");
        assert!(help.contains("Usage: oomscope"), "{help}");
    }
    assert!(stdout(["--version"]).starts_with("oomscope "));
}

#[test]
fn shells_complete_all_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(["completions", shell]);
        for word in ["simulate", "--format", "completions"] {
            assert!(script.contains(word.trim_start_matches("--")), "{shell}: {word}");
        }
    }
    assert_eq!(run(["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn wrong_usage_ends_with_2() {
    let sample = path("pools.pickle");
    let wrong: [&[&str]; 8] = [
        &["stats"],
        &["live"],
        &["stats", &sample, "--format", "yaml"],
        &["live", &sample, "--at", "noon"],
        &["live", &sample, "--at", "-1"],
        &["live", &sample, "--top", "many"],
        &["live", &sample, "--filter", "sise>1"],
        &["live", &sample, "--nonsense"],
    ];
    for args in wrong {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let errors = failure(&run(["stats", "no/such.pickle"]));
    assert!(errors.contains("no/such.pickle") && errors.contains("check the path"), "{errors}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let errors = failure(&run([Path::new("stats"), folder.path()]));
    assert!(errors.contains("directory"), "{errors}");
    let errors = failure(&run(["live", "no/such.pickle"]));
    assert!(errors.contains("no/such.pickle"), "{errors}");
}

#[test]
fn a_file_of_another_kind_is_recognised() {
    assert!(refusal("empty.pickle", b"").contains("is empty"));
    assert!(refusal("a.json", b"{\"a\": []}\n").contains("found a dict with the keys 'a'"));
    assert!(refusal("a.json", b" [{\"a\": []}]\n").contains("found a list of something else"));
    assert!(refusal("a.json", b" {\"a\" []}\n").contains("before byte 6: the JSON is damaged: expected `:`"));
    assert!(refusal("model.pt", b"PK\x03\x04\x00\x00").contains("zip archive"));
    assert!(refusal("page.html", b"<!DOCTYPE html><p>Hello</p>").contains("without a snapshot"));
    let errors = refusal("notes.txt", b"Dear diary, today the GPU was full.\n");
    assert!(errors.contains("at byte ") || errors.contains("before byte "), "{errors}");
    let errors = refusal("zeros", &[0; 1000]);
    assert!(errors.contains("byte 0") && errors.contains("0x00"), "{errors}");
}

#[test]
fn a_pickle_of_something_else_says_what_it_found() {
    let errors =
        refusal("weights.pickle", b"\x80\x02}q\x00(X\x05\x00\x00\x00epochK\x03X\x04\x00\x00\x00lossK\x07u.");
    assert!(
        errors.contains("'segments'") && errors.contains("'epoch'") && errors.contains("'loss'"),
        "{errors}"
    );
    assert!(refusal("int.pickle", b"\x80\x02K\x07.").contains("an int"));
    assert!(refusal("list.pickle", b"\x80\x02](K\x07K\x08e.").contains("a list of something else"));
    assert!(refusal("dict.pickle", b"\x80\x02}.").contains("an empty dict"));
}

#[test]
fn a_pickle_that_wants_to_run_code_is_refused_with_opcode_and_offset() {
    let errors = refusal("evil.pickle", b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.");
    assert!(errors.contains("GLOBAL") && errors.contains("byte 2"), "{errors}");
    assert!(errors.contains("never"), "{errors}");
    // Also behind data that looks like a snapshot.
    let late = b"\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x0ddevice_traces\x94]\x94\x8c\x01x\x8c\x02os\x8c\x06system\x93)Ru.";
    let at = late.iter().position(|&byte| byte == 0x93).expect("the opcode is there");
    let errors = refusal("late.pickle", late);
    assert!(errors.contains("STACK_GLOBAL") && errors.contains(&format!("byte {at}")), "{errors}");
    let errors = refusal("reduce.pickle", b"\x80\x02)R.");
    assert!(errors.contains("REDUCE") && errors.contains("byte 3"), "{errors}");
}

#[test]
fn standard_input_is_a_file_too() {
    let content = std::fs::read(sample("two_devices_oom.pickle")).expect("the sample can be read");
    let output = run_with_input(&["stats", "-", "--format", "json"], &content);
    assert_eq!(output.status.code(), Some(0));
    let mut from_pipe: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut from_file = json(["stats", &path("two_devices_oom.pickle"), "--format", "json"]);
    for records in [&mut from_pipe, &mut from_file] {
        for record in records.as_array_mut().expect("an array") {
            record["file"] = Value::Null;
        }
    }
    assert_eq!(from_pipe, from_file);
    assert!(failure(&run_with_input(&["stats", "-"], b"")).contains("standard input is empty"));
}

#[test]
fn stats_text_is_short_and_names_the_oom() {
    let text = stdout(["stats", &path("gpt_oom_forward.pickle")]);
    assert!(text.lines().count() < 25, "{text}");
    for part in ["device 0", "peak active", "reserved", "OOM", "model.py:55"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

fn live(args: &[&str]) -> Vec<Value> {
    let Value::Array(rows) = json([&["live"], args, &["--format", "json"]].concat()) else {
        panic!("an array")
    };
    rows
}

fn sum(rows: &[Value]) -> i64 {
    rows.iter().map(|row| row["size"].as_i64().expect("a size")).sum()
}

#[test]
fn live_rows_have_exactly_the_documented_keys_and_are_sorted() {
    let rows = live(&[&path("gpt_oom_forward.pickle"), "--at", "oom"]);
    assert!(!rows.is_empty());
    for row in &rows {
        let mut keys: Vec<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            [
                "addr",
                "alloc_event",
                "alloc_time_us",
                "basis",
                "because",
                "category",
                "damage",
                "device",
                "frames_left_out",
                "named",
                "pool",
                "predicted",
                "rule",
                "schema",
                "size",
                "stack",
                "stream",
                "trust",
                "version"
            ]
        );
        assert!(row["addr"].as_str().expect("text").starts_with("0x"));
        assert_eq!(row["pool"], serde_json::json!([0, 0]));
        for frame in row["stack"].as_array().expect("a stack") {
            let mut keys: Vec<&str> =
                frame.as_object().expect("an object").keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(keys, ["file", "line", "name"]);
        }
    }
    let sizes: Vec<i64> = rows.iter().map(|row| row["size"].as_i64().expect("a size")).collect();
    assert!(sizes.is_sorted_by(|a, b| b <= a));
    let deep = rows.iter().filter_map(|row| row["stack"].as_array()).any(|stack| {
        let innermost = stack.iter().position(|f| f["name"] == "attention" || f["name"] == "forward");
        innermost.is_some_and(|i| i + 1 < stack.len())
    });
    assert!(deep, "stacks are innermost first and whole");
}

#[test]
fn live_sizes_add_up_to_the_active_bytes() {
    for name in
        ["gpt_oom_forward", "frag_oom", "streams", "ring_overflow", "leak_eval_losses", "kv_cache_oom"]
    {
        let path = path(&format!("{name}.pickle"));
        let stats = json(["stats", &path, "--format", "json"]);
        let peak = &stats[0]["peak"];
        let rows = live(&[&path]);
        assert_eq!(sum(&rows), peak["active"].as_i64().expect("bytes"), "{name} at the peak");
        assert_eq!(rows.len() as u64, peak["live_blocks"].as_u64().expect("a count"), "{name} at the peak");
        let top: Vec<&Value> = rows.iter().take(10).map(|row| &row["size"]).collect();
        let listed: Vec<&Value> =
            peak["top"].as_array().expect("a list").iter().map(|row| &row["size"]).collect();
        assert_eq!(top, listed, "{name} at the peak");
        let at_peak = peak["active_index"].to_string();
        assert_eq!(live(&[&path, "--at", &at_peak]), rows, "{name} at the peak's event");
        assert_eq!(sum(&live(&[&path, "--at", "end"])), stats[0]["final"]["active"].as_i64().expect("bytes"));
    }
}

/// Active bytes after each event of the first device, by undoing the events from the end.
fn active_bytes(name: &str) -> Vec<i64> {
    use oomscope_snapshot::load::{Input, Progress, load};
    let snapshot = load(&Input::File(sample(name)), &Progress::default()).expect("the sample loads");
    let timeline = &snapshot.timelines[0];
    let moments = (0..timeline.moments() as u32).map(oomscope_model::Moment);
    moments.map(|moment| timeline.active.at(moment).0).collect()
}

#[test]
fn live_after_any_event_adds_up() {
    let active = active_bytes("streams.pickle");
    for event in [0, 1, 7, active.len() / 3, active.len() / 2, active.len() - 2] {
        let rows = live(&[&path("streams.pickle"), "--at", &event.to_string()]);
        assert_eq!(sum(&rows), active[event + 1], "after event {event}");
        let later = rows
            .iter()
            .filter_map(|row| row["alloc_event"].as_u64())
            .filter(|&alloc| event as u64 * 2 < alloc);
        assert_eq!(later.count(), 0);
    }
    let past_the_end = (active.len() - 1).to_string();
    let errors = failure(&run(["live", &path("streams.pickle"), "--at", &past_the_end]));
    assert!(errors.contains(&past_the_end), "{errors}");
}

#[test]
fn a_moment_that_a_file_does_not_have_is_an_error() {
    let errors = failure(&run(["live", &path("pools.pickle"), "--at", "oom"]));
    assert!(errors.contains("no out-of-memory event"), "{errors}");
}

#[test]
fn devices_can_be_picked() {
    let two = path("two_devices_oom.pickle");
    let stats = json(["stats", &two, "--format", "json"]);
    for device in [0, 1] {
        let rows = live(&[&two, "--device", &device.to_string()]);
        assert!(rows.iter().all(|row| row["device"] == device));
        assert_eq!(sum(&rows), stats[device]["peak"]["active"].as_i64().expect("bytes"));
    }
    let all = live(&[&two]);
    let of_both: i64 =
        [0, 1].iter().map(|&i: &usize| stats[i]["peak"]["active"].as_i64().expect("bytes")).sum();
    assert_eq!(sum(&all), of_both);
    // Only one of them ran out of memory.
    let at_oom = live(&[&two, "--at", "oom"]);
    assert!(!at_oom.is_empty() && at_oom.iter().all(|row| row["device"] == 1));
    let host = live(&[&path("pinned_host.pickle"), "--device", "-1"]);
    assert!(!host.is_empty() && host.iter().all(|row| row["device"] == -1));
    let errors = failure(&run(["live", &two, "--device", "5"]));
    assert!(errors.contains("device 5") && errors.contains("0, 1"), "{errors}");
    let errors = failure(&run(["live", &two, "--at", "3"]));
    assert!(errors.contains("--device"), "{errors}");
}

#[test]
fn top_keeps_the_largest() {
    let sample = path("frag_oom.pickle");
    let all = live(&[&sample]);
    assert_eq!(live(&[&sample, "--top", "5"]), all[..5]);
    assert_eq!(live(&[&sample, "--top", "0"]), Vec::<Value>::new());
    assert_eq!(live(&[&sample, "--top", "1000000"]), all);
    let text = stdout(["live", &sample, "--top", "5"]);
    assert_eq!(text.lines().count(), 1 + 1 + 5, "{text}");
}

#[test]
fn licences_of_what_is_inside_are_printed() {
    let text = stdout(["licenses"]);
    for part in [
        "Permission is hereby granted",
        "SIL OPEN FONT LICENSE",
        "COMMON DEVELOPMENT AND DISTRIBUTION",
        "inferno",
    ] {
        assert!(text.to_uppercase().contains(&part.to_uppercase()), "no {part:?}");
    }
}

#[test]
fn frames_are_limited_and_what_is_left_out_is_counted() {
    let sample = path("gpt_oom_forward.pickle");
    let all = live(&[&sample, "--frames", "100000"]);
    let few = live(&[&sample, "--frames", "2"]);
    let frames = |row: &Value| row["stack"].as_array().expect("a stack").clone();
    let left_out = |row: &Value| row["frames_left_out"].as_u64().expect("a count") as usize;
    assert!(all.iter().any(|row| 3 < frames(row).len()));
    for (all, few) in all.iter().zip(&few) {
        assert_eq!(left_out(all), 0);
        assert_eq!(frames(few)[..], frames(all)[..frames(all).len().min(2)]);
        assert_eq!(frames(few).len() + left_out(few), frames(all).len());
    }
    let text = stdout(["live", &sample, "--frames", "2", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for (record, row) in reader.records().map(|record| record.expect("a row")).zip(&few) {
        assert_eq!(record[12].split(" < ").filter(|frame| !frame.is_empty()).count(), frames(row).len());
        assert_eq!(record[13], left_out(row).to_string());
    }
}

#[test]
fn json_shows_nothing_that_a_terminal_would_obey() {
    use crate::pickles::{dict, event, frame, list, pickle, segment, snapshot, text, with};
    let hostile = "a\u{7f}\u{9b}31m\u{202e}\u{2066}b";
    let stack = list([frame(hostile, 1, hostile)]);
    let alloc = with(&event("alloc", 1 << 20, 512), [("frames", stack)]);
    let freed = event("free_completed", 1 << 20, 512);
    let content = snapshot([segment(0, 1 << 20, 1 << 20, [])], [list([alloc, freed])]);
    let content =
        with(&content, [(hostile, dict([])), ("allocator_settings", dict([(hostile, text(hostile))]))]);
    let (_folder, path) = file("hostile.pickle", &pickle(&content));
    let path = path.to_string_lossy();
    for args in [
        &["live", &path, "--format", "json"][..],
        &["stats", &path, "--format", "json"],
        &["report", &path, "--format", "json"],
        &["simulate", &path, "--format", "json"],
    ] {
        let text = stdout(args);
        assert!(!text.chars().any(|c| c != '\n' && oomscope_units::is_unprintable(c)), "{args:?}: {text}");
    }
    assert_eq!(live(&[&path])[0]["stack"][0]["file"], hostile);
}

#[test]
fn csv_has_a_header_and_a_row_per_allocation() {
    let sample = path("gpt_oom_forward.pickle");
    let rows = live(&[&sample, "--at", "end"]);
    let text = stdout(["live", &sample, "--at", "end", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let expected = [
        "device",
        "addr",
        "size",
        "stream",
        "pool",
        "alloc_event",
        "alloc_time_us",
        "age_us",
        "category",
        "rule",
        "basis",
        "because",
        "stack",
        "frames_left_out",
        "name",
    ];
    assert_eq!(header.iter().collect::<Vec<_>>(), expected);
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().expect("rows of equal length");
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        assert_eq!(Some(&record[1]), row["addr"].as_str());
        assert_eq!(record[2], row["size"].to_string());
    }
}

#[test]
fn a_state_without_history_has_stacks_and_no_events() {
    let rows = live(&[&path("history_state_only.pickle")]);
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["alloc_event"].is_null() && row["alloc_time_us"].is_null()));
    assert!(rows.iter().any(|row| row["stack"].as_array().is_some_and(|stack| !stack.is_empty())));
}

#[test]
fn a_pipe_that_closes_early_is_no_error() {
    let sample = path("leak_eval_losses.pickle");
    for args in [
        &["live", &sample, "--format", "json"][..],
        &["live", &sample, "--format", "csv"],
        &["stats", &sample, &sample, &sample, &sample, "--format", "json"],
    ] {
        let mut child = oomscope()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::with_capacity(16, child.stdout.take().expect("standard output is piped"));
        let mut first = String::new();
        lines.read_line(&mut first).expect("a first line");
        drop(lines);
        let mut errors = String::new();
        child.stderr.take().expect("standard error is piped").read_to_string(&mut errors).expect("text");
        let status = child.wait().expect("the program ends");
        assert!(!first.is_empty());
        assert_eq!((status.code(), errors.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_misspelt_command_is_no_file() {
    let file = path("frag_oom.pickle");
    for (args, meant) in [
        (&["repot", &file][..], "report"),
        (&["repot"], "report"),
        (&["Stat", &file, "--capacity", "80GiB"], "stats"),
        (&["hlep"], "help"),
        (&["--capacity", "80GiB", "rnaks", &file], "ranks"),
    ] {
        let output = run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{args:?}: {errors}"
        );
        assert!(errors.contains(&format!("did you mean '{meant}'?")), "{args:?}: {errors}");
    }
    // A file may be called anything.
    let recording = std::fs::read(&file).expect("the sample can be read");
    let (_folder, repot) = self::file("repot", &recording);
    let folder = repot.parent().expect("its folder");
    let output = oomscope().arg("repot").current_dir(folder).output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("did you mean"), "{errors}");
    let output = run(["nothing-like-it"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_option_before_the_command_says_where_it_belongs() {
    let sample = path("frag_oom.pickle");
    let output = run(["--max-memory", "8GiB", "stats", &sample]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("options come after the command: oomscope stats …"), "{errors}");
    assert_eq!(run(["stats", "--max-memory", "8GiB", &sample]).status.code(), Some(0));
}

#[test]
fn a_part_is_compressed_by_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [plain, packed] =
        ["a.pickle", "a.pickle.gz"].map(|name| folder.path().join(name).display().to_string());
    for out in [&plain, &packed] {
        let cut = run(["cut", &path("frag_oom.pickle"), "--range", "0..500", "-o", out]);
        assert_eq!(cut.status.code(), Some(0), "{}", String::from_utf8_lossy(&cut.stderr));
    }
    let bytes = |file: &str| std::fs::read(file).expect("it is written");
    assert!(bytes(&packed).starts_with(&[0x1f, 0x8b]) && bytes(&packed).len() < bytes(&plain).len() / 2);
    let peak = |file: &str| json(["stats", file, "--format", "json"])[0]["peak"].clone();
    assert_eq!(peak(&packed), peak(&plain));
}

#[test]
fn colors_are_for_terminals_unless_they_are_wanted() {
    let sample = path("frag_oom.pickle");
    let has_color = |output: &std::process::Output| output.stdout.contains(&0x1b);
    assert!(!has_color(&run(["report", &sample])));
    assert!(!has_color(&run(["report", &sample, "--color", "never"])));
    let colored = run(["report", &sample, "--color", "always"]);
    assert!(has_color(&colored));
    // Without them it is the same text.
    let plain = stdout(["report", &sample]);
    let text = String::from_utf8_lossy(&colored.stdout).into_owned();
    let stripped: String = text
        .split('\u{1b}')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) })
        .collect();
    assert_eq!(stripped, plain);
    // A file has none.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("report.txt");
    let output = run(["report", &sample, "--color", "always", "-o", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&file).expect("it is written"), plain);
}

#[test]
fn a_value_that_is_not_on_the_list_is_an_error_that_names_the_list() {
    let file = path("frag_oom.pickle");
    for (option, value, list, meant) in [
        ("--filter", "category:actvation", "parameter, gradient, optimizer_state", "activation"),
        ("--filter", "basis:infered", "declared, seen, followed", "inferred"),
        ("--filter", "phase:forwrd", "init, data, forward", "forward"),
        ("--filter", "rule:modul-call", "docs/attribution.md", "module-call"),
        ("--filter", "pool:privat", "private, default", "private"),
        ("--filter", "live:peek", "peak, oom or end", "peak"),
        ("--at", "peek", "peak, oom, end", "peak"),
        ("--at", "peak-of:phase:evl", "init, data, forward", "eval"),
        ("--format", "jsno", "text, json, csv", "json"),
    ] {
        let output = run(["live", &file, option, value]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{value}: {errors}");
        assert!(errors.contains(list) && errors.contains(meant), "{value}: {errors}");
    }
    let output = run(["simulate", &file, "--set", "expandable_segment:True"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("did you mean expandable_segments?"), "{errors}");
    let output = run(["fixes", &file, "--only", "zero-grad-non"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("did you mean zero-grad-none?"), "{errors}");
}

#[test]
fn without_a_display_the_report_is_printed() {
    let output = run([path("gpt_oom_forward.pickle")]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let reason = if has_window() { "no display" } else { "without its window" };
    assert!(errors.contains(reason), "{errors}");
    assert_eq!(text, stdout(["report", &path("gpt_oom_forward.pickle")]));
    let with_capacity = run([&path("gpt_oom_forward.pickle"), "--capacity", "80GiB"]);
    let expected = stdout(["report", &path("gpt_oom_forward.pickle"), "--capacity", "80GiB"]);
    assert_eq!(String::from_utf8_lossy(&with_capacity.stdout), expected);
    // Several, of which one cannot be read.
    let output = run([path("streams.pickle"), "no/such.pickle".to_owned(), path("pools.pickle")]);
    let each = ["streams.pickle", "pools.pickle"].map(|name| stdout(["report", &path(name)]));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\n\n{}", each[0], each[1]));
    assert_eq!(output.status.code(), Some(1));
    let output = run(["no/such.pickle"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{errors}");
    assert!(errors.contains("no/such.pickle") && errors.contains("hint: "), "{errors}");
}

#[test]
fn without_a_display_a_directory_stands_for_its_snapshots() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = ["a.pickle.gz", "b.pickle.gz"].map(|name| folder.path().join(name));
    for (name, from) in names.iter().zip(["compact.pickle.gz", "stages.pickle.gz"]) {
        std::fs::copy(path(from), name).expect("a temporary file");
    }
    std::fs::write(folder.path().join("notes.txt"), "no snapshot").expect("a temporary file");
    let output = run([folder.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("FILE") && lines[0].contains("VERDICT"), "{text}");
    for (line, name) in lines[1..].iter().zip(["a.pickle.gz", "b.pickle.gz"]) {
        let verdict = stdout(["report", &folder.path().join(name).display().to_string(), "--no-remedies"]);
        let title = verdict.lines().nth(1).expect("the verdict has a title");
        let begin: String = title.chars().take(20).collect();
        assert!(line.starts_with(name) && line.contains(&begin), "{line}\n{title}");
        assert!(line.chars().count() <= 80, "{line}");
    }
    let output = run([Path::new("stats"), folder.path()]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "a command wants files");
    assert!(errors.contains("is a directory") && errors.contains("hint: "), "{errors}");
}

#[test]
fn a_file_name_cannot_control_the_terminal() {
    let (_folder, path) = file("a\x1b[31mred.pickle", b"");
    let output = run([Path::new("stats"), &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!output.stderr.contains(&0x1b));
}

#[test]
fn live_lists_what_a_filter_lets_through() {
    let sample = path("gpt_oom_forward.pickle");
    let all = live(&[&sample, "--at", "oom"]);
    let size = |row: &Value| row["size"].as_i64().expect("bytes");
    let has_frame = |row: &Value, text: &str| {
        let frames = row["stack"].as_array().expect("frames").iter();
        frames.map(|frame| frame["file"].as_str().expect("a path")).any(|file| file.contains(text))
    };
    let large: Vec<Value> = all.iter().filter(|row| 100 << 20 < size(row)).cloned().collect();
    assert!(!large.is_empty() && large.len() < all.len());
    assert_eq!(live(&[&sample, "--at", "oom", "--filter", "size>100MB"]), large);
    let query = "-stack:model.py size<=100MB";
    let rest: Vec<Value> =
        all.iter().filter(|row| size(row) <= 100 << 20 && !has_frame(row, "model.py")).cloned().collect();
    assert!(!rest.is_empty());
    assert_eq!(live(&[&sample, "--at", "oom", "--filter", query]), rest);
    assert_eq!(live(&[&sample, "--at", "oom", "--filter", ""]), all);

    let text = stdout(["live", &sample, "--at", "oom", "--filter", "size>100MB"]);
    assert!(text.contains(&format!("in {} blocks", large.len())), "{text}");
    let output = run(["live", &sample, "--filter", "size>100MB sise>1"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("at \"sise\": there is no key \"sise\"; did you mean size?"), "{errors}");
}
