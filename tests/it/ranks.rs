//! The ranks of a job through the program.

use crate::reports::golden;
use crate::support::{json, run, sample, stdout};
use serde_json::Value;
use std::time::{Duration, Instant};

fn folder() -> String {
    sample("ranks").to_string_lossy().into_owned()
}

#[test]
fn a_job_of_eight_ranks_reads_as_it_should() {
    let found = stdout(["ranks", &folder()]);
    assert_eq!(found, golden("ranks.txt", &found));
}

#[test]
fn every_peak_is_that_of_the_allocators_own_counters() {
    let truth = std::fs::read_to_string(sample("ranks/truth.json")).expect("the truth is beside the files");
    let truth: Vec<Value> = serde_json::from_str(&truth).expect("the truth is JSON");
    let found = json(["ranks", &folder(), "--format", "json"]);
    assert_eq!((found["schema"].as_str(), found["version"].as_i64()), (Some("oomscope-ranks"), Some(3)));
    let files = found["files"].as_array().expect("an array");
    assert_eq!(files.len(), truth.len());
    for (file, truth) in files.iter().zip(&truth) {
        let device = &file["devices"][0];
        assert_eq!(file["rank"], truth["rank"]);
        assert_eq!(device["events"], truth["events"]);
        assert_eq!(device["peak_active"], truth["requested_peak_bytes"]);
        assert_eq!(device["peak_reserved"], truth["reserved_peak_bytes"]);
        assert_eq!(device["oom"]["requested"], truth["oom_requested_bytes"]);
    }
}

#[test]
fn the_outlier_is_the_rank_that_failed_and_its_lines_add_up() {
    let found = json(["ranks", &folder(), "--format", "json"]);
    let apart = found["apart"].as_array().expect("an array");
    assert_eq!(apart.len(), 1, "{apart:?}");
    assert_eq!((&apart[0]["rank"], &found["first_failure"]["rank"]), (&Value::from(3), &Value::from(3)));
    let sum: i64 = apart[0]["lines"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|line| line["bytes"].as_i64().unwrap_or(0) - line["median_bytes"].as_i64().unwrap_or(0))
        .sum();
    assert_eq!(apart[0]["difference"], sum);
}

#[test]
fn the_figures_of_each_rank_are_those_of_its_own_statistics() {
    let found = json(["ranks", &folder(), "--format", "json"]);
    for file in found["files"].as_array().expect("an array") {
        let path = sample("ranks").join(file["file"].as_str().expect("a name"));
        let stats = json(["stats", &path.to_string_lossy(), "--format", "json"]);
        let device = &file["devices"][0];
        assert_eq!(device["peak_active"], stats[0]["peak"]["active"]);
        assert_eq!(device["peak_event"], stats[0]["peak"]["active_index"]);
        assert_eq!(device["peak_categories"], stats[0]["categories"]["peak"]);
        assert_eq!(device["peak_place"], stats[0]["structure"]["peak"]);
        let iterations = device["iterations"].as_array().expect("an array").iter();
        let found: Vec<&Value> = iterations.map(|iteration| &iteration["peak_active"]).collect();
        let rows = stats[0]["iterations"].as_array().expect("an array").iter();
        assert_eq!(found, rows.map(|row| &row["peak"]["bytes"]).collect::<Vec<_>>());
    }
}

