//! Iterations, phases, ranges and modules, as the whole program shows and filters them.

use crate::support::{self, json, pickles_in, root, run, sample, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The categories that are told by module.
const COLUMNS: [&str; 4] = ["parameter", "gradient", "optimizer_state", "activation"];

fn recordings() -> Vec<PathBuf> {
    let samples = pickles_in(&sample(""), false);
    samples.into_iter().chain(pickles_in(&root().join("tests/corpus"), false)).collect()
}

fn records(args: &[&str]) -> Vec<Value> {
    let found = json([&["stats", "--format", "json"], args].concat());
    found.as_array().expect("an array of devices").clone()
}

fn bytes(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// The rows add up to the categories, and each row with those below it to its own total.
fn assert_modules_add_up(modules: &Value, categories: &Value, place: &str) {
    let rows = modules["rows"].as_array().expect("rows");
    for column in COLUMNS {
        let own = |row: &Value| bytes(&row["own"][column]);
        let expected = bytes(&categories[column]);
        assert_eq!(rows.iter().map(own).sum::<i64>(), expected, "{column} of {place}");
        assert_eq!(bytes(&modules["total"][column]), expected, "{column} of {place}");
        for (at, row) in rows.iter().enumerate() {
            let depth = row["depth"].as_u64();
            let below = rows[at + 1..].iter().take_while(|below| depth < below["depth"].as_u64());
            let total = own(row) + below.map(own).sum::<i64>();
            assert_eq!(bytes(&row["with_submodules"][column]), total, "{column} of {row} in {place}");
            assert!(bytes(&row["own_inferred"][column]) <= own(row), "{column} of {row} in {place}");
            let by_call = row["activation_by_call"].as_array().expect("bytes by call");
            let of_calls: i64 = by_call.iter().map(bytes).sum();
            assert!(of_calls <= bytes(&row["with_submodules"]["activation"]), "{row} in {place}");
        }
    }
}

#[test]
fn modules_add_up_to_categories_in_every_recording() {
    let mut with_modules = 0;
    for path in recordings() {
        let path = path.to_string_lossy();
        for record in records(&[&path]) {
            let peak = &record["categories"]["peak"];
            assert_modules_add_up(&record["modules"], peak, &path);
            assert_eq!(record["modules"]["event"], record["peak"]["active_index"], "{path}");
            let rows = record["modules"]["rows"].as_array().expect("rows");
            with_modules += usize::from(rows.iter().any(|row| row["kind"] == "module"));
        }
        for record in records(&[&path, "--at", "end"]) {
            assert_modules_add_up(&record["modules"], &record["at"]["categories"], &path);
        }
    }
    assert!(50 < with_modules, "only {with_modules} recordings show modules");
}

/// A file's last part.
fn basename(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The innermost module of a stack, innermost frame first, and the line that calls it: what is right inside of the innermost
/// `Module.__call__`, and what is right outside of it.
fn module_of(stack: &[Value]) -> Option<(String, String)> {
    let is_call = |frame: &Value| {
        let name = frame["name"].as_str().unwrap_or_default();
        name.ends_with("_call_impl") && frame["file"].as_str().is_some_and(|file| file.ends_with("module.py"))
    };
    let inner = stack.iter().position(is_call)?;
    let callee = &stack[inner.checked_sub(1)?];
    let caller = stack[inner..].iter().find(|frame| !is_call(frame))?;
    let file = |frame: &Value| basename(frame["file"].as_str().unwrap_or_default()).to_owned();
    let name = callee["name"].as_str().unwrap_or_default();
    Some((format!("{} {name}", file(callee)), format!("{}:{}", file(caller), caller["line"])))
}

/// Samples whose modules no wrapper stands around.
const PLAIN: [&str; 6] = [
    "annotated.pickle",
    "frag_oom.pickle",
    "gpt_oom_forward.pickle",
    "ring_overflow.pickle",
    "streams.pickle",
    "validate_resident.pickle",
];

#[test]
fn activations_lie_in_the_modules_that_a_plain_reading_of_their_stacks_shows() {
    for name in PLAIN {
        let path = sample(name);
        let path = path.to_string_lossy();
        let args = ["live", &path, "--at", "peak", "--format", "json", "--frames", "999"];
        let listed = json([&args[..], &["--filter", "category:activation", "--device", "0"]].concat());
        let mut expected: BTreeMap<(String, String), i64> = BTreeMap::new();
        for allocation in listed.as_array().expect("allocations") {
            let stack = allocation["stack"].as_array().expect("a stack");
            if let Some(module) = module_of(stack) {
                *expected.entry(module).or_default() += bytes(&allocation["size"]);
            }
        }
        let mut found: BTreeMap<(String, String), i64> = BTreeMap::new();
        for row in records(&[&path])[0]["modules"]["rows"].as_array().expect("rows") {
            let own = bytes(&row["own"]["activation"]);
            if row["kind"] == "module" && own != 0 {
                let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
                *found.entry((text("module"), text("called_at"))).or_default() += own;
            }
        }
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn iterations_follow_on_each_other_and_peaks_of_ranges_are_theirs() {
    for path in pickles_in(&sample(""), false) {
        let path = path.to_string_lossy();
        for record in records(&[&path]) {
            let iterations = record["iterations"].as_array().expect("iterations");
            assert_eq!(record["structure"]["iterations"], iterations.len(), "{path}");
            for pair in iterations.windows(2) {
                assert_eq!(bytes(&pair[0]["last_event"]) + 1, bytes(&pair[1]["first_event"]), "{path}");
            }
            for iteration in iterations {
                let phases = iteration["phases"].as_array().expect("phases");
                let ends = [phases.first(), phases.last()].map(|phase| phase.expect("a phase"));
                assert_eq!(ends[0]["first_event"], iteration["first_event"], "{path}");
                assert_eq!(ends[1]["last_event"], iteration["last_event"], "{path}");
                assert!(bytes(&iteration["kept_bytes"]) <= bytes(&iteration["left_bytes"]), "{path}");
                let range = format!("peak-of:{}..{}", iteration["first_event"], iteration["last_event"]);
                let found = records(&[&path, "--at", &range]);
                let found = found.iter().find(|found| found["device"] == record["device"]);
                let at = &found.expect("the device")["at"];
                assert_eq!(at["event"], iteration["peak"]["event"], "{path} {range}");
                assert_eq!(at["active"], iteration["peak"]["bytes"], "{path} {range}");
            }
        }
    }
}

/// Requested bytes and number of what `live` lists.
fn live(path: &str, args: &[&str]) -> (i64, usize) {
    let listed = json([&["live", path, "--format", "json", "--frames", "0"], args].concat());
    let listed = listed.as_array().expect("allocations");
    (listed.iter().map(|allocation| bytes(&allocation["size"])).sum(), listed.len())
}

#[test]
fn what_an_iteration_left_is_what_the_filter_finds_at_its_end() {
    let path = sample("annotated.pickle");
    let path = path.to_string_lossy();
    let record = &records(&[&path])[0];
    for iteration in record["iterations"].as_array().expect("iterations") {
        let filter = format!("iteration:{}", iteration["iteration"]);
        let last = iteration["last_event"].to_string();
        assert_eq!(live(&path, &["--at", &last, "--filter", &filter]).0, bytes(&iteration["left_bytes"]));
        assert_eq!(live(&path, &["--at", "end", "--filter", &filter]).0, bytes(&iteration["kept_bytes"]));
        let phases = iteration["phases"].as_array().expect("phases");
        let by_phase = phases.iter().map(|phase| {
            let key = phase["phase"].as_str().unwrap_or_default();
            live(&path, &["--at", &last, "--filter", &format!("{filter} phase:{key}")]).0
        });
        assert_eq!(by_phase.sum::<i64>(), bytes(&iteration["left_bytes"]));
    }
}

#[test]
fn ranges_of_the_program_are_found_by_their_names() {
    let path = sample("annotated.pickle");
    let path = path.to_string_lossy();
    // Counted in plain Python over the unpickled file: allocations whose time lies within such an annotation.
    for (filter, allocations) in [
        ("range:\"## forward ##\"", 255),
        ("range:BACKWARD", 372),
        ("range:zero_grad", 0),
        ("range:forward|backward", 627),
        ("range:nothing", 0),
    ] {
        let found = records(&[&path, "--filter", filter]);
        assert_eq!(found[0]["filter"]["allocations"], allocations, "{filter}");
    }
    let at = records(&[&path, "--at", "peak-of:backward"])[0]["at"].clone();
    assert_eq!((bytes(&at["event"]), bytes(&at["active"])), (999, 2_330_443_784));
    assert_eq!(live(&path, &["--at", "peak-of:backward"]).0, 2_330_443_784);
    let report = json(["report", &path, "--at", "peak-of:iteration:1", "--format", "json"]);
    assert!(report.to_string().contains("999"), "the report is about that moment");
}

#[test]
fn a_range_that_is_not_there_is_refused_with_a_hint() {
    let path = sample("annotated.pickle");
    let path = path.to_string_lossy();
    for command in ["live", "report"] {
        let output = run([command, &path, "--at", "peak-of:nothing"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(
            errors.contains("no event lies in \"nothing\"") && errors.contains("--iterations"),
            "{errors}"
        );
    }
    let output = run(["live", &path, "--at", "peak-of:phase:sideways"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("forward, backward"));
    let output = run(["stats", &path, "--at", "peak-of:nothing"]);
    assert!(output.status.success(), "the other figures are there");
    assert!(String::from_utf8_lossy(&output.stderr).contains("device 0: no event lies in \"nothing\""));
}

#[test]
fn tables_are_added_to_text_where_they_are_asked_for() {
    let path = sample("gpt_oom_forward.pickle");
    let path = path.to_string_lossy();
    let plain = stdout(["stats", &path]);
    let full = stdout(["stats", &path, "--modules", "--iterations", "--at", "oom"]);
    assert!(!plain.contains("modules") && !plain.contains("left behind"));
    assert!(full.starts_with(&plain), "tables come last");
    for line in [
        "  moment       ",
        "  modules      after event 1,988,",
        "  model.py forward (train.py:85)",
        "    model.py forward ×",
        "  module not known",
        "  iterations   left behind:",
        "forward 1,750–1,988",
    ] {
        assert!(full.contains(line), "{line:?} is missing in {full}");
    }
}

#[test]
fn a_picture_shows_a_range_by_its_name() {
    let path = sample("annotated.pickle");
    let path = path.to_string_lossy();
    let picture = |range: &str| {
        let args = ["render", &path, "--size", "400x300", "--range", range, "-o", "-"];
        let output = support::run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let iteration = &records(&[&path])[0]["iterations"][1];
    let by_number = format!("{}..{}", iteration["first_event"], iteration["last_event"]);
    assert_eq!(picture("iteration:1"), picture(&by_number));
    assert_ne!(picture("iteration:1"), picture("iteration:2"));
}