#[test]
fn programs_that_share_a_gpu_add_up_by_the_clock() {
    let path = |rank: u32| {
        sample(&format!("ranks/rank{rank}_memory_snapshot.pickle.gz")).to_string_lossy().into_owned()
    };
    let found = json(["ranks", "--one-gpu", "--format", "json", &path(0), &path(1)]);
    let together = &found["together"];
    let shares: Vec<i64> =
        together["shares"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    assert_eq!(shares.iter().sum::<i64>(), together["reserved"].as_i64().expect("a number"));
    // Neither is ever larger than its own peak, and both reach it while they wait for each other.
    let peaks: Vec<i64> =
        (0..2).filter_map(|at| found["files"][at]["devices"][0]["peak_reserved"].as_i64()).collect();
    assert_eq!(shares, peaks);
    let text = stdout(["ranks", "--one-gpu", &path(0), &path(1)]);
    assert!(text.contains("Together on one GPU: 3.64 GiB reserved at most, at 2026-"), "{text}");
    assert_eq!(json(["ranks", "--format", "json", &path(0), &path(1)])["together"], Value::Null);
}

#[test]
fn files_that_cannot_be_read_are_named_and_the_others_are_compared() {
    let readme = sample("README.md").to_string_lossy().into_owned();
    let rank = sample("ranks/rank0_memory_snapshot.pickle.gz").to_string_lossy().into_owned();
    let output = run(["ranks", &rank, &readme]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("2 files · 1 could not be read · peaks"), "{text}");
    assert!(text.contains("README.md: "), "{text}");

    let output = run(["ranks", &readme]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("none of the files could be read"));

    let empty = tempfile::tempdir().expect("a temporary folder");
    let output = run(["ranks".as_ref(), empty.path().as_os_str()]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no snapshots"));
}

#[test]
fn a_job_of_many_files_is_read_a_few_at_a_time() {
    let rank = sample("ranks/rank3_memory_snapshot.pickle.gz");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for number in 0..40 {
        let name = folder.path().join(format!("rank{number}.pickle.gz"));
        std::fs::copy(&rank, name).expect("the sample can be copied");
    }
    let start = Instant::now();
    let found = json(["ranks".as_ref(), folder.path().as_os_str(), "--format".as_ref(), "json".as_ref()]);
    assert_eq!(found["files"].as_array().map(Vec::len), Some(40));
    assert_eq!(found["apart"], Value::Array(Vec::new()));
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
}

#[test]
fn the_report_of_a_failed_rank_says_how_the_others_stood() {
    let failed = sample("ranks/rank3_memory_snapshot.pickle.gz").to_string_lossy().into_owned();
    let text = stdout(["report", "--no-remedies", "--ranks", &folder(), &failed]);
    for part in [
        "critical · uneven-ranks\n",
        "the median of 8 ranks (ddp.py:28)\n",
        "The request lacked 164 MiB, less than this rank has more than rank 4: ddp.py:28 forward",
        "Give each rank as much",
        "The other ranks\n",
        "Rank 3 is an outlier: 2.22 GiB more at its peak than rank 4, the median",
        "First failure: rank 3, 640 MiB requested at event 1,702",
        "rank 0: 2.05 GiB reserved, ≈ 2.00 GiB free",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    // The file itself need not be named among the others.
    let other = sample("ranks/rank0_memory_snapshot.pickle.gz").to_string_lossy().into_owned();
    let report = json(["report", "--no-remedies", "--format", "json", "--ranks", &other, &failed]);
    assert_eq!(report["ranks"][0].as_str().map(|text| text.starts_with("2 files")), Some(true), "{report}");
    assert_eq!(
        json(["report", "--no-remedies", "--format", "json", &failed])["ranks"],
        serde_json::json!([])
    );
}

#[test]
fn a_page_of_ranks_needs_nothing_else_and_escapes_names() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, rank) in [
        ("rank0 <script>alert(1)</script>.pickle.gz", 0),
        ("rank1 &\"'.pickle.gz", 1),
        ("rank3.pickle.gz", 3),
    ] {
        let sample = sample(&format!("ranks/rank{rank}_memory_snapshot.pickle.gz"));
        std::fs::copy(sample, folder.path().join(name.replace('/', "_"))).expect("the sample can be copied");
    }
    let page = stdout(["ranks".as_ref(), folder.path().as_os_str(), "--format".as_ref(), "html".as_ref()]);
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    assert!(!page.contains("<script>alert"), "a name became markup");
    assert!(page.contains("rank0 &lt;script&gt;alert(1)"));
    assert!(page.contains("Rank 3 is an outlier: 2.22 GiB more at its peak"));
    // Five iterations of three ranks, and a mark for the one that failed.
    assert_eq!(page.matches("class=\"heat\"").count(), 15);
    assert_eq!(page.matches("class=\"failed\"").count(), 1);
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn the_ranks_for_a_ticket_read_as_they_should() {
    let found = stdout(["ranks", &folder(), "--format", "markdown"]);
    assert_eq!(found, golden("ranks.md", &found));
}

/// The rows of a table of the eight ranks.
fn rows(table: &str) -> Vec<Value> {
    let text = stdout(["ranks", &folder(), "--format", "jsonl", "--table", table]);
    text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}

#[test]
fn tables_have_the_figures_of_the_comparison() {
    let found = json(["ranks", &folder(), "--format", "json"]);
    let (ranks, iterations, lines) = (rows("ranks"), rows("iterations"), rows("lines"));
    assert_eq!(ranks.len(), 8);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    for (file, row) in found["files"].as_array().expect("an array").iter().zip(&ranks) {
        let device = &file["devices"][0];
        for (column, value) in [
            ("rank", &file["rank"]),
            ("peak_active_bytes", &device["peak_active"]),
            ("peak_event", &device["peak_event"]),
            ("peak_reserved_bytes", &device["peak_reserved"]),
            ("phase", &device["peak_place"]["phase"]),
            ("iteration", &device["peak_place"]["iteration"]),
            ("oom_requested_bytes", &device["oom"]["requested"]),
            ("oom_time_us", &device["oom"]["time_us"]),
            ("verdict", &device["verdict"]),
            ("verdict_title", &device["verdict_title"]),
            ("start_time_us", &device["time_us"][0]),
        ] {
            assert_eq!(&row[column], value, "{column}");
        }
        for (category, bytes) in device["peak_categories"].as_object().expect("an object") {
            assert_eq!(&row[format!("{category}_bytes")], bytes);
        }
        let mine = |rows: &[Value], column: &str| -> Vec<i64> {
            let of_file = rows.iter().filter(|part| part["file"] == row["file"]);
            of_file.map(|part| number(&part[column])).collect()
        };
        assert_eq!(mine(&lines, "bytes").iter().sum::<i64>(), number(&row["peak_active_bytes"]));
        let peaks = device["iterations"].as_array().expect("an array").iter();
        let peaks: Vec<i64> = peaks.map(|iteration| number(&iteration["peak_active"])).collect();
        assert_eq!(mine(&iterations, "peak_active_bytes"), peaks);
    }
}

#[test]
fn a_folder_gets_all_tables_of_a_job_and_files_that_cannot_be_read_are_rows() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let tables = out.path().join("job=1/node=0");
    let readme = sample("README.md").to_string_lossy().into_owned();
    let rank = sample("ranks/rank0_memory_snapshot.pickle.gz").to_string_lossy().into_owned();
    let output = run(["ranks", &rank, &readme, "--format", "csv", "-o", &tables.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1), "one file could not be read");
    let mut names: Vec<String> = std::fs::read_dir(&tables)
        .expect("the folder was made")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["iterations.csv", "lines.csv", "ranks.csv"]);
    let mut csv = csv::Reader::from_path(tables.join("ranks.csv")).expect("a table");
    let errors: Vec<bool> =
        csv.records().map(|row| !row.expect("a row").iter().next_back().unwrap_or("").is_empty()).collect();
    assert_eq!(errors, [false, true]);
}

#[test]
fn tables_refuse_what_they_have_no_place_for() {
    for (args, message) in [
        (&["--format", "csv"][..], "several tables do not fit into one output"),
        (&["--format", "csv", "--table", "ranks", "--one-gpu"], "--one-gpu has no place in tables"),
        (&["--table", "ranks"], "--table needs a format of tables"),
    ] {
        let output = run([&["ranks", &folder()], args].concat());
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(message), "{error}");
    }
}
